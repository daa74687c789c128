"""Who waits in a ClusterQueue, and in which order; the same lines that Kueue's visibility API lists."""

from collections.abc import Iterable
from datetime import UTC, datetime

from scheduling import names
from scheduling.messages import is_pending_preemption
from scheduling.objects import ClusterQueue, LocalQueue, Workload

OrderKey = tuple[int, datetime, str]

_TIME_OF_EVICTION_COUNTS = (names.ADMISSION_CHECK, names.PODS_READY_TIMEOUT)
_NEVER = datetime.max.replace(tzinfo=UTC)


def queue_time(workload: Workload) -> datetime:
    """When its turn in the queue began: at creation, or again when an admission check or the wait for ready pods
    evicted it (Kueue's default; it can be set to keep the creation time in the second case)."""
    evicted = workload.conditions.get(names.EVICTED)
    if evicted is not None and evicted.status and evicted.reason in _TIME_OF_EVICTION_COUNTS and evicted.since:
        return evicted.since
    return workload.created_at or _NEVER


def order_key(workload: Workload) -> OrderKey:
    """Sorts workloads of one queue: higher effective priority, then earlier queue time, then uid."""
    return (-workload.effective_priority, queue_time(workload), workload.uid)


def is_queued(workload: Workload) -> bool:
    """Whether it waits, as far as the workload itself tells: not finished, active, without quota, neither gated nor on
    hold, and not in the back-off that follows some evictions (Kueue removes `requeueAt` when that ends)."""
    if not workload.active or workload.is_gated or workload.requeue_at is not None:
        return False
    reserved = workload.conditions.get(names.QUOTA_RESERVED)
    if reserved is not None and (reserved.status or reserved.reason == names.ON_HOLD):
        return False
    return not workload.is_finished and not workload.is_true(names.WAITING_FOR_REPLACEMENT_PODS)


def queue_orders(
    cluster_queues: Iterable[ClusterQueue], local_queues: Iterable[LocalQueue], workloads: Iterable[Workload]
) -> dict[str, list[Workload]]:
    """Per ClusterQueue the waiting workloads in order, those included that Kueue has set aside as inadmissible.

    A stopped LocalQueue holds none; a stopped ClusterQueue keeps its own. Under admission fair sharing Kueue orders by
    the LocalQueues' past usage first, which no object tells: ask the visibility API there.
    """
    strategies = {q.name: q.strategy for q in cluster_queues}
    feeds = {(q.namespace, q.name): q.cluster_queue for q in local_queues if q.stop_policy == names.STOP_NONE}
    waiting: dict[str, list[Workload]] = {name: [] for name in strategies}
    for workload in workloads:
        queue = feeds.get((workload.namespace, workload.queue_name))
        if queue in waiting and is_queued(workload):
            waiting[queue].append(workload)
    return {name: in_order(queued, strategies[name]) for name, queued in waiting.items()}


def in_order(workloads: Iterable[Workload], strategy: str) -> list[Workload]:
    """The waiting workloads of one queue in order. With BestEffortFIFO the one whose victims are being stopped stays
    at the head whoever arrives meanwhile. Kueue may keep it there even when others took what its victims gave back,
    which no object tells."""
    ordered = sorted(workloads, key=order_key)
    if strategy == names.BEST_EFFORT_FIFO:
        first = next(filter(is_preempting, ordered), None)  # Kueue keeps one such workload per queue
        ordered.sort(key=lambda w: w is not first)
    return ordered


def is_preempting(workload: Workload) -> bool:
    """Whether its victims are being stopped."""
    reserved = workload.conditions.get(names.QUOTA_RESERVED)
    return reserved is not None and not reserved.status and is_pending_preemption(reserved.message)


def cycle_key(workload: Workload, borrowing: int) -> tuple[int, int, datetime]:
    """Sorts the heads of several queues within one scheduling cycle, without Fair Sharing: the nearer to its own quota
    (`borrowing`, the height of the smallest subtree that holds it), then higher priority, then earlier queue time."""
    return (borrowing, -workload.effective_priority, queue_time(workload))
