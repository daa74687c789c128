"""What a roll-up of usage takes and gives. Times are integer microseconds since 1970 UTC, stretches half-open; sums are
amounts times microseconds, exact.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple, TypeAlias

from scheduling.objects import ClusterQueue, Cohort

HOUR: Final = 3_600_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)

Team: TypeAlias = int | None
"""A team's key; None for what no team owned."""


class Stretch(NamedTuple):
    start: int
    end: int


class Era(NamedTuple):
    """The queues and cohorts that stood from `start` to before `end`."""

    start: int
    end: int
    cluster_queues: Sequence[ClusterQueue]
    cohorts: Sequence[Cohort]


class Held(NamedTuple):
    """An amount that one workload surely held. Stretches of one uid touch, but never overlap."""

    cluster_queue: str
    flavor: str
    resource: str
    team: Team
    uid: str
    reserved_at: datetime
    amount: int
    start: int
    end: int


class PerhapsHeld(NamedTuple):
    """Time in which nobody saw whether a hold of this went on."""

    cluster_queue: str
    flavor: str
    resource: str
    start: int
    end: int


class Waited(NamedTuple):
    """An amount that one workload waited for; `perhaps`: nobody saw whether it still did."""

    team: Team
    cluster_queue: str
    resource: str
    amount: int
    start: int
    end: int
    perhaps: bool = False


class Claim(NamedTuple):
    """Time in which a team could ask a ClusterQueue for quota."""

    team: Team
    cluster_queue: str
    start: int
    end: int


class QueueHour(NamedTuple):
    """`unknown`: microseconds of the hour in which more may have been in use than was seen."""

    hour: int
    cluster_queue: str
    flavor: str
    resource: str
    guaranteed: int
    used: int
    borrowed: int
    lent_low: int
    lent_high: int
    unknown: int


class TeamHour(NamedTuple):
    """The flavor is empty where nobody saw it of what was lost; `lost_unknown` counts evictions of unknown cost."""

    hour: int
    team: Team
    cluster_queue: str
    flavor: str
    resource: str
    own: int
    borrowed: int
    unknown: int
    lost_low: int = 0
    lost_expected: int = 0
    lost_high: int = 0
    lost_unknown: int = 0


class PendingHour(NamedTuple):
    hour: int
    team: Team
    cluster_queue: str
    resource: str
    waiting: int
    unknown: int


def hours_of(start: int, end: int) -> Iterator[tuple[int, int]]:
    """Each hour that the stretch touches, by its beginning, and the microseconds in it."""
    while start < end:
        hour = start - start % HOUR
        stop = min(hour + HOUR, end)
        yield hour, stop - start
        start = stop


def covered(stretches: Sequence[tuple[int, int]], within: Stretch) -> dict[int, int]:
    """By hour the microseconds that the stretches cover together; hours that they do not touch are left out."""
    found: dict[int, int] = {}
    reached = within.start
    for start, end in sorted(stretches):
        for hour, length in hours_of(max(start, reached), min(end, within.end)):
            found[hour] = found.get(hour, 0) + length
        reached = max(reached, end)
    return found


def micros(time: datetime) -> int:
    """Microseconds since 1970 UTC, exactly."""
    return (time - _EPOCH) // _MICROSECOND
