import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from gateways.errors import Denied, GatewayError, Gone, Unavailable
from gateways.records import Change, ObjectVersion, Outage, Page, Recovered, Relisted
from gateways.watches import WATCH_SECONDS
from gateways.watching import Clock, Reader, Source
from tests.gateways.things import Thing, alive, change, page

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


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
    assert play.calls == [("list", 0, 0), ("watch", 100, WATCH_SECONDS)]


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
    last_known = START + timedelta(seconds=WATCH_SECONDS)
    assert [outage.since for outage in outages] == [last_known] * 3
    assert told[-2:] == [Recovered(last_known, lossless=True), alive(105)]


def test_after_an_outage_a_short_watch_asks_whether_the_version_is_known() -> None:
    play = Play(lists=[[page(100)], [page(200)]], watches=[[Unavailable("down")], [Gone("too old")], [], []])
    told = play.read()
    assert play.calls[1:3] == [("watch", 100, WATCH_SECONDS), ("watch", 100, 1)]
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
    first, second, third = play.time.waits
    assert 0.5 <= first <= 1 <= second <= 2 <= third <= 4


def test_the_list_is_repeated_at_its_interval_and_the_watch_misses_nothing() -> None:
    play = Play(lists=[[page(100)], [page(500)]], watches=[[change("a", 101)], [], []])
    told = play.read(relist_seconds=2 * WATCH_SECONDS)
    assert told == [page(100), change("a", 101), alive(101), alive(101), page(500), alive(101)]
    assert play.calls[-1][:2] == ("watch", 101)


def test_a_server_restored_from_a_backup_is_noticed_at_the_next_list() -> None:
    play = Play(lists=[[page(100)], [page(40)], [page(41)]], watches=[[change("a", 101)], []])
    told = play.read(relist_seconds=WATCH_SECONDS)
    assert [type(event) for event in told[3:7]] == [Page, Outage, Page, Recovered]
    assert told[6].lossless is False
    assert play.calls[-1][:2] == ("watch", 41)


def test_a_list_interrupted_by_an_outage_begins_again() -> None:
    play = Play(lists=[[page(100, "a", is_last=False), Unavailable("down")], [page(100, "a")]], watches=[[]])
    told = play.read()
    assert [type(event) for event in told[:4]] == [Page, Outage, Page, Recovered]
    assert told[3].lossless is False


def test_a_relist_that_fails_does_not_keep_the_watch_waiting() -> None:
    play = Play(lists=[[page(100)], [Unavailable("busy")], [page(300)]], watches=[[], [change("a", 101)], *[[]] * 4])
    told = play.read(relist_seconds=WATCH_SECONDS)
    kinds = [call[0] for call in play.calls]
    assert kinds == ["list", "watch", "list", *["watch"] * 4, "list", "watch"]
    assert [event for event in told if isinstance(event, Recovered)] == [
        Recovered(START + timedelta(seconds=WATCH_SECONDS), lossless=True)
    ]


def test_an_outage_at_a_relist_is_over_only_when_the_watch_goes_on() -> None:
    """The list alone does not tell what came and went."""
    play = Play(
        lists=[[page(100)], [Unavailable("down")], [page(300)]],
        watches=[[], [Unavailable("down")], [Gone("too old")], []],
    )
    told = play.read(relist_seconds=WATCH_SECONDS)
    assert [event for event in told if isinstance(event, Recovered)] == [
        Recovered(START + timedelta(seconds=WATCH_SECONDS), lossless=False)
    ]
