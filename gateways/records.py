"""The frozen records that gateways return. No logic."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from gateways.errors import GatewayError
from scheduling.objects import Owner

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class ObjectVersion:
    """One object of a metadata-only list."""

    uid: str
    namespace: str
    name: str
    resource_version: int


@dataclass(frozen=True, slots=True)
class Page(Generic[Record]):
    """One page of a list. `resource_version` is the whole list's; `restarted` marks the first page after a 410 made
    the list start again: what earlier pages told no longer belongs to it. `malformed` holds a sentence per object
    that could not be read; `unread` names those of them whose metadata could: they exist, so they are not absent.
    `is_last` closes the list."""

    records: tuple[Record, ...]
    malformed: tuple[str, ...]
    resource_version: int
    restarted: bool
    is_last: bool
    unread: tuple[ObjectVersion, ...] = ()


@dataclass(frozen=True, slots=True)
class Change(Generic[Record]):
    """One watch event. `record` is None for a bookmark, and for an object that could not be read (`malformed` says
    why). `deleted`: the object is gone, `record` is its last state."""

    record: Record | None
    deleted: bool
    resource_version: int
    malformed: str = ""


@dataclass(frozen=True, slots=True)
class Batch(Generic[Record]):
    """What a watch told within a moment: the newest change of each object, in order. All that happened up to
    `resource_version` has been told. An empty batch is a sign of life."""

    changes: tuple[Change[Record], ...]
    resource_version: int


@dataclass(frozen=True, slots=True)
class Relisted:
    """One page of a metadata-only list, told at an interval: compare it with what is stored and read what differs."""

    page: Page[ObjectVersion]


@dataclass(frozen=True, slots=True)
class Outage:
    """Reading failed; it is tried again. `since` (UTC) is when everything was last known; told at every attempt."""

    error: GatewayError
    since: datetime


@dataclass(frozen=True, slots=True)
class Recovered:
    """Reading works again after an Outage. `lossless`: the watch went on where it had stopped, every change was told.
    Otherwise what came and went since `since` was not seen."""

    since: datetime
    lossless: bool


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A node. `healthy`: Ready, schedulable and not marked unhealthy by HyperPod. `allocatable` in smallest units."""

    name: str
    instance_type: str
    healthy: bool
    allocatable: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class NamespaceRecord:
    name: str
    uid: str
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ContainerRecord:
    """One container of a pod. `state` is waiting, running, terminated or empty; `reason` and `message` say why it waits
    or how it ended, `exit_code` with what. `last_reason` and `last_exit_code` tell of the run before."""

    name: str
    image: str
    is_init: bool
    is_ready: bool
    restarts: int
    state: str = ""
    reason: str = ""
    message: str = ""
    exit_code: int | None = None
    last_reason: str = ""
    last_exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class PodRecord:
    """A pod. `workload` is the Workload that Kueue noted on it. `reason` and `message` are the pod's own, or say why it
    has no node. `node` is empty until it has one."""

    name: str
    uid: str
    owners: tuple[Owner, ...]
    labels: Mapping[str, str]
    workload: str
    created_at: datetime | None
    is_stopping: bool
    phase: str
    reason: str
    message: str
    node: str
    containers: tuple[ContainerRecord, ...]


@dataclass(frozen=True, slots=True)
class PodLook:
    """What the ledger keeps of a pod that Kueue let run. `workload` is the Workload that Kueue noted on it, empty where
    it noted none; `job_uids` are those of what it may belong to. `stop_at` is when it was told to stop, `ended_at` when
    its last container ended, None while unknown; `reason` and `exit_code` say why, as far as it tells."""

    uid: str
    namespace: str
    name: str
    resource_version: int
    workload: str
    job_uids: tuple[str, ...]
    node: str
    bound_at: datetime | None
    phase: str
    stop_at: datetime | None
    ended_at: datetime | None
    reason: str
    exit_code: int | None
    restarts: int


@dataclass(frozen=True, slots=True)
class EventRecord:
    """What a controller noted about an object, `count` times between `first_at` and `last_at`. `about` is the object's
    uid. Of a series (`is_series`) the message is the first one's: the others may have had another."""

    kind: str
    name: str
    is_warning: bool
    reason: str
    message: str
    reporter: str
    count: int
    first_at: datetime | None
    last_at: datetime | None
    uid: str = ""
    about: str = ""
    is_series: bool = False
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """One line of the visibility API; positions count from 0."""

    namespace: str
    name: str
    local_queue: str
    priority: int
    in_cluster_queue: int
    in_local_queue: int
