import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateways.errors import Denied, GatewayError, Gone, Unavailable
from gateways.records import Batch, Change, ObjectVersion, Outage, Page, Recovered, Relisted
from gateways.watching import Clock, Reader, Source, follow

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Thing:
    uid: str
    version: int = 0


def change(uid: str, version: int, deleted: bool = False) -> Change[Thing]:
    return Change(Thing(uid, version), deleted, version)


def page(version: int, *uids: str, is_last: bool = True) -> Page[Thing]:
    return Page(tuple(Thing(uid) for uid in uids), (), version, False, is_last)


def alive(version: int) -> Change[Thing]:
    return Change(None, False, version)


class FakeTime:
    """Stands still but while something waits or a watch runs."""

    def __init__(self) -> None:
        self.passed = 0.0
        self.waits: list[float] = []

    def clock(self) -> Clock:
        return Clock(lambda: START + timedelta(seconds=self.passed), lambda: self.passed, self.wait)

    def wait(self, ended: threading.Event, seconds: float) -> None:
        self.waits.append(seconds)
        self.passed += seconds


@dataclass
class Play:
    """A source that does in order what it is told: for each list and each watch an error or what it gives."""

    lists: list[Any] = field(default_factory=list)
    watches: list[Any] = field(default_factory=list)
    versions: list[Any] | None = None
    time: FakeTime = field(default_factory=FakeTime)
    ended: threading.Event = field(default_factory=threading.Event)
    calls: list[tuple[str, int, int]] = field(default_factory=list)

    def source(self) -> Source[Thing]:
        return Source(self._list, self._watch, self._list_versions if self.versions is not None else None)

    def read(self, since: int | None = None, relist_seconds: float = 600) -> list[Any]:
        return list(Reader(self.source(), self.ended, since, relist_seconds, self.time.clock()).read())

    def _list(self) -> Iterator[Page[Thing]]:
        self.calls.append(("list", 0, 0))
        yield from self._next(self.lists)

    def _list_versions(self) -> Iterator[Page[ObjectVersion]]:
        self.calls.append(("versions", 0, 0))
        yield from self._next(self.versions or [])

    def _watch(self, version: int, seconds: int) -> Iterator[Change[Thing]]:
        self.calls.append(("watch", version, seconds))
        if len(self.watches) == 1:
            self.ended.set()
        yield from self._next(self.watches)
        self.time.passed += seconds

    def _next(self, script: list[Any]) -> Iterator[Any]:
        for part in script.pop(0):
            if isinstance(part, GatewayError):
                raise part
            yield part


def test_a_list_comes_first_and_the_watch_goes_on_from_it() -> None:
    play = Play(lists=[[page(100, "a", is_last=False), page(100, "b")]], watches=[[change("a", 101)]])
    assert play.read() == [page(100, "a", is_last=False), page(100, "b"), change("a", 101)]
    assert play.calls == [("list", 0, 0), ("watch", 100, 60)]


def test_a_watch_that_ends_is_resumed_from_the_last_change_or_bookmark() -> None:
    play = Play(lists=[[page(100)]], watches=[[change("a", 105)], [alive(110)], []])
    told = play.read()
    assert told == [page(100), change("a", 105), alive(105), alive(110), alive(110), alive(110)]
    assert [call[1] for call in play.calls[1:]] == [100, 105, 110]


def test_a_known_version_needs_no_list() -> None:
    play = Play(watches=[[change("a", 51)]])
    assert play.read(since=50) == [change("a", 51)]


def test_a_version_too_old_is_listed_anew_without_a_pause() -> None:
    play = Play(lists=[[page(100)], [page(200)]], watches=[[Gone("too old")], []])
    told = play.read()
    assert [type(event) for event in told[:4]] == [Page, Outage, Page, Recovered]
    assert told[3] == Recovered(START, lossless=False)
    assert play.time.waits == []
    assert [call[:2] for call in play.calls] == [("list", 0), ("watch", 100), ("list", 0), ("watch", 200)]


