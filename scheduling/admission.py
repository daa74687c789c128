"""Whether a workload could be admitted to a queue now: with which flavors, for which victims, or why not.

A pure function over a snapshot, and advice only: the real scheduler sees another instant. Every pod set takes one
flavor per resource group, tried in the order of the spec. Not here: Fair Sharing, flavor fungibility other than its
defaults, partial admission, topology.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

from scheduling import messages, names
from scheduling.accounting import Amounts, pods_left, requested
from scheduling.flavor_match import mismatch
from scheduling.objects import Admission, FlavorResource, PodSet, PodSetAssignment, ResourceGroup, Workload
from scheduling.preemption import Claim, Victim, find_victims
from scheduling.quantities import add, subtract
from scheduling.trial import Trial, height_that_fits


@dataclass(frozen=True, slots=True)
class Fit:
    """It can have its quota now. `borrowing` is 0 within the queue's own quota, else the height of the smallest
    subtree that holds it."""

    admission: Admission
    borrowing: int


@dataclass(frozen=True, slots=True)
class Preempt:
    """It would fit without the victims. `message` is what Kueue writes while they stop."""

    admission: Admission
    borrowing: int
    victims: tuple[Victim, ...]
    message: str


@dataclass(frozen=True, slots=True)
class NoFit:
    """It stays pending with this message. `permanent`: until a quota, a flavor or the workload itself changes."""

    message: str
    permanent: bool


Decision = Fit | Preempt | NoFit


class _Mode(IntEnum):
    """How a flavor could be had, from the worst."""

    NO_FIT = 0
    NO_CANDIDATES = 1
    PREEMPT = 2
    RECLAIM = 3
    FIT = 4


@dataclass(frozen=True, slots=True)
class _Verdict:
    """On one resource of one flavor."""

    mode: _Mode
    borrowing: int
    reason: str = ""
    permanent: bool = False


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One flavor for all resources of a group that a pod set asks for."""

    flavor: str
    verdicts: Mapping[str, _Verdict]

    @property
    def rank(self) -> tuple[_Mode, int]:
        """That of its worst resource; the greatest is preferred, borrowing little before borrowing far."""
        return min((v.mode, -v.borrowing) for v in self.verdicts.values())


def decide(trial: Trial, workload: Workload, cluster_queue: str) -> Decision:
    """What the scheduler would do with the workload at the head of this queue; the trial stays as it is."""
    return _Decider(trial, workload, cluster_queue).decide()


@dataclass(frozen=True, slots=True)
class _Choice:
    """The flavors of one pod set by resource, empty when it cannot have any; and why not at once."""

    attempts: Mapping[str, _Attempt]
    reasons: tuple[str, ...] = ()
    permanent: bool = False


