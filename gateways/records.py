"""The frozen records that gateways return. No logic."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Page(Generic[Record]):
    """One page of a list. `resource_version` is the whole list's; `restarted` marks the first page after a 410 made
    the list start again: what earlier pages told no longer belongs to it. `malformed` holds a sentence per object
    that could not be read. `is_last` closes the list."""

    records: tuple[Record, ...]
    malformed: tuple[str, ...]
    resource_version: int
    restarted: bool
    is_last: bool


@dataclass(frozen=True, slots=True)
class ObjectVersion:
    """One object of a metadata-only list."""

    uid: str
    namespace: str
    name: str
    resource_version: int


@dataclass(frozen=True, slots=True)
class Change(Generic[Record]):
    """One watch event. `record` is None for a bookmark, and for an object that could not be read (`malformed` says
    why). `deleted`: the object is gone, `record` is its last state."""

    record: Record | None
    deleted: bool
    resource_version: int
    malformed: str = ""


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A node. `healthy`: Ready, schedulable and not marked unhealthy by HyperPod. `allocatable` in smallest units."""

    name: str
    instance_type: str
    healthy: bool
    allocatable: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """One line of the visibility API; positions count from 0."""

    namespace: str
    name: str
    local_queue: str
    priority: int
    in_cluster_queue: int
    in_local_queue: int