def test_versions_suffice_where_everything_was_known_before() -> None:
    versions = Page((ObjectVersion("a", "", "a", 1),), (), 300, False, True)
    play = Play(watches=[[Gone("too old")], []], versions=[[versions]])
    told = play.read(since=50)
    assert told[1:3] == [Relisted(versions), Recovered(START, lossless=False)]
    assert play.calls[-1][:2] == ("watch", 300)


def test_an_outage_is_told_at_every_attempt_and_ends_lossless_when_the_version_is_still_known() -> None:
    play = Play(
        lists=[[page(100)]],
        watches=[[change("a", 105)], [Unavailable("down")], [Unavailable("down")], [Unavailable("down")], []],
    )
    told = play.read()
    outages = [event for event in told if isinstance(event, Outage)]
    last_known = START + timedelta(seconds=60)
    assert [outage.since for outage in outages] == [last_known] * 3
    assert told[-2:] == [Recovered(last_known, lossless=True), alive(105)]


def test_after_an_outage_a_short_watch_asks_whether_the_version_is_known() -> None:
    play = Play(lists=[[page(100)], [page(200)]], watches=[[Unavailable("down")], [Gone("too old")], [], []])
    told = play.read()
    assert play.calls[1:3] == [("watch", 100, 60), ("watch", 100, 1)]
    assert [event for event in told if isinstance(event, Recovered)] == [Recovered(START, lossless=False)]


def test_a_change_after_an_outage_is_told_after_the_recovery() -> None:
    play = Play(lists=[[page(100)]], watches=[[Unavailable("down")], [change("a", 101)]])
    assert play.read()[2:] == [Recovered(START, lossless=True), change("a", 101)]


def test_pauses_grow_and_stay_bounded() -> None:
    play = Play(lists=[[Denied("no")]] * 12 + [[page(100)]], watches=[[]])
    play.read()
    waits = play.time.waits
    assert len(waits) == 12
    assert all(0.5 * 2**n <= wait <= 2**n for n, wait in enumerate(waits[:6]))
    assert all(30 <= wait <= 60 for wait in waits[6:])


def test_a_server_may_ask_for_a_longer_pause_up_to_a_minute() -> None:
    play = Play(lists=[[Unavailable("busy", 17)], [Unavailable("busy", 9999)], [page(100)]], watches=[[]])
    play.read()
    assert play.time.waits == [17, 60]


def test_a_server_that_is_back_without_the_version_is_listed_at_once() -> None:
    play = Play(lists=[[page(100)], [page(200)]], watches=[[Unavailable("down")], [Gone("too old")], []])
    play.read()
    assert len(play.time.waits) == 1


def test_a_server_that_forgets_every_version_at_once_is_listed_at_growing_intervals() -> None:
    play = Play(lists=[[page(100)]] * 6, watches=[[Gone("too old")]] * 5 + [[]])
    play.read()
    assert len(play.time.waits) == 4
    assert play.time.waits[-1] > 4


def test_a_watch_that_ends_at_once_is_not_asked_for_in_a_loop() -> None:
    play = Play(lists=[[page(0)]], watches=[[], [], []])
    source = play.source()
    at_once = Source(source.list_pages, lambda version, seconds: source.watch(version, 0))
    list(Reader(at_once, play.ended, None, 600, play.time.clock()).read())
    assert play.time.waits == [1, 1, 1]


def test_the_list_is_repeated_at_its_interval_and_the_watch_misses_nothing() -> None:
    play = Play(lists=[[page(100)], [page(500)]], watches=[[change("a", 101)], [], []])
    told = play.read(relist_seconds=120)
    assert told == [page(100), change("a", 101), alive(101), alive(101), page(500), alive(101)]
    assert play.calls[-1][:2] == ("watch", 101)


def test_a_server_restored_from_a_backup_is_noticed_at_the_next_list() -> None:
    play = Play(lists=[[page(100)], [page(40)], [page(41)]], watches=[[change("a", 101)], []])
    told = play.read(relist_seconds=60)
    assert [type(event) for event in told[3:7]] == [Page, Outage, Page, Recovered]
    assert told[6].lossless is False
    assert play.calls[-1][:2] == ("watch", 41)


def test_a_list_interrupted_by_an_outage_begins_again() -> None:
    play = Play(lists=[[page(100, "a", is_last=False), Unavailable("down")], [page(100, "a")]], watches=[[]])
    told = play.read()
    assert [type(event) for event in told[:4]] == [Page, Outage, Page, Recovered]


