"""Which eviction an event tells of, and where that is not certain."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from gateways.records import EventRecord
from jobs.sync.eviction_notes import joined, notes_of
from tests.stories import minute

NOW = minute(30)


@dataclass
class Stored:
    ordinal: int
    decided_after: datetime
    decided_before: datetime
    reason: str = "Preempted"
    cause: str = ""


def unseen(*ordinals: int, after: float = 0, before: float = 20, cause: str = "") -> list[Stored]:
    return [Stored(ordinal, minute(after), minute(before), cause=cause) for ordinal in ordinals]


def event(
    first: float, last: float | None = None, count: int = 1, reason: str = "Preempted", *, is_series: bool = False
) -> EventRecord:
    """About an eviction 0.2 s after that minute."""
    late = timedelta(milliseconds=200)
    times = minute(first) + late, minute(first if last is None else last) + late
    return EventRecord(
        "Workload", "w", False, f"EvictedDueTo{reason}", "said", "kueue", count, *times, is_series=is_series
    )


def told(rows: list[Stored], *events: EventRecord, now: datetime = NOW) -> dict[int, datetime]:
    return {row.ordinal: note.decided for row, note in joined(rows, notes_of(events), now).pairs}


def contradictions(rows: list[Stored], *events: EventRecord, now: datetime = NOW) -> int:
    return len(joined(rows, notes_of(events), now).contradicting)


def test_as_many_events_as_evictions_date_them_in_order() -> None:
    assert told(unseen(3, 4), event(12), event(5)) == {3: minute(5), 4: minute(12)}


def test_one_event_of_two_evictions_is_not_certain() -> None:
    assert told(unseen(1, 2), event(5)) == {}
    assert contradictions(unseen(1, 2), event(5)) == 0


def test_the_oldest_events_are_forgotten_first() -> None:
    assert told(unseen(1, 2, 3, after=-120), event(5), event(9)) == {2: minute(5), 3: minute(9)}


def test_a_seen_eviction_takes_its_event_and_leaves_the_other() -> None:
    seen = Stored(2, minute(25), minute(25))
    assert told([*unseen(1), seen], event(5), event(25)) == {1: minute(5), 2: minute(25)}


def test_evictions_a_second_apart_each_have_the_nearest_event() -> None:
    second = 1 / 60
    rows = [Stored(1, minute(5), minute(5)), Stored(2, minute(5 + second), minute(5 + second))]
    assert told(rows, event(5 + second), event(5)) == {1: minute(5), 2: minute(5 + second)}


def test_an_event_told_twice_counts_once() -> None:
    assert told(unseen(1), event(5), event(5)) == {1: minute(5)}


def test_of_a_repeated_event_the_first_and_the_last_time_are_told() -> None:
    assert told(unseen(1, 2), event(5, 9, count=2)) == {1: minute(5), 2: minute(9)}
    assert told(unseen(1, 2, 3, 4), event(5, 9, count=4)) == {1: minute(5), 4: minute(9)}


def test_between_the_times_of_a_repeated_event_no_order_is_certain() -> None:
    assert told(unseen(1, 2, 3, 4), event(5, 9, count=3), event(7)) == {1: minute(5), 4: minute(9)}


def test_what_an_earlier_look_at_a_repeated_event_dated_stays() -> None:
    dated = [Stored(1, minute(5), minute(5)), Stored(2, minute(9), minute(9))]
    assert told([*dated, *unseen(3, after=9)], event(5, 12, count=3)) == {1: minute(5), 3: minute(12)}


def test_another_message_may_be_that_of_a_series() -> None:
    notes = notes_of([event(5, 9, count=2, is_series=True)]).notes
    assert [note.message for note in notes] == ["said", ""]
    assert [note.message for note in notes_of([event(5, 9, count=2)]).notes] == ["said", "said"]


@pytest.mark.parametrize("found", [event(25), event(5, reason="PodsReadyTimeout")])
def test_events_of_another_time_or_reason_date_nothing(found: EventRecord) -> None:
    assert told(unseen(1), found) == {}


def test_causes_that_no_event_tells_apart_date_nothing() -> None:
    rows = [
        Stored(1, minute(0), minute(20), "PodsReadyTimeout", "WaitForStart"),
        Stored(1, minute(0), minute(20), "PodsReadyTimeout", "WaitForRecovery"),
    ]
    events = event(5, reason="PodsReadyTimeout"), event(9, reason="PodsReadyTimeout")
    assert told(rows, *events) == {}
    assert contradictions(rows, *events) == 0


def test_a_cause_in_the_events_name_must_be_the_counters() -> None:
    rows = [Stored(1, minute(0), minute(20), "Deactivated", "RequeuingLimitExceeded")]
    assert told(rows, event(5, reason="Deactivated")) == {}
    assert told(rows, event(5, reason="DeactivatedDueToRequeuingLimitExceeded")) == {1: minute(5)}


def test_more_events_than_evictions_contradict() -> None:
    assert told(unseen(1), event(5), event(9)) == {}
    assert contradictions(unseen(1), event(5), event(9)) == 2


def test_what_the_ledger_may_not_have_seen_yet_contradicts_nothing() -> None:
    assert contradictions(unseen(1), event(25), now=minute(26)) == 0
    assert contradictions(unseen(1), event(25), now=minute(31)) == 1


def test_events_without_a_time_tell_nothing() -> None:
    nameless = EventRecord("Workload", "w", False, "EvictedDueToPreempted", "said", "kueue", 1, None, None)
    assert told(unseen(1), nameless) == {}
