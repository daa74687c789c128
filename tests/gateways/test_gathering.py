import threading
import time
from collections.abc import Callable, Generator
from datetime import UTC, datetime
from typing import Any

import pytest

from gateways.errors import Unavailable
from gateways.gathering import Batching, gather
from gateways.records import Batch, Change, Outage
from tests.gateways.things import alive, change, page
from tests.stories import Job

Told = Generator[Any, None, None]


def batch_of(*changes: Change[Any]) -> Batch[Any]:
    batching = Batching()
    for each in changes:
        batching.add(each, 0)
    (batch,) = batching.take()
    return batch


def test_of_each_object_the_newest_change_is_kept_in_order() -> None:
    batch = batch_of(change("a", 101), change("b", 102), change("a", 103), alive(110))
    assert batch == Batch((change("b", 102), change("a", 103)), 110)


def test_an_eviction_that_the_next_change_tells_no_more_is_kept_before_it() -> None:
    job = Job().admit(1)
    looks = [
        job.evict(5).record,
        job.release(6).record,
        job.admit(7).record,
        job.condition("PodsReady", True, 8).record,
    ]
    batch = batch_of(*(Change(look, False, look.resource_version) for look in looks))
    assert [each.record for each in batch.changes] == [looks[0], looks[1], looks[3]]


def test_a_deletion_is_kept_beside_the_object_that_follows_it() -> None:
    batch = batch_of(change("old", 101), change("old", 102, deleted=True), change("new", 103))
    assert batch.changes == (change("old", 102, deleted=True), change("new", 103))


def test_every_malformed_object_is_told() -> None:
    batch = batch_of(Change(None, False, 101, "one"), Change(None, False, 102, "two"))
    assert [c.malformed for c in batch.changes] == ["one", "two"]


def test_a_version_that_cannot_be_read_does_not_undo_the_last() -> None:
    assert batch_of(change("a", 101), Change(None, False, 0, "no metadata")).resource_version == 101


def test_a_sign_of_life_is_an_empty_batch() -> None:
    assert batch_of(alive(100)) == Batch((), 100)


def test_a_batch_is_due_a_fifth_of_a_second_after_its_first_change() -> None:
    batching = Batching()
    assert not batching.is_due(1000)
    batching.add(change("a", 101), 1000)
    batching.add(change("b", 102), 1000.125)
    assert batching.patience(1000.125) == pytest.approx(0.075)
    assert not batching.is_due(1000.125)
    assert batching.is_due(1000.2)
    list(batching.take())
    assert not batching.is_due(2000)
    assert list(batching.take()) == []


def test_a_batch_is_due_with_five_hundred_objects() -> None:
    batching = Batching()
    for n in range(500):
        assert not batching.is_due(0)
        batching.add(change(f"thing-{n}", 101 + n), 0)
    assert batching.is_due(0)


def told_then_silence(*told: Any) -> Callable[[threading.Event], Told]:
    def read(ended: threading.Event) -> Told:
        yield from told
        ended.wait(5)

    return read


def test_batches_and_all_else_are_told_in_order() -> None:
    outage = Outage(Unavailable("down"), datetime(2026, 3, 1, tzinfo=UTC))
    changes = [change(f"thing-{n}", 101 + n) for n in range(1200)]
    stop, events = threading.Event(), []
    for event in gather(told_then_silence(page(100), *changes, outage), stop):
        events.append(event)
        if event is outage:
            stop.set()
    assert events[0] == page(100)
    assert events[-1] is outage
    assert [c for batch in events[1:-1] for c in batch.changes] == changes


def test_changes_are_told_soon_although_reading_goes_on() -> None:
    events = gather(told_then_silence(change("a", 101)), threading.Event())
    began = time.monotonic()
    assert next(events) == Batch((change("a", 101),), 101)
    assert time.monotonic() - began < 2
    events.close()


def test_a_stop_is_heeded_within_a_second_while_reading_hangs() -> None:
    stop = threading.Event()
    events = gather(told_then_silence(page(100)), stop)
    assert next(events) == page(100)
    threading.Timer(0.05, stop.set).start()
    began = time.monotonic()
    assert list(events) == []
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
