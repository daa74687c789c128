"""What an eviction throws away, in GPU-seconds. Pure; everybody who tells of lost work asks here.

Training loses what came after its last checkpoint. An endpoint loses availability and a Space its session: neither
loses GPU-hours. Whatever never was admitted loses nothing.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from scheduling.parsing import parse_time

MOST: Final = 2**43
"""More GPU-seconds than any cluster has had; so bounded, a database adds up a million of them in 64 bits."""

LONGEST_INTERVAL: Final = timedelta(days=30)

_UNITS: Final = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_INTERVAL: Final = re.compile(r"(?:[0-9]{1,9}[dhms])+")
_PART: Final = re.compile(r"(\d+)([dhms])")
_FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""No work was saved before: a clock that was never set says so, and zones west of UTC cannot show the first year."""
_MICROSECOND: Final = timedelta(microseconds=1)
_MICROSECONDS: Final = 10**6  # of a second


class Work(TextChoices):
    """What kind of thing was stopped."""

    TRAINING = "training", _("training")
    ENDPOINT = "endpoint", _("endpoint")
    SPACE = "space", _("Space")


class Basis(TextChoices):
    """How well the loss is known."""

    EXACT = "exact", _("since the last checkpoint")
    EXPECTED = "expected", _("expected from the checkpoint interval")
    WHOLE = "whole", _("the whole run: no checkpoint is known")
    NOTHING = "nothing", _("it had not begun")
    AVAILABILITY = "availability", _("availability, not work")
    SESSION = "session", _("a session, not work")
    UNKNOWN = "unknown", _("not known")


class Ignored(TextChoices):
    """Why a checkpoint annotation was not taken."""

    UNREADABLE = "unreadable", _("it is not a duration such as 30m or 1h30m")
    NOT_POSITIVE = "not_positive", _("it must be more than 0")
    TOO_LONG = "too_long", _("it is longer than 30 days")
    NO_TIME = "no_time", _("it is not a time such as 2026-10-08T12:00:00Z")
    IN_THE_FUTURE = "in_the_future", _("it lies after the eviction")


class CheckpointIgnored(ValueError):
    """`why` is the code."""

    def __init__(self, why: Ignored) -> None:
        super().__init__(why.value)
        self.why = why


def read_interval(text: str) -> timedelta:
    """“30m”, “1h30m”, “2d”. Raises CheckpointIgnored."""
    text = text.strip()
    if not _INTERVAL.fullmatch(text):
        is_negative = text.startswith("-") and _INTERVAL.fullmatch(text[1:])
        raise CheckpointIgnored(Ignored.NOT_POSITIVE if is_negative else Ignored.UNREADABLE)
    seconds = sum(int(count) * _UNITS[unit] for count, unit in _PART.findall(text))
    if not seconds:
        raise CheckpointIgnored(Ignored.NOT_POSITIVE)
    if seconds > LONGEST_INTERVAL.total_seconds():
        raise CheckpointIgnored(Ignored.TOO_LONG)
    return timedelta(seconds=seconds)


def read_checkpoint(text: str, decided: datetime) -> datetime:
    """When the work was last saved before an eviction, in the API's spelling of times. Raises CheckpointIgnored."""
    try:
        saved = parse_time(text)
    except ValueError as error:
        raise CheckpointIgnored(Ignored.NO_TIME) from error
    if saved is None or saved < _FIRST:
        raise CheckpointIgnored(Ignored.NO_TIME)
    if saved > decided:
        raise CheckpointIgnored(Ignored.IN_THE_FUTURE)
    return saved


class Held(NamedTuple):
    """So many GPUs from one instant to another; `end` is None while they are held."""

    gpus: int
    start: datetime
    end: datetime | None


def gpu_seconds(held: Iterable[Held], start: datetime, end: datetime) -> int:
    """What was held between the two instants, exact to the microsecond, in whole GPU-seconds; halves go up."""
    total = 0
    for each in held:
        length = min(end, each.end or end) - max(start, each.start)
        total += max(0, length // _MICROSECOND) * max(0, each.gpus)
    return min(MOST, (total + _MICROSECONDS // 2) // _MICROSECONDS)


@dataclass(frozen=True, slots=True)
class Loss:
    """GPU-seconds: at least, expected, at most. Of an exact loss all three are one."""

    basis: Basis
    low: int = 0
    expected: int = 0
    high: int = 0


class Checkpoints(NamedTuple):
    """What is known of a job's checkpoints. `last` belongs to this eviction: it is not after it."""

    interval: timedelta | None = None
    last: datetime | None = None


def loss(
    work: Work, held: Iterable[Held], admitted: datetime | None, decided: datetime, checkpoints: Checkpoints
) -> Loss:
    """What an eviction decided at `decided` cost a run that was `admitted` and held these GPUs."""
    if admitted is None or decided <= admitted:
        return Loss(Basis.NOTHING)
    if work != Work.TRAINING:
        return Loss(Basis.AVAILABILITY if work == Work.ENDPOINT else Basis.SESSION)
    held = list(held)
    most = gpu_seconds(held, lost_since(admitted, decided, checkpoints), decided)
    if checkpoints.last is not None:
        return Loss(Basis.EXACT, most, most, most)
    if checkpoints.interval is not None:
        half = checkpoints._replace(interval=checkpoints.interval / 2)
        return Loss(Basis.EXPECTED, 0, gpu_seconds(held, lost_since(admitted, decided, half), decided), most)
    return Loss(Basis.WHOLE, most, most, most)


def lost_since(admitted: datetime, decided: datetime, checkpoints: Checkpoints) -> datetime:
    """From when on the work of such a run is lost, at the earliest."""
    if checkpoints.last is not None:
        return max(admitted, checkpoints.last)
    if checkpoints.interval is not None:
        return max(admitted, decided - checkpoints.interval)
    return admitted


@dataclass(frozen=True, slots=True)
class Total:
    """A sum of losses: a range as soon as one of them is only expected. `unknown` counts losses that are not in it;
    `stopping` is what was held after the decisions, without work, `stopping_unknown` counts what is not in that."""

    low: int = 0
    expected: int = 0
    high: int = 0
    stopping: int = 0
    unknown: int = 0
    stopping_unknown: int = 0

    def __add__(self, other: "Total") -> "Total":
        return Total(
            self.low + other.low,
            self.expected + other.expected,
            self.high + other.high,
            self.stopping + other.stopping,
            self.unknown + other.unknown,
            self.stopping_unknown + other.stopping_unknown,
        )

    @property
    def is_range(self) -> bool:
        return self.low != self.high
