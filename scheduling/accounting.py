"""What workloads use, what they ask for, and who of them runs on own and who on borrowed quota.

All amounts are integers of the resource's smallest unit, keyed by (flavor, resource).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from scheduling import names
from scheduling.objects import FlavorResource, PodSet, PodSetAssignment, Workload
from scheduling.parsing import pod_requests
from scheduling.quantities import add, saturate

Amounts = dict[FlavorResource, int]


def workload_usage(workload: Workload) -> Amounts:
    """The quota its admission takes, less what its reclaimable pods gave back; empty without an admission.

    Whether it counts at all is `Workload.holds_quota`.
    """
    usage: Amounts = {}
    for assignment in workload.admission.pod_sets if workload.admission else ():
        scaled = _scaled_usage(workload, assignment)
        _accumulate(usage, {(f, r): scaled[r] for r, f in assignment.flavors.items() if r in scaled})
    return usage


def _scaled_usage(workload: Workload, assignment: PodSetAssignment) -> Mapping[str, int]:
    left = next((pods_left(workload, p) for p in workload.pod_sets if p.name == assignment.name), 0)
    if left >= assignment.count:  # more pods in the spec than admitted: partial admission keeps the admitted count
        return assignment.usage
    return {r: saturate(_truncated(amount, assignment.count) * left) for r, amount in assignment.usage.items()}


def pods_left(workload: Workload, pod_set: PodSet) -> int:
    """The pods of a pod set that still need quota."""
    return max(0, pod_set.count - workload.reclaimable.get(pod_set.name, 0))


def _truncated(amount: int, divisor: int) -> int:
    """Division toward zero: Kueue divides before it multiplies, so the remainder is lost."""
    return amount // divisor if amount >= 0 else -(-amount // divisor)


def reserved_by_queue(workloads: Iterable[Workload]) -> tuple[dict[str, Amounts], dict[str, Amounts]]:
    """Per ClusterQueue what is reserved, and of that what is used by admitted workloads."""
    usage: dict[str, Amounts] = defaultdict(dict)
    only_reserved: dict[str, Amounts] = defaultdict(dict)
    for workload in workloads:
        if workload.admission is not None and workload.holds_quota:
            by_queue = usage if workload.is_true(names.ADMITTED) else only_reserved
            _accumulate(by_queue[workload.admission.cluster_queue], workload_usage(workload))
    reservation = {queue: dict(amounts) for queue, amounts in usage.items()}
    for queue, amounts in only_reserved.items():
        _accumulate(reservation.setdefault(queue, {}), amounts)
    return reservation, dict(usage)


def _accumulate(total: Amounts, amounts: Mapping[FlavorResource, int]) -> None:
    for key, amount in amounts.items():
        total[key] = add(total[key], amount) if key in total else amount


def requested(workload: Workload) -> dict[str, dict[str, int]]:
    """What each pod set asks for in all, by resource; reclaimable pods no longer ask.

    Kueue's own figures (`status.resourceRequests`, after limit ranges, overhead and transformations) where it has
    already written them, else the pod template's. Raises BadQuantity.
    """
    return {each.name: _pod_set_requests(workload, each) for each in workload.pod_sets}


def _pod_set_requests(workload: Workload, pod_set: PodSet) -> dict[str, int]:
    known = workload.pending_requests.get(pod_set.name)
    if known is not None:
        return {resource: max(0, amount) for resource, amount in known.items()}
    count = pods_left(workload, pod_set)
    return {resource: saturate(max(0, each) * count) for resource, each in pod_requests(pod_set.template).items()}


@dataclass(frozen=True, slots=True)
class Hold:
    """One workload's hold of one (flavor, resource) of one ClusterQueue."""

    uid: str
    reserved_at: datetime
    amount: int


@dataclass(frozen=True, slots=True)
class Split:
    own: int
    borrowed: int


def split_own_and_borrowed(holds: Iterable[Hold], nominal: int, in_cohort: bool) -> dict[str, Split]:
    """Per uid how much of its hold is the queue's own quota and how much is borrowed.

    Holds fill the nominal quota in order of (reserved_at, uid); one can be partly own and partly borrowed. Outside a
    cohort nothing is borrowed, whatever exceeds the quota. It says who is charged, not who would be evicted.
    """
    left = max(0, nominal)
    splits: dict[str, Split] = {}
    for hold in sorted(holds, key=lambda h: (h.reserved_at, h.uid)):
        own = min(hold.amount, left) if in_cohort else hold.amount
        left -= max(0, own)
        splits[hold.uid] = Split(own, hold.amount - own)
    return splits
