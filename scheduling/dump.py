"""The List that `kubectl get … -A -o json` prints, read into records."""

import gc
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from scheduling import names, parsing
from scheduling.objects import ClusterQueue, Cohort, Json, LocalQueue, PriorityClass, ResourceFlavor, Workload


class UnreadableDump(ValueError):
    """The text is not a list of Kubernetes objects; the message says why."""


@dataclass(slots=True)
class Dump:
    """The objects of a list by kind; other kinds are left out. `malformed` holds a sentence per object that could not
    be read."""

    cluster_queues: list[ClusterQueue] = field(default_factory=list)
    cohorts: list[Cohort] = field(default_factory=list)
    local_queues: list[LocalQueue] = field(default_factory=list)
    flavors: list[ResourceFlavor] = field(default_factory=list)
    priority_classes: list[PriorityClass] = field(default_factory=list)
    workloads: list[Workload] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)


def parse_dump(text: str | bytes) -> Dump:
    """The objects of a kubectl List, or of an API server's list of one kind. Raises UnreadableDump."""
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableDump(f"not JSON: {error}") from error
    return read_dump(listed)


def read_dump(listed: Any) -> Dump:
    """As `parse_dump`, of JSON that is parsed already. Raises UnreadableDump."""
    if not isinstance(listed, dict) or not isinstance(listed.get("items"), list):
        raise UnreadableDump("not a list: no items")
    dump = Dump()
    readers = _readers(dump)
    kind_of_all = str(listed.get("kind") or "").removesuffix("List")  # an API server's own list names it only here
    with _collector_paused():
        for item in listed["items"]:
            if not isinstance(item, dict):
                dump.malformed.append(f"an item is not an object but {type(item).__name__}")
                continue
            reader = readers.get(str(item.get("kind") or kind_of_all))
            if reader is not None and _is_kueues(item):
                reader(item)
    return dump


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Records make no cycles, but so many of them set the collector off to walk the whole JSON several times."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _is_kueues(item: Json) -> bool:
    version = item.get("apiVersion")
    return version is None or str(version).startswith(f"{names.KUEUE_GROUP}/")


def _readers(dump: Dump) -> dict[str, Callable[[Json], None]]:
    def into(records: list[Any], parse: Callable[[Json], Any]) -> Callable[[Json], None]:
        def read(item: Json) -> None:
            try:
                records.append(parse(item))
            except parsing.MalformedObject as error:
                dump.malformed.append(str(error))

        return read

    return {
        "ClusterQueue": into(dump.cluster_queues, parsing.parse_cluster_queue),
        "Cohort": into(dump.cohorts, parsing.parse_cohort),
        "LocalQueue": into(dump.local_queues, parsing.parse_local_queue),
        "ResourceFlavor": into(dump.flavors, parsing.parse_resource_flavor),
        "WorkloadPriorityClass": into(dump.priority_classes, parsing.parse_priority_class),
        "Workload": into(dump.workloads, parsing.parse_workload),
    }
