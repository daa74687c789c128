from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings

from jobs import tasks
from jobs.sync.sources import EVENTS
from portal.celery import app
from portal.models import Lease, SyncRun
from portal.sync_runs import hold_lease
from teams.models import Cluster
from tests.factories import ClusterFactory, SourceStateFactory
from tests.stories import START

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _at_start() -> Any:
    with time_machine.travel(START, tick=False) as traveller:
        yield traveller


@pytest.fixture
def pulled(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """(cluster, whether its workloads were due) per pull."""
    found: list[tuple[str, bool]] = []

    def pull(cluster: Cluster, clock: object, is_due: Callable[[str], bool]) -> None:
        found.append((cluster.slug, is_due("workloads")))

    monkeypatch.setattr(tasks, "pull_cluster", pull)
    return found


def test_one_task_per_cluster_that_expires_with_its_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[tuple[int, ...], float]] = []
    monkeypatch.setattr(tasks.pull_one, "apply_async", lambda args, expires: sent.append((args, expires)))
    one, two = ClusterFactory(slug="one"), ClusterFactory(slug="two")
    ClusterFactory(slug="archived", archived_at=START)
    tasks.pull_all()
    assert sent == [((one.pk,), settings.PULL_SECONDS), ((two.pk,), settings.PULL_SECONDS)]


def test_a_pull_gives_its_lease_back(pulled: list[tuple[str, bool]]) -> None:
    tasks.pull_one(ClusterFactory().pk)
    assert pulled == [("gpu-one", True)]
    assert not Lease.objects.exists()


def test_a_pull_gives_its_lease_back_when_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(tasks, "pull_cluster", fail)
    with pytest.raises(ZeroDivisionError):
        tasks.pull_one(ClusterFactory().pk)
    assert not Lease.objects.exists()


def test_a_pull_without_the_lease_is_skipped(pulled: list[tuple[str, bool]]) -> None:
    cluster = ClusterFactory()
    hold_lease("pull", cluster.slug, holder="another worker", now=START, seconds=60)
    tasks.pull_one(cluster.pk)
    assert pulled == []
    assert Lease.objects.get().holder == "another worker"


def test_a_pull_that_lost_its_lease_reads_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = ClusterFactory()

    def pull(here: Cluster, clock: object, is_due: Callable[[str], bool]) -> None:
        Lease.objects.update(holder="another worker")
        assert not is_due("workloads")

    monkeypatch.setattr(tasks, "pull_cluster", pull)
    tasks.pull_one(cluster.pk)
    assert Lease.objects.get().holder == "another worker"


@pytest.mark.parametrize(("age", "is_due"), [(None, True), (0, False), (30, False), (31, True), (3600, True)])
def test_what_a_watch_brought_within_half_an_interval_is_not_due(
    pulled: list[tuple[str, bool]], age: int | None, is_due: bool
) -> None:
    if age is not None:
        SourceStateFactory(last_good_at=START - timedelta(seconds=age))
    tasks.pull_one(ClusterFactory().pk)
    assert pulled == [("gpu-one", is_due)]


@pytest.mark.parametrize(("age", "is_due"), [(None, True), (299, False), (301, True)])
def test_events_are_read_well_within_the_hour_for_which_they_are_kept(
    monkeypatch: pytest.MonkeyPatch, age: int | None, is_due: bool
) -> None:
    if age is not None:
        SourceStateFactory(source=EVENTS, last_good_at=START - timedelta(seconds=age))
    asked: list[bool] = []
    monkeypatch.setattr(tasks, "pull_cluster", lambda cluster, clock, due: asked.append(due(EVENTS)))
    tasks.pull_one(ClusterFactory().pk)
    assert asked == [is_due]


def test_old_runs_are_pruned() -> None:
    for days in (13, 15):
        at = START - timedelta(days=days)
        SyncRun.objects.create(
            source="nodes", cluster="gpu-one", started_at=at, ended_at=at, status=SyncRun.Status.CHANGED
        )
    tasks.prune_old_runs()
    assert SyncRun.objects.count() == 1


def test_old_notices_are_pruned(monkeypatch: pytest.MonkeyPatch) -> None:
    pruned: list[datetime] = []
    monkeypatch.setattr(tasks, "prune_notices", pruned.append)
    tasks.prune_old_notices()
    assert pruned == [START]


def test_every_scheduled_task_exists_and_expires_with_its_interval() -> None:
    app.loader.import_default_modules()  # as a worker does
    for entry in app.conf.beat_schedule.values():
        assert entry["task"] in app.tasks
        assert entry["options"]["expires"] == entry["schedule"]


def test_every_task_has_time_limits() -> None:
    for name, task in app.tasks.items():
        if name.startswith("jobs."):
            assert 0 < task.soft_time_limit < task.time_limit


def test_hours_are_closed_cluster_by_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[int, ...]] = []
    closed: list[tuple[str, datetime]] = []
    monkeypatch.setattr(tasks.close_hours_of, "apply_async", lambda args, expires: sent.append(args))
    monkeypatch.setattr(tasks, "close_hours", lambda cluster, now: closed.append((cluster.slug, now)))
    one = ClusterFactory(slug="one")
    ClusterFactory(slug="archived", archived_at=START)
    tasks.close_all_hours()
    assert sent == [(one.pk,)]
    tasks.close_hours_of(one.pk)
    assert closed == [("one", START)]
