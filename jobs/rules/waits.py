"""When a workload waited: from its creation, and again after each hold of quota, until it was over. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, NamedTuple

FOREVER: Final = datetime(9999, 1, 1, tzinfo=UTC)
"""The end of what goes on."""


class Wait(NamedTuple):
    """`perhaps`: nobody saw whether it waited."""

    start: datetime
    end: datetime
    perhaps: bool


@dataclass(frozen=True, slots=True)
class Over:
    """What ended the waiting for good, None where nothing did: it finished, was switched off, or vanished in between
    two looks."""

    finished_at: datetime | None = None
    paused_at: datetime | None = None
    gone_after: datetime | None = None
    gone_before: datetime | None = None


def paused_at(
    created_at: datetime, *, is_paused: bool, is_evicted: bool | None, evicted_at: datetime | None
) -> datetime | None:
    """Since when a workload is switched off: it is evicted then, too; where Kueue does not tell, it never waited."""
    if not is_paused:
        return None
    return evicted_at if is_evicted and evicted_at else created_at


Hold = tuple[datetime, datetime | None, datetime | None]
"""Reserved at, released between."""


def waits(created_at: datetime, holds: Iterable[Hold], over: Over) -> Iterator[Wait]:
    """In order of time; `holds` are, too."""
    ends = (over.finished_at, over.paused_at, over.gone_after)
    until = min((end for end in ends if end), default=FOREVER)
    return (wait for wait in _waits(created_at, holds, over, until) if wait.start < wait.end)


def _waits(created_at: datetime, holds: Iterable[Hold], over: Over, until: datetime) -> Iterator[Wait]:
    since = created_at
    for reserved_at, after, before in holds:
        yield Wait(since, min(reserved_at, until), False)
        if after is None or before is None:
            return
        yield Wait(after, min(before, until), True)
        since = before
    yield Wait(since, until, False)
    if over.gone_before and until == over.gone_after:
        yield Wait(max(since, until), over.gone_before, True)
