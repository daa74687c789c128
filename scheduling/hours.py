"""Usage over time, hour by hour, integrated exactly from what was held and from the specs that stood."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TypeVar, cast

from scheduling.forest import Forest, plant
from scheduling.hour_rows import (
    HOUR,
    Claim,
    Era,
    Held,
    PendingHour,
    PerhapsHeld,
    QueueHour,
    Stretch,
    Team,
    TeamHour,
    Waited,
    covered,
    hours_of,
)
from scheduling.lent_time import pools_of
from scheduling.lost_time import NOTHING_LOST, Lost, LostUnknown, lost_hours
from scheduling.names import is_accelerator
from scheduling.objects import FlavorResource
from scheduling.queue_time import Level, QueueTime, Terms

Lent = dict[tuple[int, str], tuple[int, int]]
_NOTHING = Level(0, "", 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one cluster over a window. `gaps`: time in which nobody saw anything of it."""

    eras: Sequence[Era] = ()
    held: Sequence[Held] = ()
    perhaps_held: Sequence[PerhapsHeld] = ()
    waited: Sequence[Waited] = ()
    claims: Sequence[Claim] = ()
    gaps: Sequence[tuple[int, int]] = ()
    lost: Iterable[Lost] = ()
    lost_unknown: Sequence[LostUnknown] = ()


@dataclass(frozen=True, slots=True)
class Hours:
    """In no order. Hours in which nothing was guaranteed, used, lost or waited for are left out if they were seen
    whole."""

    queues: list[QueueHour] = field(default_factory=list)
    teams: list[TeamHour] = field(default_factory=list)
    pending: list[PendingHour] = field(default_factory=list)


def roll_up(window: Stretch, facts: Facts) -> Hours:
    """The sums of each hour of the window, of what lies within it; the window is not empty. Accelerators only."""
    return _RollUp(window, facts).hours()


class _RollUp:
    def __init__(self, window: Stretch, facts: Facts) -> None:
        self.window, self.facts = window, facts
        eras = [era for era in facts.eras if era.start < window.end and era.end > window.start]
        self.forests = [(era, plant(era.cluster_queues, era.cohorts, {})) for era in eras]
        self.gaps = covered(facts.gaps, window)
        self.claims: dict[str, list[Claim]] = defaultdict(list)
        for claim in facts.claims:
            self.claims[claim.cluster_queue].append(claim)
        self.lost = lost_hours(window, facts.lost, facts.lost_unknown)
        self.queues: list[QueueHour] = []
        self.teams: list[TeamHour] = []
        self.unseen: set[tuple[int, str, str]] = set()

    def hours(self) -> Hours:
        terms, held, perhaps = _terms(self.forests), _by_key(self.facts.held), _by_key(self.facts.perhaps_held)
        for key in terms.keys() | self.lost.keys() | {key for key in held if is_accelerator(key[1])}:
            queues = terms[key].keys() | held[key].keys() | self.lost[key].keys()
            times = {queue: QueueTime(queue, self.window) for queue in queues}
            for queue, time in times.items():
                time.sweep(terms[key].get(queue, ()), held[key].get(queue, ()))
            lent = _lent(self.window, self.forests, times, key)
            for queue, time in times.items():
                self._add(queue, key, time, lent, self._unknown(perhaps[key].get(queue, ())))
        return Hours(self.queues, self.teams, self._pending())

    def _unknown(self, perhaps: Sequence[PerhapsHeld]) -> dict[int, int]:
        if not perhaps:
            return self.gaps
        return covered([*((each.start, each.end) for each in perhaps), *self.facts.gaps], self.window)

    def _add(self, queue: str, key: FlavorResource, time: QueueTime, lent: Lent, unknown: Mapping[int, int]) -> None:
        all_lost = self.lost[key].pop(queue, {})
        for hour, sums in time.hours.items():
            unseen = unknown.get(hour, 0) if sums.is_present else 0
            teams = sums.teams
            if unseen:
                self.unseen.add((hour, queue, key[1]))
                teams = dict.fromkeys(self._claimants(hour, queue), (0, 0)) | teams
            if sums.guaranteed or sums.used or unseen:
                low, high = lent.get((hour, queue), (0, 0))
                figures = (sums.guaranteed, sums.used, sums.borrowed, low, high, unseen)
                self.queues.append(QueueHour(hour, queue, *key, *figures))
            lost = all_lost.get(hour)
            if lost is None:
                self.teams += [TeamHour(hour, team, queue, *key, *used, unseen) for team, used in teams.items()]
                continue
            for team, used in (dict.fromkeys(lost, (0, 0)) | teams).items():
                self.teams.append(TeamHour(hour, team, queue, *key, *used, unseen, *lost.get(team, NOTHING_LOST)))

    def _claimants(self, hour: int, queue: str) -> set[Team]:
        start, end = max(hour, self.window.start), min(hour + HOUR, self.window.end)
        return {claim.team for claim in self.claims[queue] if claim.start < end and claim.end > start}

    def _pending(self) -> list[PendingHour]:
        waiting: dict[tuple[int, Team, str, str], int] = defaultdict(int)
        perhaps: dict[tuple[Team, str, str], list[tuple[int, int]]] = defaultdict(list)
        for wait in self.facts.waited:
            start, end = max(wait.start, self.window.start), min(wait.end, self.window.end)
            if wait.perhaps:
                perhaps[wait.team, wait.cluster_queue, wait.resource].append((start, end))
            for hour, length in hours_of(start, end):
                waiting[hour, wait.team, wait.cluster_queue, wait.resource] += (
                    0 if wait.perhaps else wait.amount * length
                )
        for hour, queue, resource in self.unseen:
            for team in self._claimants(hour, queue) if hour in self.gaps else ():
                waiting[hour, team, queue, resource] += 0
        unknown = {key: covered([*stretches, *self.facts.gaps], self.window) for key, stretches in perhaps.items()}
        return [
            PendingHour(hour, *key, amount, unknown.get(key, self.gaps).get(hour, 0))
            for (hour, *rest), amount in waiting.items()
            for key in [cast(tuple[Team, str, str], tuple(rest))]
        ]


