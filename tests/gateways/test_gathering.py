import threading
import time
from collections.abc import Callable, Generator
from datetime import UTC, datetime
from typing import Any

import pytest

from gateways.errors import Unavailable
from gateways.gathering import gather
from gateways.records import Batch, Change, Outage
from tests.gateways.things import alive, change, page

Told = Generator[Any, None, None]


def told_then_silence(*told: Any) -> Callable[[threading.Event], Told]:
    def read(ended: threading.Event) -> Told:
        yield from told
        ended.wait(5)

    return read


def gathered(*told: Any, until: Callable[[Any], bool] = lambda event: isinstance(event, Batch)) -> list[Any]:
    """What is gathered of `told` up to the event that `until` accepts."""
    stop = threading.Event()
    events = []
    for event in gather(told_then_silence(*told), stop):
        events.append(event)
        if until(event):
            stop.set()
    return events


def test_of_each_object_the_newest_change_is_kept_in_order() -> None:
    assert gathered(page(100), change("a", 101), change("b", 102), change("a", 103), alive(110)) == [
        page(100),
        Batch((change("b", 102), change("a", 103)), 110),
    ]


def test_a_deletion_is_kept_beside_the_object_that_follows_it() -> None:
    (batch,) = gathered(change("old", 101), change("old", 102, deleted=True), change("new", 103))
    assert batch.changes == (change("old", 102, deleted=True), change("new", 103))


def test_a_batch_never_holds_more_than_five_hundred() -> None:
    changes = [change(f"thing-{n}", 101 + n) for n in range(1200)]
    batches = gathered(*changes, until=lambda event: event.resource_version == 1300)
    assert max(len(batch.changes) for batch in batches) == 500
    assert [c for batch in batches for c in batch.changes] == changes


def test_every_malformed_object_is_told() -> None:
    (batch,) = gathered(Change(None, False, 101, "one"), Change(None, False, 102, "two"))
    assert [c.malformed for c in batch.changes] == ["one", "two"]


def test_changes_are_told_before_what_comes_after_them() -> None:
    outage = Outage(Unavailable("down"), datetime(2026, 3, 1, tzinfo=UTC))
    assert gathered(change("a", 101), outage, until=lambda event: event is outage) == [
        Batch((change("a", 101),), 101),
        outage,
    ]


def test_a_sign_of_life_is_an_empty_batch() -> None:
    assert gathered(alive(100)) == [Batch((), 100)]


def test_changes_are_told_within_a_moment() -> None:
    began = time.monotonic()
    gathered(change("a", 101))
    assert time.monotonic() - began < 0.6


def test_a_stop_is_heeded_within_a_second_while_reading_hangs() -> None:
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    began = time.monotonic()
    assert list(gather(told_then_silence(page(100)), stop)) == [page(100)]
    assert time.monotonic() - began < 1


def test_reading_is_a_few_steps_ahead_at_most() -> None:
    given: list[int] = []

    def read(ended: threading.Event) -> Told:
        for n in range(10):
            given.append(n)
            yield page(n)

    stop = threading.Event()
    events = gather(read, stop)
    next(events)
    time.sleep(0.05)
    assert len(given) <= 4
    stop.set()
    list(events)


def test_a_bug_in_reading_is_raised_where_it_is_seen() -> None:
    def read(ended: threading.Event) -> Told:
        yield page(100)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(gather(read, threading.Event()))


def test_leaving_ends_the_reading_thread() -> None:
    closed = threading.Event()

    def read(ended: threading.Event) -> Told:
        try:
            while True:
                yield page(100)
        finally:
            closed.set()

    events = gather(read, threading.Event())
    next(events)
    events.close()
    assert closed.wait(2)
