"""What one look at a workload says: the columns to store and the quota it holds. Pure."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeAlias

from jobs.rules.lost_work import Work
from jobs.states import HOLDING, OVER, JobState, state_of
from scheduling import names
from scheduling.accounting import workload_usage
from scheduling.evictions import eviction_reason
from scheduling.objects import Condition, Workload
from scheduling.parsing import pod_requests
from scheduling.quantities import saturate
from scheduling.queue_order import is_preempting, is_queued, queue_time
from scheduling.reading import mapping

Key: TypeAlias = tuple[str, str]
"""(flavor, resource)"""

_LONGEST_TEXT = 253
_WORK_OF_KIND = {
    **dict.fromkeys(names.ENDPOINT_KINDS, Work.ENDPOINT.value),
    **dict.fromkeys(names.SPACE_KINDS, Work.SPACE.value),
}

COLUMNS = (
    "cluster_id", "uid", "namespace", "name", "resource_version", "created_at", "queue_name", "queued_at", "is_queued",
    "is_preempting", "priority", "priority_class", "owner_kind", "owner_name", "owner_uid", "job_uid", "state", "since",
    "gpus", "labels", "pod_sets", "conditions", "status", "finished_at", "first_seen_at", "gone_after", "gone_before",
    "gone_version",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hold:
    """Quota held in `cluster_queue` since `reserved_at`; amounts in smallest units."""

    cluster_queue: str
    reserved_at: datetime
    admitted_at: datetime | None
    evicted_at: datetime | None
    amounts: dict[Key, int]


def row_of(workload: Workload, cluster_id: int, now: datetime) -> tuple[Any, ...]:
    """Values for COLUMNS. Raises scheduling.quantities.BadQuantity if a pod's requests cannot be read."""
    owner, state = workload.owner, state_of(workload)
    pod_sets = [_pod_set(workload, index) for index in range(len(workload.pod_sets))]
    return (
        cluster_id,
        workload.uid,
        workload.namespace,
        workload.name,
        workload.resource_version,
        workload.created_at or now,
        workload.queue_name,
        queue_time(workload),
        is_queued(workload),
        is_preempting(workload),
        workload.effective_priority,
        workload.priority_class,
        owner.kind if owner else "",
        owner.name if owner else "",
        owner.uid if owner else "",
        workload.job_uid,
        state.value,
        _since(workload, state),
        saturate(sum(map(_accelerators, pod_sets))),
        workload.labels,
        pod_sets,
        {kind: _condition(condition) for kind, condition in workload.conditions.items()},
        _status(workload),
        workload.since(names.FINISHED) if workload.is_finished else None,
        now,
        None,
        None,
        None,
    )


def requested_gpus(workload: Workload) -> int:
    """Accelerators that all its pods ask for."""
    return saturate(sum(_accelerators(_pod_set(workload, index)) for index in range(len(workload.pod_sets))))


def _pod_set(workload: Workload, index: int) -> dict[str, Any]:
    pod_set = workload.pod_sets[index]
    requests = pod_requests(pod_set.template)
    return {"name": pod_set.name, "count": pod_set.count, "min_count": pod_set.min_count, "requests": requests}


def _accelerators(pod_set: dict[str, Any]) -> int:
    of_one: int = sum(amount for resource, amount in pod_set["requests"].items() if names.is_accelerator(resource))
    return int(pod_set["count"]) * of_one


def _since(workload: Workload, state: JobState) -> datetime | None:
    """When it ended, took its quota, or began to wait: at creation, or again when it lost its quota."""
    if state in OVER:
        return workload.since(names.FINISHED)
    if state in HOLDING or workload.is_true(names.EVICTED):
        return workload.since(names.QUOTA_RESERVED)
    return workload.created_at


def _condition(condition: Condition) -> dict[str, Any]:
    since = condition.since.isoformat() if condition.since else None
    return {"status": condition.status, "reason": condition.reason, "message": condition.message, "since": since}