class _Decider:
    def __init__(self, trial: Trial, workload: Workload, queue: str) -> None:
        self.trial = trial
        self.workload = workload
        self.queue = queue
        self.groups = {r: group for group in trial.queues[queue].groups for r in group.covered_resources}
        self.taken: Amounts = {}
        self.short: set[FlavorResource] = set()
        self.borrowing = 0

    def decide(self) -> Decision:
        texts: list[str] = []
        assignments: list[PodSetAssignment] = []
        for pod_set, requests in zip(self.workload.pod_sets, requested(self.workload).values(), strict=True):
            count = pods_left(self.workload, pod_set)
            if names.PODS in self.groups:
                requests[names.PODS] = count
            choice = self._choose(pod_set, requests)
            if choice.reasons:
                texts.append(messages.pod_set_message(pod_set.name, choice.reasons))
            if requests and not choice.attempts:
                return NoFit("; ".join(texts), choice.permanent)
            assignments.append(self._assign(pod_set, count, requests, choice))
        admission = Admission(self.queue, tuple(assignments))
        return self._preempt(admission, "; ".join(texts)) if texts else Fit(admission, self.borrowing)

    def _preempt(self, admission: Admission, message: str) -> Decision:
        asked = {key: amount for key, amount in self.taken.items() if amount}
        victims = find_victims(self.trial, Claim(self.workload, self.queue, asked, frozenset(self.short)))
        if not victims:
            return NoFit(message, permanent=False)
        return Preempt(admission, self.borrowing, victims, messages.pending_preemption(message, len(victims)))

    def _assign(self, pod_set: PodSet, count: int, requests: Mapping[str, int], choice: _Choice) -> PodSetAssignment:
        for resource, attempt in choice.attempts.items():
            key, verdict = (attempt.flavor, resource), attempt.verdicts[resource]
            self.taken[key] = add(self.taken.get(key, 0), requests[resource])
            self.borrowing = max(self.borrowing, verdict.borrowing)
            if verdict.mode < _Mode.FIT:
                self.short.add(key)
        flavors = {resource: attempt.flavor for resource, attempt in choice.attempts.items()}
        return PodSetAssignment(pod_set.name, flavors, {r: requests[r] for r in flavors}, count)

    def _choose(self, pod_set: PodSet, requests: Mapping[str, int]) -> _Choice:
        attempts: dict[str, _Attempt] = {}
        reasons: tuple[str, ...] = ()
        for resource in sorted(requests):
            group = self.groups.get(resource)
            if group is None:
                if requests[resource]:
                    return _Choice({}, (messages.not_covered(resource),), permanent=True)
                continue
            if resource not in attempts:
                choice = self._choose_in_group(group, pod_set, requests)
                if not choice.attempts:
                    return choice
                attempts |= choice.attempts
                reasons += choice.reasons
        return _Choice(attempts, reasons)

    def _choose_in_group(self, group: ResourceGroup, pod_set: PodSet, requests: Mapping[str, int]) -> _Choice:
        best: _Attempt | None = None
        reasons: list[str] = []
        permanent = True
        asked = {r: amount for r, amount in requests.items() if r in group.covered_resources}
        for quotas in group.flavors:
            flavor = self.trial.flavors.get(quotas.name)
            unfit = mismatch(flavor, pod_set.template) if flavor else messages.flavor_not_found(quotas.name)
            if unfit:
                reasons.append(unfit)
                continue
            attempt = _Attempt(quotas.name, {r: self._judge((quotas.name, r), a) for r, a in asked.items()})
            mode, _ = attempt.rank
            if mode == _Mode.FIT:
                return _Choice(dict.fromkeys(asked, attempt))
            reasons.extend(v.reason for v in attempt.verdicts.values() if v.reason)
            permanent = permanent and any(v.permanent for v in attempt.verdicts.values())
            if mode > _Mode.NO_FIT and (best is None or attempt.rank > best.rank):
                best = attempt
        return _Choice(dict.fromkeys(asked, best) if best else {}, tuple(reasons), permanent)

    def _judge(self, key: FlavorResource, amount: int) -> _Verdict:
        flavor, resource = key
        node, before = self.trial.node(self.queue), self.taken.get(key, 0)
        wanted, most = add(before, amount), node.potential(key)
        if wanted > most:
            reason = messages.exceeds_maximum(resource, flavor, before, amount, most)
            return _Verdict(_Mode.NO_FIT, 0, reason, permanent=True)
        borrowing, is_subtree = height_that_fits(node, key, wanted)
        free = max(0, node.available(key))
        if wanted <= free:
            return _Verdict(_Mode.FIT, borrowing)
        reason = messages.insufficient_unused(resource, flavor, subtract(wanted, free))
        borrows = self.trial.queues[self.queue].preemption.borrow_within_cohort != names.NEVER
        if wanted <= node.quota(key).nominal or is_subtree or borrows:
            return replace(self._simulate(key, wanted), reason=reason)
        return _Verdict(_Mode.NO_FIT, borrowing, reason)

    def _simulate(self, key: FlavorResource, wanted: int) -> _Verdict:
        """Whether evictions would make room for this one amount, and how far it would then borrow."""
        victims = find_victims(self.trial, Claim(self.workload, self.queue, {key: wanted}, frozenset((key,))))
        with self.trial.without(v.holder for v in victims):
            borrowing, _ = height_that_fits(self.trial.node(self.queue), key, wanted)
        if not victims:
            return _Verdict(_Mode.NO_CANDIDATES, borrowing)
        own = any(v.holder.queue == self.queue for v in victims)
        return _Verdict(_Mode.PREEMPT if own else _Mode.RECLAIM, borrowing)
