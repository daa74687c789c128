from datetime import datetime, timedelta

import pytest

from emulator.clock import Clock
from emulator.cluster import Cluster
from emulator.records import Records
from emulator.standstill import Standstills
from emulator.store import Store
from tests.emulator.scene import START


class Alarm:
    """Does nothing but note when it was called, and wants to be called at given seconds."""

    def __init__(self, *seconds: int) -> None:
        self.dues = [START + timedelta(seconds=s) for s in seconds]
        self.called: list[float] = []

    def reconcile(self, now: datetime) -> None:
        self.called.append((now - START).total_seconds())
        self.dues = [due for due in self.dues if due > now]

    def next_due(self) -> datetime | None:
        return self.dues[0] if self.dues else None


class Restless:
    def __init__(self, store: Store) -> None:
        self.store = store

    def reconcile(self, now: datetime) -> None:
        self.store.create("things", {"metadata": {"name": str(self.store.version)}}, now)

    def next_due(self) -> datetime | None:
        return None


def cluster(store: Store, controllers: list[Alarm | Restless], reporters: list[Alarm]) -> Cluster:
    return Cluster(store, Records(store), Clock(START, paused=True), Standstills(), controllers, reporters)


def test_every_due_instant_is_visited_in_order() -> None:
    first, second = Alarm(5, 20, 90), Alarm(10)
    cluster(Store("test"), [first, second], []).step(60)
    assert first.called == second.called == [0, 5, 10, 20, 60]


def test_reporters_run_once_at_the_end() -> None:
    reporter = Alarm()
    cluster(Store("test"), [Alarm(5, 10)], [reporter]).run_until(START + timedelta(seconds=60))
    assert reporter.called == [60]


def test_controllers_that_never_rest_are_an_error() -> None:
    store = Store("test")
    with pytest.raises(RuntimeError, match="rest"):
        cluster(store, [Restless(store)], []).step(1)
