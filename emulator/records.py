"""The stored objects of Kueue as the records that `scheduling` computes with, parsed once per version."""

import logging
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from emulator.changes import Changes
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
from scheduling.queue_order import is_queued

Record = TypeVar("Record")

_log = logging.getLogger(__name__)


class _Parsed(Generic[Record]):
    """The records of one resource. What cannot be read is logged and left out."""

    def __init__(self, store: Store, resource: Resource, parse: Callable[[Json], Record]) -> None:
        self._store, self._resource, self._parse = store, resource, parse
        self._changes = Changes(store)
        self._records: dict[Key, Record] = {}

    def by_key(self) -> Mapping[Key, Record]:
        seen = self._changes.look()
        changed = seen.of(self._resource)
        if seen.everything:
            self._records.clear()
            changed = [
                (obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
                for obj in self._store.all(self._resource.storage)
            ]
            self._restarted()
        for key in changed:
            obj = self._store.get(self._resource.storage, *key)
            record = self._read(obj) if obj is not None else None
            if record is None:
                self._records.pop(key, None)
            else:
                self._records[key] = record
            self._changed(key, record)
        return self._records

    def _restarted(self) -> None:
        """For subclasses that keep an index."""

    def _changed(self, key: Key, record: Record | None) -> None:
        """For subclasses that keep an index."""

    def _read(self, obj: Json) -> Record | None:
        try:
            return self._parse(obj)
        except MalformedObject as error:
            _log.warning("left out: %s", error)
            return None


class _Workloads(_Parsed[Workload]):
    def __init__(self, store: Store) -> None:
        super().__init__(store, WORKLOADS, parse_workload)
        self.waiting: dict[Key, Workload] = {}
        self.holding: dict[Key, Workload] = {}

    def _restarted(self) -> None:
        self.waiting.clear()
        self.holding.clear()

    def _changed(self, key: Key, record: Workload | None) -> None:
        self.waiting.pop(key, None)
        self.holding.pop(key, None)
        if record is not None and record.holds_quota:
            self.holding[key] = record
        elif record is not None and is_queued(record):
            self.waiting[key] = record


class Records:
    """Every mapping is live: it must not be changed, and follows the store with the next call."""

    def __init__(self, store: Store) -> None:
        self._workloads = _Workloads(store)
        self._cluster_queues = _Parsed(store, CLUSTER_QUEUES, parse_cluster_queue)
        self._local_queues = _Parsed(store, LOCAL_QUEUES, parse_local_queue)
        self._cohorts = _Parsed(store, COHORTS, parse_cohort)
        self._flavors = _Parsed(store, FLAVORS, parse_resource_flavor)

    def workloads(self) -> Mapping[Key, Workload]:
        return self._workloads.by_key()

    def waiting(self) -> Mapping[Key, Workload]:
        """The workloads that stand in a queue."""
        self._workloads.by_key()
        return self._workloads.waiting

    def holding(self) -> Mapping[Key, Workload]:
        """The workloads that hold quota."""
        self._workloads.by_key()
        return self._workloads.holding

    def cluster_queues(self) -> dict[str, ClusterQueue]:
        return {name: record for (_, name), record in self._cluster_queues.by_key().items()}

    def local_queues(self) -> Mapping[Key, LocalQueue]:
        return self._local_queues.by_key()

    def cohorts(self) -> dict[str, Cohort]:
        return {name: record for (_, name), record in self._cohorts.by_key().items()}

    def flavors(self) -> dict[str, ResourceFlavor]:
        return {name: record for (_, name), record in self._flavors.by_key().items()}
