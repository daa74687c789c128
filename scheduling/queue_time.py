"""One (flavor, resource) of one ClusterQueue over time: what was guaranteed, used, own and borrowed, hour by hour."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
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
    """What a queue weighs in its cohort from `start` on."""

    start: int
    cluster_queue: str
    used: int
    lendable: int
    borrowed: int


@dataclass(slots=True)
class Sums:
    """Of one hour, in amount·microseconds. `is_present`: the spec listed it, or it was in use. `teams`: own and
    borrowed."""

    guaranteed: int = 0
    used: int = 0
    borrowed: int = 0
    is_present: bool = False
    teams: dict[Team, tuple[int, int]] = field(default_factory=dict)


_NO_TERMS: Final = Terms(0)
_NONE: Final = (0, 0)


class QueueTime:
    """`hours`: sums by hour; `levels`: each change, in order of time."""

    def __init__(self, cluster_queue: str, window: Stretch) -> None:
        self.cluster_queue, self.window = cluster_queue, window
        self.hours: dict[int, Sums] = {}
        self.levels: list[Level] = []
        self._at, self._hour_end = window.start, 0
        self._sums = Sums()
        self._terms = _NO_TERMS
        self._held: dict[str, Held] = {}
        self._by_team: dict[Team, int] = {}
        self._used = 0

    def sweep(self, terms: Iterable[Terms], holds: Iterable[Held]) -> None:
        """Go through all that changed. Of what happens at once, holds end first."""
        start, end = self.window
        held = [each for each in holds if each.start < end and start < each.end > each.start and each.amount > 0]
        happens: list[tuple[int, int, Held | Terms]] = [(each.end, -each.amount, each) for each in held]
        happens += [(each.start, 0, each) for each in terms]
        happens += [(each.start, each.amount, each) for each in held]
        happens.sort(key=itemgetter(0))
        for time, change, what in happens:
            if time > self._at:
                if time >= end:
                    break
                self._advance(time)
            if isinstance(what, Held):
                self._hold(what, change)
            else:
                self._terms = what
        self._advance(end)

    def _hold(self, held: Held, change: int) -> None:
        if change > 0:
            self._held[held.uid] = held
        else:
            del self._held[held.uid]
        self._used += change
        by_team, team = self._by_team, held.team
        left = by_team.get(team, 0) + change
        if left:
            by_team[team] = left
        else:
            del by_team[team]

    def _advance(self, to: int) -> None:
        """Count what has stood since the last change up to `to`."""
        terms, used, at = self._terms, self._used, self._at
        nominal = terms.nominal
        borrowed = used - nominal if terms.in_cohort and used > nominal else 0
        in_use = used if used > terms.kept else terms.kept
        lendable = nominal - in_use if nominal > in_use else 0
        self.levels.append(Level(at, self.cluster_queue, used, lendable, borrowed))
        parts = self._split(borrowed) if used else ()
        while at < to:
            if at >= self._hour_end:
                self._open_hour(at)
            stop = to if to < self._hour_end else self._hour_end
            length, sums = stop - at, self._sums
            sums.guaranteed += nominal * length
            if used:
                sums.used += used * length
                sums.borrowed += borrowed * length
                teams = sums.teams
                for team, own, over in parts:
                    before = teams.get(team, _NONE)
                    teams[team] = (before[0] + own * length, before[1] + over * length)
            if used or terms.is_listed:
                sums.is_present = True
            at = stop
        self._at = to

    def _open_hour(self, at: int) -> None:
        hour = at - at % HOUR
        self._hour_end = hour + HOUR
        self._sums = self.hours[hour] = Sums()

    def _split(self, borrowed: int) -> Sequence[tuple[Team, int, int]]:
        """Own and borrowed of each team."""
        if not borrowed:
            return [(team, held, 0) for team, held in self._by_team.items()]
        if len(self._by_team) == 1:
            return [(team, held - borrowed, borrowed) for team, held in self._by_team.items()]
        holds = [Hold(held.uid, held.reserved_at, held.amount) for held in self._held.values()]
        splits = split_own_and_borrowed(holds, self._terms.nominal, self._terms.in_cohort)
        return [(self._held[uid].team, split.own, split.borrowed) for uid, split in splits.items()]