def run(source: Source[Thing], until: Callable[[Any], bool], **options: Any) -> list[Any]:
    """What follow tells up to the event that `until` accepts."""
    stop = threading.Event()
    told = []
    for event in follow(source, stop, **options):
        told.append(event)
        if until(event):
            stop.set()
    return told


def watched(*changes: Change[Thing]) -> Source[Thing]:
    """Tells these changes, then waits."""
    rest = list(changes)

    def watch(version: int, seconds: int) -> Iterator[Change[Thing]]:
        while rest:
            yield rest.pop(0)
        time.sleep(0.3)

    return Source(lambda: iter([page(100)]), watch)


def test_follow_gathers_changes_and_keeps_the_newest_of_each_object() -> None:
    source = watched(change("a", 101), change("b", 102), change("a", 103), alive(110))
    first, batch = run(source, lambda event: isinstance(event, Batch))
    assert first == page(100)
    assert batch == Batch((change("b", 102), change("a", 103)), 110)


def test_follow_keeps_a_deletion_beside_the_object_that_follows_it() -> None:
    source = watched(change("old", 101), change("old", 102, deleted=True), change("new", 103))
    batch = run(source, lambda event: isinstance(event, Batch))[-1]
    assert batch.changes == (change("old", 102, deleted=True), change("new", 103))


def test_follow_never_gathers_more_than_five_hundred() -> None:
    source = watched(*(change(f"thing-{n}", 101 + n) for n in range(1200)))
    told = run(source, lambda event: isinstance(event, Batch) and event.resource_version == 1300)
    batches = [event for event in told if isinstance(event, Batch)]
    assert max(len(batch.changes) for batch in batches) == 500
    assert sum(len(batch.changes) for batch in batches) == 1200


def test_follow_tells_every_malformed_object() -> None:
    source = watched(Change(None, False, 101, "one"), Change(None, False, 102, "two"))
    batch = run(source, lambda event: isinstance(event, Batch))[-1]
    assert [c.malformed for c in batch.changes] == ["one", "two"]


def test_follow_tells_changes_before_what_comes_after_them() -> None:
    def watch(version: int, seconds: int) -> Iterator[Change[Thing]]:
        yield change("a", 101)
        raise Unavailable("down")

    told = run(Source(lambda: iter([page(100)]), watch), lambda event: isinstance(event, Outage))
    assert [type(event) for event in told] == [Page, Batch, Outage]


def test_a_quiet_watch_still_gives_signs_of_life() -> None:
    told = run(watched(), lambda event: isinstance(event, Batch))
    assert told[-1] == Batch((), 100)


def test_follow_stops_within_a_second_while_the_server_hangs() -> None:
    hanging = threading.Event()

    def watch(version: int, seconds: int) -> Iterator[Change[Thing]]:
        hanging.wait(5)
        yield from ()

    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    began = time.monotonic()
    assert list(follow(Source(lambda: iter([page(100)]), watch), stop)) == [page(100)]
    assert time.monotonic() - began < 1
    hanging.set()


def test_follow_reads_two_pages_ahead_at_most() -> None:
    given: list[int] = []

    def pages() -> Iterator[Page[Thing]]:
        for n in range(10):
            given.append(n)
            yield page(100, is_last=n == 9)

    stop = threading.Event()
    told = follow(Source(pages, lambda version, seconds: iter(())), stop)
    next(told)
    time.sleep(0.1)
    assert len(given) <= 4
    stop.set()
    list(told)


def test_a_bug_in_reading_is_raised_where_it_is_seen() -> None:
    def pages() -> Iterator[Page[Thing]]:
        raise ZeroDivisionError
        yield

    with pytest.raises(ZeroDivisionError):
        list(follow(Source(pages, lambda version, seconds: iter(())), threading.Event()))


def test_leaving_follow_ends_its_thread() -> None:
    before = threading.active_count()
    told = follow(watched(), threading.Event())
    next(told)
    told.close()  # type: ignore[attr-defined]
    end = time.monotonic() + 3
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.02)
    assert threading.active_count() == before
