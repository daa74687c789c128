"""Which stored eviction each event tells of. Pure.

Events are forgotten after an hour or so, the oldest first, and some repeat: of a repeated one the first and the last
time are told, the others lie between. So an event dates an eviction only where it is certain which one it tells of.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Generic, Protocol, TypeVar

from gateways.records import EventRecord
from scheduling.evictions import EvictionReason, event_reason

KEPT: Final = timedelta(hours=1)
"""Whatever happened since then is still told, unless its event was lost."""

_SAME: Final = timedelta(seconds=1)
_LATE: Final = timedelta(seconds=2)
SETTLED: Final = timedelta(minutes=5)
"""By then the ledger has seen what an event tells."""


class Row(Protocol):
    """A stored eviction."""

    reason: str
    cause: str
    ordinal: int
    decided_after: datetime
    decided_before: datetime


AnyRow = TypeVar("AnyRow", bound=Row)


@dataclass(frozen=True, slots=True)
class Note:
    """One eviction as an event tells it. The message is empty where it is not known to be this one's."""

    told: EvictionReason
    at: datetime
    message: str

    @property
    def decided(self) -> datetime:
        """As conditions are dated: in whole seconds."""
        return _second(self.at)


@dataclass(frozen=True, slots=True)
class Between:
    """So many more of that reason, between two that are told."""

    told: EvictionReason
    count: int
    after: datetime
    before: datetime


@dataclass(slots=True)
class Notes:
    """What is told of one workload."""

    notes: list[Note] = field(default_factory=list)
    between: list[Between] = field(default_factory=list)


def notes_of(events: Iterable[EventRecord]) -> Notes:
    """What the events about one workload tell of its evictions; requested twice within a second, one counts once."""
    found = Notes()
    for event in sorted(events, key=lambda each: str(each.first_at)):
        told, first, last = event_reason(event.reason), event.first_at, event.last_at
        if told is None or first is None or last is None:
            continue
        _add(found.notes, Note(told, first, event.message))
        if event.count > 1 and last > first:
            _add(found.notes, Note(told, last, "" if event.is_series else event.message))
        if event.count > 2:
            found.between.append(Between(told, event.count - 2, _second(first), _second(last)))
    found.notes.sort(key=lambda note: note.at)
    return found


def _second(time: datetime) -> datetime:
    return time.replace(microsecond=0)


def _add(notes: list[Note], note: Note) -> None:
    if not any(each.told == note.told and abs(each.at - note.at) < _SAME for each in notes):
        notes.append(note)


@dataclass(frozen=True, slots=True)
class Joined(Generic[AnyRow]):
    """Evictions with what tells of them, and notes of evictions that there cannot have been."""

    pairs: list[tuple[AnyRow, Note]]
    contradicting: list[Note]


def joined(rows: Sequence[AnyRow], told: Notes, now: datetime) -> Joined[AnyRow]:
    """Of rows whose time is known, each with the nearest note; of those that were decided within one stretch, with the
    notes from it, in order."""
    dated = [row for row in rows if row.decided_after == row.decided_before]
    pairs = list(_nearest(dated, told.notes))
    rest = [note for note in told.notes if note not in [found for _, found in pairs]]
    untold = [row for row in dated if row not in [found for found, _ in pairs]]
    between = [replace(each, count=each.count - _within(each, untold)) for each in told.between]
    for stretch in _stretches(rows):
        found = list(_in_order(stretch, rest, between, is_whole=stretch[0].decided_after >= now - KEPT))
        pairs += found
        rest = [note for note in rest if note not in [placed for _, placed in found]]
    return Joined(pairs, [note for note in rest if note.at < now - SETTLED and not _has_room(note, rows, rest)])


def _has_room(note: Note, rows: Iterable[Row], rest: Iterable[Note]) -> bool:
    """Whether it may tell of an eviction that is not dated, though it is not certain of which."""
    open_rows = [row for row in rows if row.decided_after < row.decided_before and _may_tell(note, row)]
    rivals = sum(any(_may_tell(each, row) for row in open_rows) for each in rest)
    return 0 < rivals <= len(open_rows)


def _may_tell(note: Note, row: Row) -> bool:
    return _fits(note.told, row) and row.decided_after <= note.decided <= row.decided_before


def _fits(told: EvictionReason, row: Row) -> bool:
    return told.reason == row.reason and told.cause in (None, row.cause)


def _nearest(rows: Sequence[AnyRow], notes: Sequence[Note]) -> Iterator[tuple[AnyRow, Note]]:
    near = [
        (abs(note.decided - row.decided_before), number, place)
        for number, row in enumerate(rows)
        for place, note in enumerate(notes)
        if _fits(note.told, row) and abs(note.decided - row.decided_before) <= _LATE
    ]
    rows_taken, notes_taken = set[int](), set[int]()
    for _, number, place in sorted(near):
        if number not in rows_taken and place not in notes_taken:
            rows_taken.add(number)
            notes_taken.add(place)
            yield rows[number], notes[place]


def _within(between: Between, rows: Iterable[Row]) -> int:
    """How many of them are rows that earlier looks at the event dated."""
    inside = sum(_fits(between.told, row) and between.after < row.decided_before < between.before for row in rows)
    return min(between.count, inside)


def _stretches(rows: Iterable[AnyRow]) -> Iterator[list[AnyRow]]:
    """Rows of one counter, of which no more is known than between which moments they were decided, in order. Where
    causes differ that no event tells apart, none of them."""
    found: dict[tuple[str, datetime, datetime], list[AnyRow]] = defaultdict(list)
    for row in rows:
        if row.decided_after < row.decided_before:
            found[row.reason, row.decided_after, row.decided_before].append(row)
    for stretch in found.values():
        if len({row.cause for row in stretch}) == 1:
            yield sorted(stretch, key=lambda row: row.ordinal)


def _in_order(
    stretch: Sequence[AnyRow], notes: Iterable[Note], between: Iterable[Between], *, is_whole: bool
) -> Iterator[tuple[AnyRow, Note]]:
    """`is_whole`: none of the events of that time is forgotten yet."""
    start, end = stretch[0].decided_after, stretch[0].decided_before
    told = [note for note in notes if _may_tell(note, stretch[0])]
    hidden = [b for b in between if b.count and _fits(b.told, stretch[0]) and b.after <= end and b.before >= start]
    missing = len(stretch) - len(told) - sum(each.count for each in hidden)
    if missing < 0 or (missing and (is_whole or hidden)):
        return
    for number, note in enumerate(told):
        if not any(each.after < note.decided < each.before for each in hidden):
            earlier = sum(each.count for each in hidden if each.before <= note.decided)
            yield stretch[missing + number + earlier], note