def _terms(forests: Iterable[tuple[Era, Forest]]) -> dict[FlavorResource, dict[str, list[Terms]]]:
    """What the specs say, change by change, by (flavor, resource) and queue."""
    found: dict[FlavorResource, dict[str, list[Terms]]] = defaultdict(dict)
    for era, forest in forests:
        for key, by_queue in found.items():
            for queue, terms in by_queue.items():
                node = forest.queues.get(queue)
                if terms[-1].is_listed and (node is None or key not in node.quotas):
                    terms.append(Terms(era.start))
        in_cohort = {queue.name for queue in era.cluster_queues if queue.cohort is not None}
        for node in forest.queues.values():
            for key, quota in node.quotas.items():
                if is_accelerator(key[1]):
                    now = Terms(era.start, True, max(0, quota.nominal), node.name in in_cohort, node.local_quota(key))
                    terms = found[key].setdefault(node.name, [])
                    if not terms or terms[-1][1:] != now[1:]:
                        terms.append(now)
    return found


_Keyed = TypeVar("_Keyed", Held, PerhapsHeld)


def _by_key(records: Iterable[_Keyed]) -> dict[FlavorResource, dict[str, list[_Keyed]]]:
    """By (flavor, resource) and queue."""
    found: dict[FlavorResource, dict[str, list[_Keyed]]] = defaultdict(lambda: defaultdict(list))
    for each in records:
        found[each.flavor, each.resource][each.cluster_queue].append(each)
    return found


def _lent(
    window: Stretch, forests: Iterable[tuple[Era, Forest]], times: Mapping[str, QueueTime], key: FlavorResource
) -> Lent:
    """(low, high) by (hour, queue) of one (flavor, resource)."""
    lent: Lent = {}
    levels = sorted((level for time in times.values() for level in time.levels), key=itemgetter(0))
    standing: dict[str, Level] = {}
    reached = 0
    for era, forest in forests:
        end = min(era.end, window.end)
        pools = pools_of(forest, key, max(era.start, window.start), lent)
        for queue, level in standing.items():
            if queue in pools:
                pools[queue].change(_NOTHING, level)
        while reached < len(levels) and levels[reached].start < end:
            level = levels[reached]
            queue = level.cluster_queue
            if queue in pools:
                pools[queue].advance(level.start)
                pools[queue].change(standing.get(queue, _NOTHING), level)
            standing[queue] = level
            reached += 1
        for pool in set(pools.values()):
            pool.advance(end)
            pool.close((end - 1) // HOUR * HOUR)
    return lent
