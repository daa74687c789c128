"""What held from when to when: dated rows as lines of whole microseconds since 1970 UTC. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from operator import itemgetter
from typing import Final, TypeVar

from jobs.rules.waits import FOREVER
from scheduling.hour_rows import Stretch, micros

_END: Final = micros(FOREVER)

Value = TypeVar("Value")
Line = list[tuple[int, int, Value]]
"""From, to, and what held then, in order."""


def micros_until(end: datetime | None) -> int:
    """None: it goes on."""
    return micros(end) if end else _END


def lines_of(rows: Iterable[tuple[str, datetime, datetime | None, Value]]) -> dict[str, Line[Value]]:
    """By key, of rows (key, from, to, value)."""
    found: dict[str, Line[Value]] = defaultdict(list)
    for key, start, end, value in sorted(rows, key=itemgetter(0, 1)):
        found[key].append((micros(start), micros_until(end), value))
    return found


def pieces(line: Line[Value], stretch: Stretch) -> Iterator[tuple[int, int, Value | None]]:
    """The stretch, cut where the line changes; None where it says nothing."""
    at, end = stretch
    for since, until, value in line:
        if since >= end or until <= at:
            continue
        if since > at:
            yield at, since, None
        yield max(since, at), min(until, end), value
        at = min(until, end)
    if at < end:
        yield at, end, None
