"""Whom Kueue would evict for a workload: classical preemption, inside a queue and in a flat cohort.

Not here: Fair Sharing, and victims in other cohorts of a deeper tree.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from scheduling import names
from scheduling.objects import ClusterQueue, FlavorResource, Workload
from scheduling.queue_order import queue_time
from scheduling.trial import Holder, Trial

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Victim:
    """A workload to evict and Kueue's reason for it (`Preempted.reason`). It may be evicted already, still stopping."""

    holder: Holder
    reason: str

    @property
    def workload(self) -> Workload:
        return self.holder.workload


@dataclass(frozen=True, slots=True)
class Claim:
    """What a workload asks of its queue, and the (flavor, resource)s that are short: only their holders are victims."""

    workload: Workload
    queue: str
    asked: Mapping[FlavorResource, int]
    short: frozenset[FlavorResource]


@dataclass(frozen=True, slots=True)
class _Candidate:
    holder: Holder
    reason: str
    while_borrowing: bool


def find_victims(trial: Trial, claim: Claim) -> tuple[Victim, ...]:
    """The workloads to evict so that the claim fits; none when no choice of them makes room."""
    reclaimed = list(_from_cohort(trial, claim))
    candidates = sorted([*reclaimed, *_from_own_queue(trial, claim)], key=lambda c: _candidate_key(c.holder, claim))
    for borrowing in _attempts(trial, claim, reclaimed):
        victims = _make_room(trial, claim, candidates, borrowing)
        if victims:
            return tuple(Victim(c.holder, c.reason) for c in victims)
    return ()


def fits(trial: Trial, claim: Claim, borrowing: bool) -> bool:
    """Whether the claim fits now, with or without borrowing."""
    node = trial.node(claim.queue)
    return all(
        amount <= max(0, node.available(key)) and (borrowing or not node.exceeds(key, amount))
        for key, amount in claim.asked.items()
    )


def _from_own_queue(trial: Trial, claim: Claim) -> Iterator[_Candidate]:
    policy = trial.queues[claim.queue].preemption.within_cluster_queue
    for holder in trial.holders(claim.queue):
        if _may_evict(claim, holder, policy):
            yield _Candidate(holder, names.IN_CLUSTER_QUEUE, True)


def _from_cohort(trial: Trial, claim: Claim) -> Iterator[_Candidate]:
    own, record = trial.node(claim.queue), trial.queues[claim.queue]
    if own.parent is None:
        return
    within_nominal = not any(own.exceeds(key, amount) for key, amount in claim.asked.items())
    for queue in own.parent.queues:
        if queue is own or not any(queue.exceeds(key) for key in claim.short):
            continue
        for holder in trial.holders(queue.name):
            if _may_evict(claim, holder, record.preemption.reclaim_within_cohort):
                yield _reclaim(claim, holder, record, within_nominal)


def _reclaim(claim: Claim, holder: Holder, record: ClusterQueue, within_nominal: bool) -> _Candidate:
    if within_nominal or not _may_borrow_meanwhile(claim, holder, record):
        return _Candidate(holder, names.IN_COHORT_RECLAMATION, within_nominal)
    return _Candidate(holder, names.IN_COHORT_RECLAIM_WHILE_BORROWING, True)


def _may_borrow_meanwhile(claim: Claim, holder: Holder, record: ClusterQueue) -> bool:
    limit = record.preemption.borrow_max_priority
    priority = holder.workload.effective_priority
    return (
        record.preemption.borrow_within_cohort != names.NEVER
        and priority < claim.workload.effective_priority
        and (limit is None or priority <= limit)
    )


def _may_evict(claim: Claim, holder: Holder, policy: str) -> bool:
    if claim.short.isdisjoint(holder.usage):
        return False
    if policy == names.ANY:
        return True
    ours, theirs = claim.workload.effective_priority, holder.workload.effective_priority
    if policy == names.LOWER_OR_NEWER_EQUAL_PRIORITY and ours == theirs:
        return queue_time(claim.workload) < queue_time(holder.workload)
    return policy in (names.LOWER_PRIORITY, names.LOWER_OR_NEWER_EQUAL_PRIORITY) and ours > theirs


def _candidate_key(holder: Holder, claim: Claim) -> tuple[bool, bool, int, timedelta, str]:
    """Evicted already, then other queues' workloads, lower priority, later reserved."""
    workload = holder.workload
    reserved_at = workload.since(names.QUOTA_RESERVED) or _EPOCH
    own = holder.queue == claim.queue
    priority = workload.effective_priority
    return (not workload.is_true(names.EVICTED), own, priority, _EPOCH - reserved_at, workload.uid)


def _attempts(trial: Trial, claim: Claim, reclaimed: list[_Candidate]) -> tuple[bool, ...]:
    """Whether to let the claim borrow, in the order Kueue tries it."""
    node = trial.node(claim.queue)
    never_borrows = trial.queues[claim.queue].preemption.borrow_within_cohort == names.NEVER
    under_nominal = all(node.usage.get(key, 0) < node.quota(key).nominal for key in claim.short)
    if not reclaimed or (never_borrows and not under_nominal):
        return (True,)
    if never_borrows and not any(c.while_borrowing for c in reclaimed):
        return (False, True)
    return (True, False)


def _make_room(trial: Trial, claim: Claim, candidates: list[_Candidate], borrowing: bool) -> list[_Candidate]:
    taken: list[_Candidate] = []
    for candidate in candidates:
        if _is_valid(trial, claim, candidate, borrowing):
            trial.take_out(candidate.holder)
            taken.append(candidate)
            if fits(trial, claim, borrowing):
                taken = _spare(trial, claim, taken, borrowing)
                break
    enough = bool(taken) and fits(trial, claim, borrowing)
    for candidate in taken:
        trial.put_back(candidate.holder)
    return taken if enough else []


def _is_valid(trial: Trial, claim: Claim, candidate: _Candidate, borrowing: bool) -> bool:
    """Checked again for each: an eviction before may have brought the victim's queue back within its quota."""
    if candidate.holder.queue == claim.queue:
        return True
    if borrowing and not candidate.while_borrowing:
        return False
    queue = trial.node(candidate.holder.queue)
    return any(queue.exceeds(key) for key in claim.short)


def _spare(trial: Trial, claim: Claim, taken: list[_Candidate], borrowing: bool) -> list[_Candidate]:
    """Puts back, last taken first, whoever need not go. The very last taken always must."""
    victims = list(taken)
    for index in range(len(victims) - 2, -1, -1):
        trial.put_back(victims[index].holder)
        if fits(trial, claim, borrowing):
            victims[index] = victims[-1]  # Kueue's order: the last one moves into the gap
            victims.pop()
        else:
            trial.take_out(victims[index].holder)
    return victims
