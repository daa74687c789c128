"""When the work was done that evictions threw away.

Where it is known since when work was lost (the last checkpoint, or the admission), the loss is what was held first from
then on; else it is what was held last before the eviction. So an hour's part is as sure as the whole, the parts add up
to it, and the least that was lost lies within the most.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

from scheduling.hour_rows import HOUR, Stretch, Team
from scheduling.objects import FlavorResource

Figures: TypeAlias = tuple[int, int, int]
"""At least, expected, at most: amount·microseconds."""


class LostWork(NamedTuple):
    """What one eviction threw away of what was held between `start` and `end`: (amount, from, to) each."""

    start: int
    end: int
    held: Sequence[tuple[int, int, int]]
    figures: Figures
    begins_at_start: bool

    def done_before(self, time: int) -> Figures:
        """How much of it was done before that instant."""
        if time <= self.start:
            return (0, 0, 0)
        low, expected, high = self.figures
        if time >= self.end:
            return self.figures
        if self.begins_at_start:
            done = self._held(self.start, time)
            return (min(low, done), min(expected, done), min(high, done))
        left = self._held(time, self.end)
        return (max(0, low - left), max(0, expected - left), max(0, high - left))

    def _held(self, start: int, end: int) -> int:
        total = 0
        for amount, since, until in self.held:
            begin, stop = since if since > start else start, until if until < end else end
            if stop > begin:
                total += amount * (stop - begin)
        return total


class Lost(NamedTuple):
    """The part of a loss that one team did from `start` to `end`. The flavor is empty where nobody saw the hold."""

    cluster_queue: str
    flavor: str
    resource: str
    team: Team
    start: int
    end: int
    work: LostWork


class LostUnknown(NamedTuple):
    """An eviction of which nobody knows what it cost; of what nobody saw the flavor is unknown, too."""

    cluster_queue: str
    resource: str
    team: Team
    at: int


LostSums: TypeAlias = tuple[int, int, int, int]
"""At least, expected, at most, and how many evictions are not in it."""

NOTHING_LOST: Final[LostSums] = (0, 0, 0, 0)

LostHours: TypeAlias = dict[FlavorResource, dict[str, dict[int, dict[Team, LostSums]]]]
"""By (flavor, resource), ClusterQueue, hour and team."""


def lost_hours(window: Stretch, lost: Iterable[Lost], unknown: Iterable[LostUnknown]) -> LostHours:
    """The sums of each hour, of what lies within the window. Hours of nothing are left out."""
    found: LostHours = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    for each in lost:
        teams_of = found[each.flavor, each.resource][each.cluster_queue]
        start, end = max(each.start, window.start), min(each.end, window.end)
        before = each.work.done_before(start)
        while start < end:
            hour = start - start % HOUR
            start = min(hour + HOUR, end)
            after = each.work.done_before(start)
            if after != before:
                more = (after[0] - before[0], after[1] - before[1], after[2] - before[2], 0)
                _add(teams_of[hour], each.team, more)
            before = after
    for queue, resource, team, at in unknown:
        if window.start <= at < window.end:
            _add(found["", resource][queue][at - at % HOUR], team, (0, 0, 0, 1))
    return found


def _add(teams: dict[Team, LostSums], team: Team, more: LostSums) -> None:
    sums = teams.get(team, NOTHING_LOST)
    teams[team] = (sums[0] + more[0], sums[1] + more[1], sums[2] + more[2], sums[3] + more[3])
