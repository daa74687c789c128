"""Kueue's own answers, and where `scheduling` disagrees with them."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from scheduling import parsing
from scheduling.accounting import reserved_by_queue
from scheduling.cohort import CohortStanding, Figures, QueueStanding, figures
from scheduling.names import BEST_EFFORT_FIFO
from scheduling.objects import ClusterQueue, ReportedUsage, Workload
from scheduling.queue_order import order_key, queue_orders

Json = dict[str, Any]
Amounts = Mapping[tuple[str, str], ReportedUsage]


class Answer:
    """The objects of one situation as Kueue left them, and each ClusterQueue's order in the visibility API."""

    def __init__(self, recorded: Json) -> None:
        items = recorded["items"]
        self.queues = [parsing.parse_cluster_queue(i) for i in items if i["kind"] == "ClusterQueue"]
        self.cohorts = [parsing.parse_cohort(i) for i in items if i["kind"] == "Cohort"]
        self.local_queues = [parsing.parse_local_queue(i) for i in items if i["kind"] == "LocalQueue"]
        self.workloads = [parsing.parse_workload(i) for i in items if i["kind"] == "Workload"]
        self.order: dict[str, list[str]] = recorded["order"]
        self.preemptors: list[str] = recorded["preemptors"]
        self.fair_sharing: bool = recorded["fair_sharing"]

    def disagreements(self) -> list[str]:
        """A sentence for each figure of `scheduling` that is not Kueue's."""
        return [*self._of_usage(), *(self._of_shares() if self.fair_sharing else ()), *self._of_order()]

    def _of_usage(self) -> Iterator[str]:
        reservation, usage = reserved_by_queue(self.workloads)
        reserved = figures(self.queues, self.cohorts, reservation, usage)
        used = figures(self.queues, self.cohorts, usage, usage)
        for queue in self.queues:
            yield from _different(queue, "reserves", queue.status.reservation, _reported(reserved, queue.name))
            yield from _different(queue, "uses", queue.status.usage, _reported(used, queue.name))

    def _of_shares(self) -> Iterator[str]:
        reservation, usage = reserved_by_queue(self.workloads)
        ours = figures(self.queues, self.cohorts, reservation, usage)
        standings: dict[str, QueueStanding | CohortStanding] = {**ours.queues, **ours.cohorts}
        theirs = {q.name: q.status.weighted_share for q in self.queues}
        # Kueue writes a Cohort's only when a queue below it changes, and none does after it began to be deleted.
        below = {name for q in self.queues if q.deleted_at is None for name in ours.queues[q.name].path}
        theirs |= {c.name: c.weighted_share for c in self.cohorts if c.weighted_share is not None and c.name in below}
        for name, share in theirs.items():
            if share != standings[name].weighted_share:
                yield f"{name}: Kueue's weighted share is {share}, ours {standings[name].weighted_share}"

    def _of_order(self) -> Iterator[str]:
        """Kueue's order must be ours up to the order of those with equal priority and second."""
        ours = queue_orders(self.queues, self.local_queues, self.workloads)
        for queue in self.queues:
            theirs = self.order[queue.name]
            if not any(_is_order(theirs, mine) for mine in self._possible_orders(queue, ours[queue.name], theirs)):
                yield f"{queue.name}: Kueue's order is {theirs}, ours {[w.key for w in ours[queue.name]]}"

    def _possible_orders(
        self, queue: ClusterQueue, ours: list[Workload], theirs: list[str]
    ) -> Iterator[list[Workload]]:
        """Ours; without one workload, since the visibility API does not list the one that Kueue is trying; and with a
        former preemptor in front, which Kueue may remember when no object tells of it any more."""
        missing = {w.key for w in ours} - set(theirs)
        listed = [w for w in ours if len(missing) > 1 or w.key not in missing]
        yield listed
        if queue.strategy == BEST_EFFORT_FIFO and listed == sorted(listed, key=order_key):
            yield from (
                sorted(listed, key=lambda w: w is not former) for former in listed if former.key in self.preemptors
            )


def _reported(ours: Figures, queue: str) -> Amounts:
    return {
        key: ReportedUsage(line.reservation, line.borrowed)
        for key, line in ours.queues[queue].figures.items()
        if line.listed
    }


def _different(queue: ClusterQueue, verb: str, theirs: Amounts, ours: Amounts) -> Iterator[str]:
    for key in sorted(theirs.keys() | ours.keys()):
        if theirs.get(key) != ours.get(key):
            yield f"{queue.name} {verb} of {key}: Kueue says {theirs.get(key)}, we {ours.get(key)}"


def _is_order(theirs: list[str], ours: list[Workload]) -> bool:
    rank = {w.key: (w.effective_priority, w.created_at) for w in ours}
    found = [(rank.get(key), key) for key in theirs]
    return _without_ties(found) == _without_ties([(rank[w.key], w.key) for w in ours])


def _without_ties(ranked: list[tuple[Any, str]]) -> list[tuple[Any, frozenset[str]]]:
    """Those next to each other with one rank as a set."""
    return [(rank, frozenset(key for _, key in tied)) for rank, tied in groupby(ranked, key=lambda pair: pair[0])]