def _status(workload: Workload) -> dict[str, Any]:
    admission = workload.admission
    status: dict[str, Any] = {
        "cluster_queue": admission.cluster_queue if admission else "",
        "assignments": [
            {"name": a.name, "count": a.count, "flavors": a.flavors, "usage": a.usage}
            for a in (admission.pod_sets if admission else ())
        ],
        "pending_requests": workload.pending_requests,
        "evictions": [[e.reason, e.cause, e.count] for e in workload.evictions],
        "accumulated_seconds": workload.accumulated_seconds,
        "checks": [[c.name, c.state, c.message] for c in workload.checks],
        "reclaimable": workload.reclaimable,
        "requeue_count": workload.requeue_count,
        "requeue_at": workload.requeue_at.isoformat() if workload.requeue_at else None,
        "deactivated": not workload.active,
        "checkpoint_interval": checkpoint_interval(workload),
        "submitted_by": submitted_by(workload),
        "last_checkpoint": workload.last_checkpoint[:_LONGEST_TEXT],
        "work": work_of(workload),
    }
    return {name: value for name, value in status.items() if value not in ("", [], {}, 0, None)}


def checkpoint_interval(workload: Workload) -> str:
    """As somebody wrote it on a pod template, however long; empty if nobody did."""
    return _annotation(workload, names.CHECKPOINT_INTERVAL_ANNOTATION)


def submitted_by(workload: Workload) -> str:
    """Whom the pod templates name as the person behind the job; empty if none does."""
    return _annotation(workload, names.SUBMITTED_BY_ANNOTATION)


def _annotation(workload: Workload, name: str) -> str:
    annotations = (mapping(pod_set.template.get("metadata") or {}, "annotations") for pod_set in workload.pod_sets)
    return next((str(each[name])[:_LONGEST_TEXT] for each in annotations if each.get(name)), "")


def work_of(workload: Workload) -> str:
    """What kind of work it is, where it is not training; empty for that."""
    kind = workload.owner.kind if workload.owner else ""
    return _WORK_OF_KIND.get(kind, "")


def hold_of(workload: Workload) -> Hold | None:
    """The quota it holds now."""
    return _hold(workload) if workload.holds_quota else None


def past_hold_of(workload: Workload) -> Hold | None:
    """The hold with which a finished workload ended: Kueue leaves its admission in place. With all its pods: in the
    end every one of them is reclaimable, which says nothing of what they held while they ran."""
    if not workload.is_finished or not workload.is_true(names.QUOTA_RESERVED):
        return None
    return _hold(replace(workload, reclaimable={}))


def _hold(workload: Workload) -> Hold | None:
    reserved_at = workload.since(names.QUOTA_RESERVED)
    if workload.admission is None or reserved_at is None:
        return None
    amounts = {key: saturate(amount) for key, amount in workload_usage(workload).items()}
    return Hold(
        workload.admission.cluster_queue,
        reserved_at,
        workload.since(names.ADMITTED) if workload.is_true(names.ADMITTED) else None,
        workload.since(names.EVICTED) if workload.is_true(names.EVICTED) else None,
        amounts,
    )


def released_at(workload: Workload, reserved_at: datetime) -> datetime | None:
    """When the hold that began at `reserved_at` ended, as far as this look tells exactly. What is switched off holds
    nothing from its eviction on, though its quota is said to be reserved until its pods have stopped."""
    if workload.is_finished:
        ends = [workload.since(names.FINISHED)]
    else:
        is_reserved = workload.is_true(names.QUOTA_RESERVED)
        ends = [None if is_reserved else workload.since(names.QUOTA_RESERVED)]
        if is_reserved or _is_switched_off(workload):
            ends.append(workload.since(names.EVICTED) if workload.is_true(names.EVICTED) else None)
    return min((end for end in ends if end and end >= reserved_at), default=None)


def _is_switched_off(workload: Workload) -> bool:
    condition = workload.conditions.get(names.EVICTED)
    told = eviction_reason(condition.reason) if condition else None
    return told is not None and told.reason == names.DEACTIVATED
