"""The status of a Workload after each thing that Kueue or a job controller does to it, condition by condition.

Every function takes the stored object and returns the new status; nothing is written here.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from emulator.kueue.conditions import find, with_condition
from scheduling import names
from scheduling.objects import Admission
from scheduling.parsing import parse_time
from scheduling.preemption_messages import previously
from scheduling.quantities import format_quantity

Json = Mapping[str, Any]
Status = dict[str, Any]

_NO_RESERVATION: Final = "The workload has no reservation"
_PODS_STARTED: Final = "All pods reached readiness and the workload is running"
_PODS_AWAITED: Final = "Not all pods are ready or succeeded"


def admitted(workload: Json, admission: Admission, now: datetime) -> Status:
    """Quota reserved and, without admission checks, admitted in the same write; a past eviction is told as past."""
    status = _reset(workload, names.EVICTED, names.PREEMPTED, now=now)
    status.pop("resourceRequests", None)
    status["admission"] = _admission(admission)
    _set(workload, status, now, names.QUOTA_RESERVED, True, names.QUOTA_RESERVED, _reserved_in(admission.cluster_queue))
    _set(workload, status, now, names.ADMITTED, True, names.ADMITTED, "The workload is admitted")
    return status


def pending(
    workload: Json,
    reason: str,
    message: str,
    now: datetime,
    requests: Mapping[str, Mapping[str, int]] | None = None,
) -> Status:
    """Why it has no quota; `requests` is what Kueue counts for each pod set, if it got that far."""
    status = _status(workload)
    status.pop("admission", None)
    _set(workload, status, now, names.QUOTA_RESERVED, False, reason, message)
    _lose_admission(workload, status, now)
    if requests is not None:
        status["resourceRequests"] = [
            {"name": pod_set, "resources": {r: format_quantity(amount, r) for r, amount in sorted(asked.items())}}
            for pod_set, asked in requests.items()
        ]
    return status


def evicted(workload: Json, reason: str, message: str, now: datetime, *, preempted: str = "") -> Status:
    """The decision to evict: the quota stays held until the pods have stopped. `preempted` is Preempted's reason."""
    status = _status(workload)
    if preempted:
        status["conditions"] = with_condition(_conditions(status), names.PREEMPTED, True, preempted, message, now)
    _set(workload, status, now, names.EVICTED, True, reason, message)
    status["schedulingStats"] = {"evictions": _counted(status, reason)}
    if status.get("admissionChecks"):
        status["admissionChecks"] = [{**check, "state": "Pending"} for check in status["admissionChecks"]]
    return status


def released(workload: Json, now: datetime) -> Status:
    """The pods have stopped: the quota is given back, and what preempted workloads lost may be asked for again."""
    status = _status(workload)
    eviction = find(_conditions(status), names.EVICTED)
    if eviction is None:
        raise ValueError("only an evicted workload gives its quota back")
    reason, message = eviction["reason"], eviction["message"]
    _set(workload, status, now, names.REQUEUED, reason == names.PREEMPTED, reason, message)
    status.pop("admission", None)
    _set(workload, status, now, names.QUOTA_RESERVED, False, names.PENDING, message)
    _lose_admission(workload, status, now)
    return status


def requeued(workload: Json, reason: str, message: str, now: datetime) -> Status:
    """It may be queued again."""
    status = _status(workload)
    _set(workload, status, now, names.REQUEUED, True, reason, message)
    return status


def pods_ready(workload: Json, ready: bool, now: datetime) -> Status:
    status = _status(workload)
    reason, message = ("Started", _PODS_STARTED) if ready else ("WaitForStart", _PODS_AWAITED)
    _set(workload, status, now, names.PODS_READY, ready, reason, message)
    return status


def finished(workload: Json, reason: str, message: str, now: datetime) -> Status:
    """Done; admission and conditions stay as they were, the quota no longer counts."""
    status = _status(workload)
    _set(workload, status, now, names.FINISHED, True, reason, message)
    return status


def _status(workload: Json) -> Status:
    return dict(workload.get("status") or {})


def _conditions(status: Json) -> list[Json]:
    return list(status.get("conditions") or ())


def _set(workload: Json, status: Status, now: datetime, kind: str, value: bool, reason: str, message: str) -> None:
    generation = workload["metadata"]["generation"]
    status["conditions"] = with_condition(_conditions(status), kind, value, reason, message, now, generation)


def _reset(workload: Json, *kinds: str, now: datetime) -> Status:
    status = _status(workload)
    for kind in kinds:
        condition = find(_conditions(status), kind)
        if condition is not None and condition["status"] == "True":
            _set(workload, status, now, kind, False, names.QUOTA_RESERVED, previously(condition["message"]))
    return status


def _lose_admission(workload: Json, status: Status, now: datetime) -> None:
    """Admitted turns False, and the time it was True is added up, in whole seconds."""
    condition = find(_conditions(status), names.ADMITTED)
    if condition is None or condition["status"] != "True":
        return
    since = parse_time(condition["lastTransitionTime"]) or now
    past = int(status.get("accumulatedPastExecutionTimeSeconds") or 0)
    status["accumulatedPastExecutionTimeSeconds"] = past + int((now - since).total_seconds())
    _set(workload, status, now, names.ADMITTED, False, "NoReservation", _NO_RESERVATION)


def _counted(status: Json, reason: str) -> list[Json]:
    counters = list((status.get("schedulingStats") or {}).get("evictions") or ())
    for place, counter in enumerate(counters):
        if counter["reason"] == reason:
            counters[place] = {**counter, "count": counter["count"] + 1}
            return counters
    return [*counters, {"reason": reason, "underlyingCause": "", "count": 1}]


def _reserved_in(cluster_queue: str) -> str:
    return f"Quota reserved in ClusterQueue {cluster_queue}"


def _admission(admission: Admission) -> Json:
    return {
        "clusterQueue": admission.cluster_queue,
        "podSetAssignments": [
            {
                "name": each.name,
                "flavors": dict(sorted(each.flavors.items())),
                "resourceUsage": {r: format_quantity(amount, r) for r, amount in sorted(each.usage.items())},
                "count": each.count,
            }
            for each in admission.pod_sets
        ],
    }
