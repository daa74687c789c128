"""Lists, then watches, for ever: what a watcher process consumes."""

import random
import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Generic, Protocol, TypeVar

from gateways.errors import GatewayError, Gone, Unavailable
from gateways.gathering import gather
from gateways.records import Batch, Change, ObjectVersion, Outage, Page, Recovered, Relisted
from gateways.watches import WATCH_SECONDS


class Identified(Protocol):
    """A record of an object with a uid."""

    @property
    def uid(self) -> str: ...


Record = TypeVar("Record", bound=Identified)

RELIST_SECONDS: Final = 600.0

_RELIST_AGAIN_SECONDS: Final = 3.0 * WATCH_SECONDS
_PROBE_SECONDS: Final = 1
_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Source(Generic[Record]):
    """How one kind is read. `watch` takes a resourceVersion and for how many seconds. With `list_versions` re-lists
    are metadata-only, without it they are full; they come every `relist_seconds`."""

    list_pages: Callable[[], Iterator[Page[Record]]]
    watch: Callable[[int, int], Iterator[Change[Record]]]
    list_versions: Callable[[], Iterator[Page[ObjectVersion]]] | None = None
    relist_seconds: float = RELIST_SECONDS


@dataclass(frozen=True, slots=True)
class Clock:
    """Where time comes from: `now` for what is told, `seconds` for intervals, `wait` to pause until an event."""

    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    seconds: Callable[[], float] = time.monotonic
    wait: Callable[[threading.Event, float], object] = threading.Event.wait


Told = Page[Record] | Relisted | Batch[Record] | Outage | Recovered
Read = Page[Record] | Relisted | Change[Record] | Outage | Recovered


def follow(
    source: Source[Record],
    stop: threading.Event,
    *,
    since: int | None = None,
    relist_seconds: float | None = None,
) -> Iterator[Told[Record]]:
    """Everything that happens to a kind until `stop` is set, which is heeded within half a second.

    Begins with a full list, or with the changes after the resourceVersion `since` where the server still knows it;
    changes come in batches of what a fifth of a second brought. Never raises GatewayError: reading is tried again
    after growing pauses, Outage and Recovered say so. A list that an Outage interrupts is void. Reading happens in a
    thread of its own, at most two pages ahead; left alone it ends with the watch it is in, a good minute later.
    """
    return gather(lambda ended: Reader(source, ended, since, relist_seconds or source.relist_seconds).read(), stop)


@dataclass
class Reader(Generic[Record]):
    """Reads one source, in the calling thread, until `ended` is set."""

    source: Source[Record]
    ended: threading.Event
    since: int | None
    relist_seconds: float
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self._version = self.since
        self._is_complete = self.since is not None  # whether the consumer once had everything
        self._relist_at = self.clock.seconds() + self.relist_seconds
        self._known_at = self.clock.now()
        self._outage: datetime | None = None
        self._lossless = True
        self._failures = 0
        self._was_gone = False
        self._short_watches = 0

    def read(self) -> Generator[Read[Record], None, None]:
        """Pages, single changes (one without a record when a watch ended well), outages and recoveries."""
        while not self.ended.is_set():
            try:
                if self._version is None or self.clock.seconds() >= self._relist_at:
                    yield from self._list()
                yield from self._watch()
            except GatewayError as error:
                yield self._failed(error)
                self._pause(error)

    def _list(self) -> Iterator[Read[Record]]:
        self._relist_at = self.clock.seconds() + _RELIST_AGAIN_SECONDS  # if this one fails, the watch goes on meanwhile
        page: Page[Any] | None = None
        if self._is_complete and self.source.list_versions is not None:
            for page in self.source.list_versions():
                yield Relisted(page)
        else:
            for page in self.source.list_pages():
                yield page
        self._is_complete = True
        self._relist_at = self.clock.seconds() + self.relist_seconds
        listed = page.resource_version if page else 0
        if self._version is None:
            self._version, self._lossless = listed, False
            yield from self._succeeded()
        elif listed < self._version:
            # A watch from a version to come is silent until then, without an error.
            raise Gone("the server went back to an older state: was it restored from a backup?")
        # Otherwise the watch goes on from its own version: it tells what came and went before the list, too.

    def _watch(self) -> Iterator[Read[Record]]:
        began, version, told = self.clock.seconds(), self._version or 0, False
        # After an outage a short watch finds out whether the version is still known: the server says so at once or,
        # by ending the watch in peace, not at all.
        for change in self.source.watch(version, _PROBE_SECONDS if self._outage else WATCH_SECONDS):
            self._version, told = change.resource_version or self._version, True
            yield from self._watched()
            yield change
            if self.ended.is_set():
                return
        yield from self._watched()
        yield Change(None, False, self._version or 0)
        # A server that ends watches at once, or does not know the kind, is not asked in a loop.
        is_short = not told and self.clock.seconds() - began < _PROBE_SECONDS / 2
        self._short_watches = self._short_watches + 1 if is_short else 0
        if is_short:
            self.clock.wait(self.ended, _pause_after(self._short_watches))

    def _watched(self) -> Iterator[Recovered]:
        self._failures, self._was_gone = 0, False
        return self._succeeded()

    def _succeeded(self) -> Iterator[Recovered]:
        outage, lossless = self._outage, self._lossless
        self._known_at = self.clock.now()
        self._outage, self._lossless = None, True
        if outage is not None:
            yield Recovered(outage, lossless)

    def _failed(self, error: GatewayError) -> Outage:
        if isinstance(error, Gone) and not self._was_gone:
            self._failures = 0  # the server is there: it may be listed at once
        self._failures += 1
        self._was_gone = isinstance(error, Gone)
        self._outage = self._outage or self._known_at
        if self._was_gone:
            self._version, self._lossless = None, False
        return Outage(error, self._outage)

    def _pause(self, error: GatewayError) -> None:
        if isinstance(error, Gone) and self._failures == 1:
            return
        asked = error.retry_after if isinstance(error, Unavailable) else None
        self.clock.wait(self.ended, min(max(_pause_after(self._failures), asked or 0), _LONGEST_PAUSE))


def _pause_after(failures: int) -> float:
    return min(_FIRST_PAUSE * 2.0 ** min(failures - 1, 10), _LONGEST_PAUSE) * random.uniform(0.5, 1)  # noqa: S311
