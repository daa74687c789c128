"""Single changes, read in a thread of their own, to batches for whoever writes them down."""

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any, Final

from gateways.records import Batch, Change
from scheduling.objects import Workload
from scheduling.overwritten import is_overwritten

_MOST_CHANGES: Final = 500
_GATHER_SECONDS: Final = 0.2
_STOP_SECONDS: Final = 0.5
_READ_AHEAD: Final = 2

Reading = Callable[[threading.Event], Generator[Any, None, None]]
"""Makes the generator to read from; the event ends it."""


def gather(reading: Reading, stop: threading.Event) -> Generator[Any, None, None]:
    """What `reading` tells, until `stop` is set or it raises; changes that come within a moment as one Batch. What was
    read and not yet told at a stop is left out: the next reader goes on from what was told."""
    waiting: queue.Queue[Any] = queue.Queue(_READ_AHEAD)
    ended = threading.Event()
    threading.Thread(target=_pump, args=(reading(ended), waiting, ended), daemon=True, name="watch").start()
    batch = Batching()
    try:
        while not stop.is_set():
            try:
                item = waiting.get(timeout=batch.patience(time.monotonic()))
            except queue.Empty:
                yield from batch.take()
                continue
            if isinstance(item, Change):
                batch.add(item, time.monotonic())
                if batch.is_due(time.monotonic()):
                    yield from batch.take()
                continue
            yield from batch.take()
            if isinstance(item, Exception):
                raise item
            yield item
    finally:
        ended.set()


def _pump(told: Generator[Any, None, None], waiting: "queue.Queue[Any]", ended: threading.Event) -> None:
    try:
        for item in told:
            if not _put(waiting, item, ended):
                return
    except Exception as error:
        _put(waiting, error, ended)  # raised where the consumer sees it
    finally:
        told.close()


def _put(waiting: "queue.Queue[Any]", item: object, ended: threading.Event) -> bool:
    """Whether somebody still wanted it."""
    while not ended.is_set():
        try:
            waiting.put(item, timeout=_STOP_SECONDS)
        except queue.Full:
            continue
        return True
    return False


class Batching:
    """Changes on their way to a batch; of each object only the newest, and of a Workload also those that told what the
    next one tells no more."""

    def __init__(self) -> None:
        self._changes: dict[object, Change[Any]] = {}
        self._version = 0
        self._due: float | None = None

    def add(self, change: Change[Any], seconds: float) -> None:
        self._due = self._due if self._due is not None else seconds + _GATHER_SECONDS
        self._version = change.resource_version or self._version
        if change.record is not None:
            before = self._changes.pop(change.record.uid, None)
            if before is not None and _is_overwritten(before, change):
                self._changes[object()] = before
            self._changes[change.record.uid] = change
        elif change.malformed:
            self._changes[object()] = change

    def patience(self, seconds: float) -> float:
        """How long to wait for the next change."""
        return _STOP_SECONDS if self._due is None else max(0.0, self._due - seconds)

    def is_due(self, seconds: float) -> bool:
        return len(self._changes) >= _MOST_CHANGES or (self._due is not None and seconds >= self._due)

    def take(self) -> Iterator[Batch[Any]]:
        if self._due is not None:
            batch = Batch(tuple(self._changes.values()), self._version)
            self._changes, self._due = {}, None
            yield batch


def _is_overwritten(before: Change[Any], change: Change[Any]) -> bool:
    look, later = before.record, change.record
    return isinstance(look, Workload) and isinstance(later, Workload) and is_overwritten(look, later)
