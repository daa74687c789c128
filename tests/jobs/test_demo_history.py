"""The demo's past, beside an emulated cluster of the present that the portal reads."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from emulator.embedded import running
from emulator.kubeconfig import write_kubeconfig
from emulator.server import Options
from gateways.errors import Unavailable
from jobs.models import ClosedHours, Eviction, QueueHour, Span, TeamHour, TeamNow, Workload
from jobs.past import cluster as past_cluster
from jobs.past.ledger import known_from
from jobs.sync.pull import pull_cluster
from jobs.usage.hours import close_hours, rebuild_hours
from notices.models import Notice
from portal.models import Gap
from teams.models import Cluster, Team

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="the demo's database is SQLite"),
]
DAYS = 2


@pytest.fixture
def ledger(tmp_path: Path, django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """A database of its own: the command leaves the one it was called in."""
    before = connection.settings_dict["NAME"]
    with django_db_blocker.unblock():
        connection.close()
        connection.settings_dict["NAME"] = tmp_path / "ledger.sqlite3"
        call_command("migrate", verbosity=0)
        yield
        connection.close()
        connection.settings_dict["NAME"] = before


@pytest.fixture
def _a_day_with_evictions() -> Iterator[None]:
    """What arrives depends on the minute, and now and then nobody is evicted for two days."""
    with time_machine.travel(datetime(2026, 10, 8, 12, 30, tzinfo=UTC)):
        yield


@pytest.fixture
def cluster(
    _a_day_with_evictions: None,
    ledger: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: LazySettings,
) -> Iterator[Cluster]:
    """Read once; its own hours are closed."""
    settings.VAR_DIR = tmp_path
    kubeconfig = tmp_path / "kubeconfig"
    monkeypatch.setenv("PORTAL_DEMO_KUBECONFIG", str(kubeconfig))
    with running(Options(paused=True)) as emulator:
        write_kubeconfig(kubeconfig, emulator.url, emulator.tokens)
        call_command("import_setup", "deploy/demo.yaml", stdout=StringIO())
        found = Cluster.objects.get()
        pull_cluster(found, timezone.now)
        close_hours(found, timezone.now())
        yield found


def fill() -> None:
    call_command("demo_history", days=DAYS, stdout=StringIO())


def test_the_past_is_there_once_and_sound_and_the_present_as_it_was(cluster: Cluster) -> None:
    present = set(Workload.objects.values_list("uid", "state", "gone_before"))
    held, told = sorted(TeamNow.objects.values_list("team", "own", "borrowed")), Notice.objects.count()
    first = known_from(cluster)
    assert first is not None
    fill()
    begin = known_from(cluster)
    assert begin is not None
    assert timedelta(days=DAYS, hours=7) <= first - begin < timedelta(days=DAYS, hours=8)
    past = Workload.objects.exclude(uid__in=[uid for uid, *_ in present])
    assert past.count() > 20 * DAYS
    assert not past.filter(gone_before__isnull=True).exists()
    assert past.filter(created_at__gte=first - timedelta(hours=7)).count() == 0
    assert set(Workload.objects.exclude(pk__in=past).values_list("uid", "state", "gone_before")) == present
    assert sorted(TeamNow.objects.values_list("team", "own", "borrowed")) == held
    assert Eviction.objects.filter(workload__in=past, span__workload__in=past).exists()
    assert (Notice.objects.count(), Gap.objects.count()) == (told, 0)
    call_command("check_ledger", stdout=StringIO())
    before = (Workload.objects.count(), Span.objects.count(), known_from(cluster))
    fill()
    assert (Workload.objects.count(), Span.objects.count(), known_from(cluster)) == before


def test_its_hours_belong_to_the_teams_and_are_those_of_the_ledger(cluster: Cluster) -> None:
    fill()
    closed = ClosedHours.objects.get()
    assert closed.begun_at == known_from(cluster)
    assert timezone.now() - closed.until < timedelta(hours=2)
    assert set(TeamHour.objects.values_list("team", flat=True).distinct()) == set(
        Team.objects.values_list("pk", flat=True)
    )
    days = {hour.date() for hour in TeamHour.objects.filter(borrowed__gt=0).values_list("hour", flat=True)}
    assert len(days) >= DAYS
    assert QueueHour.objects.filter(lent_high__gt=0, hour__lt=closed.begun_at + timedelta(days=DAYS)).exists()
    assert rebuild_hours(cluster) == 0


def test_what_ends_in_the_middle_leaves_nothing_and_the_next_start_begins_again(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, settings: LazySettings
) -> None:
    before = (Workload.objects.count(), known_from(cluster))
    step = past_cluster.PastCluster._step

    def broken(lived: past_cluster.PastCluster, end: object) -> past_cluster.Told | None:
        if lived._version > 1000:
            raise Unavailable("killed")
        return step(lived, end)  # type: ignore[arg-type]

    monkeypatch.setattr(past_cluster.PastCluster, "_step", broken)
    with pytest.raises(Unavailable):
        fill()
    assert (Workload.objects.count(), known_from(cluster)) == before
    assert [path.name for path in settings.VAR_DIR.glob("past*")] == []
    (settings.VAR_DIR / "past.sqlite3").write_text("left behind by a process that was killed")
    monkeypatch.setattr(past_cluster.PastCluster, "_step", step)
    fill()
    assert Workload.objects.count() > before[0]


def test_only_the_demo_has_one(cluster: Cluster, settings: LazySettings) -> None:
    settings.DEMO = False
    with pytest.raises(CommandError):
        fill()


@pytest.mark.django_db
@pytest.mark.parametrize("days", [-1, 0, 367])
def test_a_past_of_no_days_or_of_years_is_refused(days: int, settings: LazySettings) -> None:
    settings.DEMO = True
    with pytest.raises(CommandError, match="--days must be 1 to 366"):
        call_command("demo_history", days=days)


def test_a_ledger_that_is_old_already_is_left_alone(cluster: Cluster) -> None:
    cluster.spec_versions.update(valid_from=timezone.now() - timedelta(days=2))
    before = Workload.objects.count()
    fill()
    assert Workload.objects.count() == before
