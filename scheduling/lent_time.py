"""How much each queue of one tree lent of one (flavor, resource) over time, between bounds.

At one instant, with T borrowed in the whole tree and R of all that could be borrowed left, a queue with s to lend lends
at most min(s, T) and at least max(0, s - R). Queues that have the same s to lend share a clock, and as long as T and R
exceed every s there is nothing to do but let time pass.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from scheduling.forest import Forest, Node
from scheduling.hour_rows import HOUR
from scheduling.objects import FlavorResource
from scheduling.queue_time import Level


@dataclass(slots=True)
class Branch:
    """A queue or cohort by what it uses; beyond `kept`, what its lending limit keeps here, that counts above, too."""

    kept: int
    parent: "Branch | None"
    used: int = 0

    def use(self, change: int) -> None:
        branch: Branch | None = self
        while branch is not None:
            before = branch.used
            branch.used += change
            if branch.kept:
                change = max(0, branch.used - branch.kept) - max(0, before - branch.kept)
            branch = branch.parent


@dataclass(slots=True)
class _Clock:
    """For queues with the same amount to lend: what they could not lend and what they surely lent, times time."""

    queues: int = 0
    unlent: int = 0
    sure: int = 0


@dataclass(slots=True)
class _Lender:
    lendable: int = 0
    since: int = 0
    unlent: int = 0
    sure: int = 0
    low: int = 0
    high: int = 0


@dataclass(slots=True, eq=False)
class PoolTime:
    """One tree while its specs stand. `lent`: (low, high) in amount·microseconds by (hour, queue).

    In a cycle of cohorts, and while more is in use than there is, all that is known is what a queue has to lend.
    """

    at: int
    quota: int
    cohorts_nominal: int
    root: Branch
    branches: Mapping[str, Branch]
    lent: dict[tuple[int, str], tuple[int, int]]
    in_cycle: bool = False
    borrowed: int = 0
    lendable: int = 0
    clocks: dict[int, _Clock] = field(default_factory=dict)
    lenders: dict[str, _Lender] = field(default_factory=dict)
    most: int = 0

    def change(self, before: Level, after: Level) -> None:
        """What a queue weighs changes now."""
        self.borrowed += after.borrowed - before.borrowed
        self.branches[after.cluster_queue].use(after.used - before.used)
        if before.lendable != after.lendable:
            self.lendable += after.lendable - before.lendable
            self._lend(after.cluster_queue, after.lendable)

    def _lend(self, queue: str, lendable: int) -> None:
        lender = self.lenders.get(queue)
        if lender is None:
            lender = self.lenders[queue] = _Lender()
        elif lender.lendable:
            self._settle(lender)
            clock = self.clocks[lender.lendable]
            clock.queues -= 1
            if not clock.queues:
                del self.clocks[lender.lendable]
                if lender.lendable == self.most:
                    self.most = max(self.clocks, default=0)
        lender.lendable, lender.since = lendable, self.at
        if lendable:
            clock = self.clocks.setdefault(lendable, _Clock())
            clock.queues += 1
            lender.unlent, lender.sure = clock.unlent, clock.sure
            if lendable > self.most:
                self.most = lendable

    def _settle(self, lender: _Lender) -> None:
        clock = self.clocks[lender.lendable]
        lender.high += lender.lendable * (self.at - lender.since) - (clock.unlent - lender.unlent)
        lender.low += clock.sure - lender.sure
        lender.since, lender.unlent, lender.sure = self.at, clock.unlent, clock.sure

    def advance(self, to: int) -> None:
        while self.at < to:
            hour_end = self.at - self.at % HOUR + HOUR
            stop = to if to < hour_end else hour_end
            if not self.in_cycle and self.root.used <= self.quota:
                self._pass(stop - self.at)
            self.at = stop
            if stop == hour_end:
                self.close(hour_end - HOUR)

    def _pass(self, length: int) -> None:
        borrowed, left = self.borrowed, self.cohorts_nominal + self.lendable - self.borrowed
        if borrowed >= self.most <= left:
            return
        for lendable, clock in self.clocks.items():
            if lendable > borrowed:
                clock.unlent += (lendable - borrowed) * length
            if lendable > left:
                clock.sure += (lendable - left) * length

    def close(self, hour: int) -> None:
        """Add up what was lent in the hour so far."""
        for queue, lender in self.lenders.items():
            if lender.lendable:
                self._settle(lender)
            if lender.high:
                low, high = self.lent.get((hour, queue), (0, 0))
                self.lent[hour, queue] = (low + lender.low, high + lender.high)
                lender.low = lender.high = 0


Pools: TypeAlias = dict[str, PoolTime]


def pools_of(forest: Forest, key: FlavorResource, at: int, lent: dict[tuple[int, str], tuple[int, int]]) -> Pools:
    """The pool of each queue in a cohort, by the queue's name; nothing is in use yet."""
    pools: Pools = {}
    for root in forest.cohorts.values():
        if root.parent is None and root.name not in forest.lost_cohorts:
            pool = _pool(root, key, at, lent)
            pools |= dict.fromkeys(pool.branches, pool)
    for name in forest.lost_queues:
        alone = Branch(0, None)
        pools[name] = PoolTime(at, 0, 0, alone, {name: alone}, lent, in_cycle=True)
    return pools


def _pool(root: Node, key: FlavorResource, at: int, lent: dict[tuple[int, str], tuple[int, int]]) -> PoolTime:
    trunk, nominal = Branch(0, None), 0
    branches: dict[str, Branch] = {}
    cohorts = [(root, trunk)]
    for cohort, branch in cohorts:  # grows while it is walked
        nominal += cohort.quota(key).nominal
        cohorts += [(child, Branch(child.local_quota(key), branch)) for child in cohort.cohorts]
        branches |= {queue.name: Branch(queue.local_quota(key), branch) for queue in cohort.queues}
    return PoolTime(at, root.subtree.get(key, 0), nominal, trunk, branches, lent)
