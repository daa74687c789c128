"""The stored objects of Kueue as the records that `scheduling` computes with, parsed once per version."""

import logging
from collections.abc import Callable
from typing import Generic, TypeVar

from emulator.resources import CLUSTER_QUEUES, COHORTS, FLAVORS, LOCAL_QUEUES, WORKLOADS, Resource
from emulator.store import Json, Key, Store
from scheduling.objects import ClusterQueue, Cohort, LocalQueue, ResourceFlavor, Workload
from scheduling.parsing import (
    MalformedObject,
    parse_cluster_queue,
    parse_cohort,
    parse_local_queue,
    parse_resource_flavor,
    parse_workload,
)

Record = TypeVar("Record")

_log = logging.getLogger(__name__)


class _Parsed(Generic[Record]):
    """The records of one resource. What cannot be read is logged once and left out."""

    def __init__(self, store: Store, resource: Resource, parse: Callable[[Json], Record]) -> None:
        self._store, self._resource, self._parse = store, resource, parse
        self._cache: dict[Key, tuple[Json, Record | None]] = {}
        self._version = -1

    def by_key(self) -> dict[Key, Record]:
        self._refresh()
        return {key: record for key, (_, record) in self._cache.items() if record is not None}

    def _refresh(self) -> None:
        if self._version == self._store.version:
            return
        self._version = self._store.version
        old, self._cache = self._cache, {}
        for obj in self._store.all(self._resource.storage):
            key = (obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
            known = old.get(key)
            self._cache[key] = known if known is not None and known[0] is obj else (obj, self._read(obj))

    def _read(self, obj: Json) -> Record | None:
        try:
            return self._parse(obj)
        except MalformedObject as error:
            _log.warning("left out: %s", error)
            return None


class Records:
    def __init__(self, store: Store) -> None:
        self._workloads = _Parsed(store, WORKLOADS, parse_workload)
        self._cluster_queues = _Parsed(store, CLUSTER_QUEUES, parse_cluster_queue)
        self._local_queues = _Parsed(store, LOCAL_QUEUES, parse_local_queue)
        self._cohorts = _Parsed(store, COHORTS, parse_cohort)
        self._flavors = _Parsed(store, FLAVORS, parse_resource_flavor)

    def workloads(self) -> dict[Key, Workload]:
        return self._workloads.by_key()

    def cluster_queues(self) -> dict[str, ClusterQueue]:
        return {name: record for (_, name), record in self._cluster_queues.by_key().items()}

    def local_queues(self) -> dict[Key, LocalQueue]:
        return self._local_queues.by_key()

    def cohorts(self) -> dict[str, Cohort]:
        return {name: record for (_, name), record in self._cohorts.by_key().items()}

    def flavors(self) -> dict[str, ResourceFlavor]:
        return {name: record for (_, name), record in self._flavors.by_key().items()}
