"""Kueue's objects as frozen records, the same for either API version. `parsing` makes them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from scheduling import names

Json = Mapping[str, Any]
FlavorResource = tuple[str, str]
WEIGHT_ONE: Final = 1000  # a fair-share weight of 1, in thousandths


@dataclass(frozen=True, slots=True)
class Condition:
    """One entry of `status.conditions`; `status` is None for Unknown."""

    type: str
    status: bool | None
    reason: str
    message: str
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Quota:
    """One resource of one flavor, in the resource's smallest unit. A limit of None is no limit."""

    nominal: int
    borrowing_limit: int | None = None
    lending_limit: int | None = None


@dataclass(frozen=True, slots=True)
class FlavorQuotas:
    name: str
    resources: Mapping[str, Quota]


@dataclass(frozen=True, slots=True)
class ResourceGroup:
    """Resources that must come from one flavor together; flavors in the order Kueue tries them."""

    covered_resources: tuple[str, ...]
    flavors: tuple[FlavorQuotas, ...]


@dataclass(frozen=True, slots=True)
class Preemption:
    within_cluster_queue: str = names.NEVER
    reclaim_within_cohort: str = names.NEVER
    borrow_within_cohort: str = names.NEVER
    borrow_max_priority: int | None = None


@dataclass(frozen=True, slots=True)
class ReportedUsage:
    """What a queue's own status says of one (flavor, resource)."""

    total: int
    borrowed: int


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """A ClusterQueue's status: a second opinion, up to seconds old (Kueue batches it)."""

    reservation: Mapping[tuple[str, str], ReportedUsage]
    usage: Mapping[tuple[str, str], ReportedUsage]
    pending: int
    reserving: int
    admitted: int
    weighted_share: int | None


@dataclass(frozen=True, slots=True)
class ClusterQueue:
    """`cohort` is None outside any cohort; `fair_weight` in thousandths; `spec` in v1beta2 spelling."""

    name: str
    uid: str
    resource_version: int
    created_at: datetime | None
    deleted_at: datetime | None
    cohort: str | None
    groups: tuple[ResourceGroup, ...]
    strategy: str
    preemption: Preemption
    stop_policy: str
    fair_weight: int
    conditions: Mapping[str, Condition]
    status: QueueStatus
    spec: Json = field(repr=False, default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cohort:
    """A Cohort object: quota of its own on top of its members'. `parent` is None at a root."""

    name: str
    uid: str
    resource_version: int
    created_at: datetime | None
    parent: str | None
    groups: tuple[ResourceGroup, ...]
    fair_weight: int
    weighted_share: int | None
    spec: Json = field(repr=False, default_factory=dict)


@dataclass(frozen=True, slots=True)
class LocalQueue:
    namespace: str
    name: str
    uid: str
    resource_version: int
    created_at: datetime | None
    cluster_queue: str
    stop_policy: str
    conditions: Mapping[str, Condition]
    spec: Json = field(repr=False, default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResourceFlavor:
    name: str
    uid: str
    resource_version: int
    created_at: datetime | None
    node_labels: Mapping[str, str]
    topology: str
    spec: Json = field(repr=False, default_factory=dict)


@dataclass(frozen=True, slots=True)
class PriorityClass:
    """A WorkloadPriorityClass."""

    name: str
    uid: str
    resource_version: int
    created_at: datetime | None
    value: int
    description: str
    spec: Json = field(repr=False, default_factory=dict)


@dataclass(frozen=True, slots=True)
class AdmissionCheck:
    """A check that a controller must pass before a workload is admitted; whether it works stands in its conditions."""

    name: str
    uid: str
    resource_version: int
    created_at: datetime | None
    controller: str
    conditions: Mapping[str, Condition]
    spec: Json = field(repr=False, default_factory=dict)


@dataclass(frozen=True, slots=True)
class PodSet:
    """`template` is the raw pod template; `parsing.pod_requests` reads what one pod asks for."""

    name: str
    count: int
    min_count: int | None
    template: Json = field(repr=False)


@dataclass(frozen=True, slots=True)
class PodSetAssignment:
    """`usage` is of the whole pod set, for `count` pods."""

    name: str
    flavors: Mapping[str, str]
    usage: Mapping[str, int]
    count: int


@dataclass(frozen=True, slots=True)
class Admission:
    cluster_queue: str
    pod_sets: tuple[PodSetAssignment, ...]


@dataclass(frozen=True, slots=True)
class Owner:
    kind: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class Evictions:
    """One counter of `status.schedulingStats.evictions`; it only grows while the object lives."""

    reason: str
    cause: str
    count: int


@dataclass(frozen=True, slots=True)
class AdmissionCheckState:
    name: str
    state: str
    message: str


@dataclass(frozen=True, slots=True)
class Workload:
    """A Kueue Workload. Identity is the uid: names recur. `reclaimable` counts pods that gave quota back;
    `last_checkpoint` is when its job last saved its work, as somebody wrote it."""

    uid: str
    namespace: str
    name: str
    resource_version: int
    created_at: datetime | None
    deleted_at: datetime | None
    labels: Mapping[str, str]
    queue_name: str
    priority: int
    priority_boost: int
    priority_class: str
    active: bool
    owner: Owner | None
    pod_sets: tuple[PodSet, ...]
    conditions: Mapping[str, Condition]
    admission: Admission | None
    reclaimable: Mapping[str, int]
    pending_requests: Mapping[str, Mapping[str, int]]
    requeue_at: datetime | None
    requeue_count: int
    evictions: tuple[Evictions, ...]
    accumulated_seconds: int
    maximum_seconds: int | None
    checks: tuple[AdmissionCheckState, ...]
    is_gated: bool = False
    last_checkpoint: str = ""

    @property
    def key(self) -> str:
        """NAMESPACE/NAME."""
        return f"{self.namespace}/{self.name}"

    @property
    def effective_priority(self) -> int:
        return self.priority + self.priority_boost

    @property
    def job_uid(self) -> str:
        """uid of the job, from Kueue's label or else the owner; empty for a bare Workload."""
        return self.labels.get(names.JOB_UID_LABEL) or (self.owner.uid if self.owner else "")

    def is_true(self, condition: str) -> bool:
        found = self.conditions.get(condition)
        return found is not None and found.status is True

    def since(self, condition: str) -> datetime | None:
        """When the condition's status last flipped; None if it was never set."""
        found = self.conditions.get(condition)
        return found.since if found else None

    @property
    def is_finished(self) -> bool:
        return self.is_true(names.FINISHED)

    @property
    def holds_quota(self) -> bool:
        """Whether its usage counts: reserved, not finished, not deactivated. Evicted alone does not free quota."""
        return (
            self.admission is not None
            and self.active
            and self.is_true(names.QUOTA_RESERVED)
            and not self.is_true(names.FINISHED)
        )

    @property
    def is_admitted(self) -> bool:
        return self.holds_quota and self.is_true(names.ADMITTED)
