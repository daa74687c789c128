"""One emulated cluster: its objects, its time, and the controllers that keep it moving.

Controllers run only when they are told to, one after the other, so that the same writes and the same steps of the clock
always give the same story.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Protocol

from emulator.clock import Clock
from emulator.records import Records
from emulator.standstill import Standstills
from emulator.store import Store

_MOST_ROUNDS: Final = 1000


class Controller(Protocol):
    """Compares what is there with what should be and writes the difference."""

    def reconcile(self, now: datetime) -> None: ...

    def next_due(self) -> datetime | None:
        """When it has something to do although nothing changes until then."""


class Cluster:
    """`reporters` only report what is there; they run once at the end, not for every instant that passed."""

    def __init__(
        self,
        store: Store,
        records: Records,
        clock: Clock,
        standstills: Standstills,
        controllers: Sequence[Controller],
        reporters: Sequence[Controller],
    ) -> None:
        self.store, self.records, self.clock, self.standstills = store, records, clock, standstills
        self._controllers, self._reporters = controllers, reporters

    def step(self, seconds: float) -> None:
        """React to what was written, then move the clock ahead and live through everything that happens meanwhile."""
        self.run_until(self.clock.now())
        self.clock.step(seconds)
        self.run_until(self.clock.now())

    def run_until(self, end: datetime) -> None:
        """Let the controllers act at every instant that has something due, up to the end."""
        due = self._next_due()
        while due is not None and due < end:
            self._settle(self._controllers, due)
            due = self._next_due()
        self._settle((*self._controllers, *self._reporters), end)

    def _next_due(self) -> datetime | None:
        dues = (controller.next_due() for controller in self._controllers)
        return min((due for due in dues if due is not None), default=None)

    def _settle(self, controllers: Sequence[Controller], now: datetime) -> None:
        for _ in range(_MOST_ROUNDS):
            version = self.store.version
            for controller in controllers:
                controller.reconcile(now)
            if self.store.version == version:
                return
        raise RuntimeError("the controllers do not come to rest")
