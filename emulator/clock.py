"""The time the emulated cluster lives in: runs with the real one, faster if asked, and can be held and stepped."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta


class Clock:
    """`now()` is aware UTC. A paused clock moves only by `step`; `speed` world seconds pass in one real second."""

    def __init__(
        self,
        start: datetime,
        *,
        speed: float = 1.0,
        paused: bool = False,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.speed = speed
        self.running = not paused
        self._monotonic = monotonic
        self._base = start
        self._mark = monotonic()

    def now(self) -> datetime:
        if not self.running:
            return self._base
        return self._base + timedelta(seconds=(self._monotonic() - self._mark) * self.speed)

    def pause(self) -> None:
        self._rebase(self.now())
        self.running = False

    def resume(self) -> None:
        self._rebase(self.now())
        self.running = True

    def step(self, seconds: float) -> None:
        """Jump ahead, paused or not."""
        self._rebase(self.now() + timedelta(seconds=seconds))

    def _rebase(self, now: datetime) -> None:
        self._base, self._mark = now, self._monotonic()


def api_time(moment: datetime) -> str:
    """As Kubernetes writes times: whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def api_micro_time(moment: datetime) -> str:
    """As events carry theirs: microseconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
