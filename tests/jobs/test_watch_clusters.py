import threading
from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from gateways.errors import GatewayError, Unavailable
from jobs.management.commands import watch_clusters
from jobs.management.commands.watch_clusters import LEASE, Command, Watcher
from jobs.sync.sources import PULLED
from portal.models import Lease, SourceState
from portal.sync_runs import SyncRefused
from teams.models import Cluster
from tests.factories import ClusterFactory
from tests.stories import START

pytestmark = pytest.mark.django_db


class FakeWatch:
    """Stands for a ClusterWatch; `error` is what starting raises."""

    made: list["FakeWatch"]
    error: Exception | None = None

    def __init__(self, cluster: Cluster, clock: Any) -> None:
        self.cluster, self.clock = cluster, clock
        self.is_alive, self.stopped = True, False
        FakeWatch.made.append(self)

    def start(self) -> None:
        if FakeWatch.error:
            raise FakeWatch.error

    def stop(self) -> None:
        self.is_alive, self.stopped = False, True


@pytest.fixture(autouse=True)
def _faked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_clusters, "ClusterWatch", FakeWatch)
    monkeypatch.setattr(FakeWatch, "made", [], raising=False)
    monkeypatch.setattr(FakeWatch, "error", None)


def tick(watcher: Watcher, seconds: float) -> None:
    with time_machine.travel(START + timedelta(seconds=seconds), tick=False):
        watcher.tick()


def test_every_cluster_is_watched_under_a_lease_of_its_own() -> None:
    ClusterFactory(slug="one")
    ClusterFactory(slug="two")
    ClusterFactory(slug="archived", archived_at=START)
    watcher = Watcher("me")
    tick(watcher, 0)
    tick(watcher, 5)
    assert sorted(watcher.watches) == ["one", "two"]
    assert len(FakeWatch.made) == 2
    assert set(Lease.objects.values_list("cluster", "source", "holder")) == {
        ("one", LEASE, "me"),
        ("two", LEASE, "me"),
    }
    assert {lease.expires_at for lease in Lease.objects.all()} == {START + timedelta(seconds=35)}


def test_a_second_watcher_stands_by_and_takes_over_when_the_lease_expires() -> None:
    ClusterFactory()
    first, second = Watcher("first"), Watcher("second")
    tick(first, 0)
    tick(second, 29)
    assert second.watches == {}
    tick(second, 30)
    assert list(second.watches) == ["gpu-one"]
    tick(first, 31)
    assert first.watches == {}
    assert FakeWatch.made[0].stopped
    assert not FakeWatch.made[1].stopped
    assert Lease.objects.get().holder == "second"


def test_a_watcher_that_ends_in_order_leaves_the_lease_free() -> None:
    ClusterFactory()
    first, second = Watcher("first"), Watcher("second")
    tick(first, 0)
    first.end()
    assert FakeWatch.made[0].stopped
    tick(second, 1)
    assert list(second.watches) == ["gpu-one"]


def test_a_watch_that_broke_is_started_again_at_the_next_tick() -> None:
    ClusterFactory()
    watcher = Watcher("me")
    tick(watcher, 0)
    FakeWatch.made[0].is_alive = False
    tick(watcher, 5)
    assert len(FakeWatch.made) == 2
    assert watcher.watches["gpu-one"] is FakeWatch.made[1]


def test_an_archived_cluster_is_left() -> None:
    ClusterFactory()
    watcher = Watcher("me")
    tick(watcher, 0)
    Cluster.objects.update(archived_at=START)
    tick(watcher, 5)
    assert watcher.watches == {}
    assert FakeWatch.made[0].stopped


@pytest.mark.parametrize("error", [Unavailable("no answer"), SyncRefused("another cluster")])
def test_a_cluster_that_cannot_be_watched_is_recorded_and_tried_again(error: GatewayError | SyncRefused) -> None:
    ClusterFactory()
    FakeWatch.error = error
    watcher = Watcher("me")
    tick(watcher, 0)
    assert watcher.watches == {}
    told = set(SourceState.objects.values_list("source", "last_error"))
    assert told == {(source, str(error)) for source in PULLED}
    FakeWatch.error = None
    tick(watcher, 5)
    assert list(watcher.watches) == ["gpu-one"]


def test_one_cluster_that_fails_does_not_keep_the_others_from_being_watched() -> None:
    ClusterFactory(slug="a")
    ClusterFactory(slug="b")
    FakeWatch.error = Unavailable("no answer")
    watcher = Watcher("me")
    tick(watcher, 0)
    assert len(FakeWatch.made) == 2


def test_the_command_watches_until_it_is_told_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    handlers: dict[int, Any] = {}
    monkeypatch.setattr(watch_clusters.signal, "signal", handlers.__setitem__)
    monkeypatch.setattr(watch_clusters, "close_old_connections", lambda: None)
    ticks: list[datetime] = []

    def tick_once(self: Watcher) -> None:
        ticks.append(timezone.now())
        handlers[watch_clusters.signal.SIGTERM]()

    monkeypatch.setattr(Watcher, "tick", tick_once)
    ran = threading.Timer(10, lambda: handlers[watch_clusters.signal.SIGTERM]())
    ran.start()
    Command().handle()
    ran.cancel()
    assert len(ticks) == 1


def test_the_command_outlives_a_database_that_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    handlers: dict[int, Any] = {}
    monkeypatch.setattr(watch_clusters.signal, "signal", handlers.__setitem__)
    monkeypatch.setattr(watch_clusters, "close_old_connections", lambda: None)
    monkeypatch.setattr(watch_clusters, "_TICK_SECONDS", 0)
    answers = iter([watch_clusters.DatabaseError("gone"), None])

    def tick(self: Watcher) -> None:
        error = next(answers)
        if error:
            raise error
        handlers[watch_clusters.signal.SIGINT]()

    monkeypatch.setattr(Watcher, "tick", tick)
    Command().handle()
    assert list(answers) == []
    (record,) = [each for each in caplog.records if each.name == watch_clusters.__name__]
    assert "gone" in record.msg["error"]
    assert not record.exc_info
