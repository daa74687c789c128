"""One (flavor, resource) of one ClusterQueue over time: what was guaranteed, used, own and borrowed, hour by hour."""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter
from typing import Final, NamedTuple

from scheduling.accounting import Hold, split_own_and_borrowed
from scheduling.hour_rows import HOUR, Held, Stretch, Team


class Terms(NamedTuple):
    """What the specs say from `start` on. `kept` is the quota that the lending limit keeps in the queue."""

    start: int
    is_listed: bool = False
    nominal: int = 0
    in_cohort: bool = False
    kept: int = 0


class Level(NamedTuple):
    """What the queue weighs in its cohort from `start` on."""

    start: int
    used: int
    lendable: int
    borrowed: int


@dataclass(slots=True)
class Sums:
    """Of one hour, in amount·microseconds. `is_present`: the spec listed it, or it was in use."""

    guaranteed: int = 0
    used: int = 0
    borrowed: int = 0
    is_present: bool = False


Parts = dict[Team, tuple[int, int]]
_END, _TERMS, _START = 0, 1, 2
_NO_TERMS: Final = Terms(0)


class QueueTime:
    """`hours`: sums by hour; `teams`: own and borrowed by (hour, team); `levels`: each change, in order of time."""

    def __init__(self, window: Stretch) -> None:
        self.window = window
        self.hours: dict[int, Sums] = {}
        self.teams: dict[tuple[int, Team], tuple[int, int]] = {}
        self.levels: list[Level] = []
        self._at = window.start
        self._terms = _NO_TERMS
        self._held: dict[str, Held] = {}
        self._by_team: dict[Team, int] = {}
        self._used = 0
        self._borrowed = 0
        self._parts: Parts = {}

    def sweep(self, terms: Iterable[Terms], holds: Iterable[Held]) -> None:
        start, end = self.window
        happens: list[tuple[int, int, Held | Terms]] = [(max(each.start, start), _TERMS, each) for each in terms]
        for held in holds:
            begins, ends = max(held.start, start), min(held.end, end)
            if begins < ends and held.amount > 0:
                happens.append((begins, _START, held))
                happens.append((ends, _END, held))
        happens.sort(key=itemgetter(0, 1))
        for time, kind, what in happens:
            if time > self._at:
                self._advance(time)
            self._apply(kind, what)
        self._advance(end)

    def _apply(self, kind: int, what: Held | Terms) -> None:
        if isinstance(what, Terms):
            self._terms = what
            return
        if kind == _START:
            self._held[what.uid] = what
            change = what.amount
        else:
            del self._held[what.uid]
            change = -what.amount
        self._used += change
        left = self._by_team.get(what.team, 0) + change
        if left:
            self._by_team[what.team] = left
        else:
            del self._by_team[what.team]

    def _advance(self, to: int) -> None:
        """Count what has stood since the last change up to `to`."""
        self._take_level()
        at = self._at
        while at < to:
            hour = at - at % HOUR
            stop = min(hour + HOUR, to)
            self._count(hour, stop - at)
            at = stop
        self._at = to

    def _count(self, hour: int, length: int) -> None:
        terms, used = self._terms, self._used
        sums = self.hours.get(hour)
        if sums is None:
            sums = self.hours[hour] = Sums()
        if terms.is_listed or used:
            sums.is_present = True
        sums.guaranteed += terms.nominal * length
        sums.used += used * length
        sums.borrowed += self._borrowed * length
        teams = self.teams
        for team, (own, borrowed) in self._parts.items():
            before = teams.get((hour, team), (0, 0))
            teams[hour, team] = (before[0] + own * length, before[1] + borrowed * length)

    def _take_level(self) -> None:
        terms, used = self._terms, self._used
        nominal = terms.nominal
        self._borrowed = max(0, used - nominal) if terms.in_cohort else 0
        self._parts = self._split()
        lendable = max(0, nominal - max(used, terms.kept))
        self.levels.append(Level(self._at, used, lendable, self._borrowed))

    def _split(self) -> Parts:
        borrowed = self._borrowed
        if not borrowed:
            return {team: (held, 0) for team, held in self._by_team.items()}
        if len(self._by_team) == 1:
            return {team: (held - borrowed, borrowed) for team, held in self._by_team.items()}
        return self._split_in_order()

    def _split_in_order(self) -> Parts:
        holds = [Hold(held.uid, held.reserved_at, held.amount) for held in self._held.values()]
        splits = split_own_and_borrowed(holds, self._terms.nominal, self._terms.in_cohort)
        parts: Parts = {}
        for uid, split in splits.items():
            team = self._held[uid].team
            own, borrowed = parts.get(team, (0, 0))
            parts[team] = (own + split.own, borrowed + split.borrowed)
        return parts
