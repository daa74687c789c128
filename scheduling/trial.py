"""A snapshot in which workloads can be taken out and put back, to see what would fit."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from scheduling import names
from scheduling.accounting import reserved_by_queue, workload_usage
from scheduling.forest import Node, plant
from scheduling.objects import ClusterQueue, Cohort, FlavorResource, ResourceFlavor, Workload
from scheduling.quantities import subtract


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the scheduler sees at one instant. Of the workloads only those count that hold quota."""

    cluster_queues: tuple[ClusterQueue, ...]
    cohorts: tuple[Cohort, ...]
    flavors: tuple[ResourceFlavor, ...]
    workloads: tuple[Workload, ...]


@dataclass(frozen=True, slots=True)
class Holder:
    """A workload that holds quota of a queue."""

    workload: Workload
    queue: str
    usage: Mapping[FlavorResource, int]


class Trial:
    """The snapshot's trees and holders. What is taken out must be put back by who took it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.queues = {q.name: q for q in snapshot.cluster_queues}
        self.flavors = {f.name: f for f in snapshot.flavors}
        reservation, _ = reserved_by_queue(snapshot.workloads)
        self._nodes = plant(snapshot.cluster_queues, snapshot.cohorts, reservation).queues
        self._holders: dict[str, list[Holder]] = defaultdict(list)
        for workload in snapshot.workloads:
            if workload.admission is not None and workload.holds_quota:
                queue = workload.admission.cluster_queue
                self._holders[queue].append(Holder(workload, queue, workload_usage(workload)))

    def node(self, queue: str) -> Node:
        return self._nodes[queue]

    def holders(self, queue: str) -> list[Holder]:
        """Who could be evicted from the queue; nobody where Kueue does not look since the queue is not active."""
        return self._holders[queue] if _is_active(self.queues[queue]) else []

    def take_out(self, holder: Holder) -> None:
        for key, amount in holder.usage.items():
            self._nodes[holder.queue].give_back(key, amount)

    def put_back(self, holder: Holder) -> None:
        for key, amount in holder.usage.items():
            self._nodes[holder.queue].take(key, amount)

    @contextmanager
    def without(self, holders: Iterable[Holder]) -> Iterator[None]:
        """The snapshot as it is once these are gone."""
        gone = list(holders)
        for holder in gone:
            self.take_out(holder)
        try:
            yield
        finally:
            for holder in gone:
                self.put_back(holder)


def _is_active(queue: ClusterQueue) -> bool:
    active = queue.conditions.get(names.ACTIVE)
    return queue.stop_policy == names.STOP_NONE and (active is None or active.status is not False)


def height_that_fits(queue: Node, key: FlavorResource, amount: int) -> tuple[int, bool]:
    """The height of the lowest subtree that holds the amount on top of its usage, and whether that subtree is smaller
    than the whole tree. 0: the queue itself; the whole tree's height when none holds it."""
    if queue.parent is None or not queue.exceeds(key, amount):
        return 0, queue.parent is not None
    height = 0
    for below, cohort in zip((queue, *queue.above()), queue.above(), strict=False):
        amount = subtract(amount, below.local_available(key))
        height = cohort.height
        if not cohort.exceeds(key, amount):
            return height, cohort.parent is not None
    return height, False
