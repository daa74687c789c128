"""An API server that goes away, and one that forgets."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.models import Workload
from jobs.sync.sources import LIVE, PULLED, SOURCES, WORKLOADS
from portal.models import Gap, SourceState, SyncRun
from portal.sync_runs import GAP_AFTER
from tests.cluster import jobs
from tests.cluster.client import path
from tests.cluster.sync.ledgers import Ledger, Ledgers
from tests.cluster.sync.paging import between_pages
from tests.cluster.sync.scene import OWNERS, Scene
from tests.cluster.sync.still import StillPlane

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

LINE = [f"job-{n}" for n in range(8)]


@pytest.fixture
def ledgers(still_ledgers: Ledgers) -> Ledgers:
    return still_ledgers


@pytest.fixture
def scene(still_scene: Scene) -> Scene:
    return still_scene


@pytest.fixture
def plane(still_plane: StillPlane) -> StillPlane:
    return still_plane


@pytest.fixture
def line(scene: Scene, ledgers: Ledgers) -> list[str]:
    """Workloads that both ledgers know."""
    for name in LINE:
        scene.submit(OWNERS, name, 6)
    ledgers.agree()
    return LINE


def live(ledger: Ledger) -> set[str]:
    found = Workload.objects.live().filter(cluster=ledger.cluster, namespace=ledger.scene.place(OWNERS))
    return set(found.values_list("name", flat=True))


def failing(ledger: Ledger, sources: tuple[str, ...]) -> dict[str, str]:
    """The last error of each source that fails."""
    states = SourceState.objects.filter(cluster=str(ledger), source__in=sources, failing_since__isnull=False)
    return dict(states.values_list("source", "last_error"))


def test_a_list_outlives_a_restart_of_the_api_server(
    plane: StillPlane, ledgers: Ledgers, line: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pulled = ledgers.pulled
    between_pages(monkeypatch, plane.restart_api_server)

    pulled.look()

    assert pulled.last_list.status != SyncRun.Status.FAILED
    assert pulled.last_list.absent == 0
    assert live(pulled) == set(line)
    ledgers.agree()


def test_a_list_that_breaks_off_loses_nothing(
    scene: Scene, plane: StillPlane, ledgers: Ledgers, line: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.delete(OWNERS, line[-1])
    scene.submit(OWNERS, "late", 1)
    between_pages(monkeypatch, plane.stop_api_server)

    ledgers.pulled.look()

    run = ledgers.pulled.last_list
    assert (run.status, run.absent) == (SyncRun.Status.FAILED, 0)
    assert "does not answer" in run.error
    assert live(ledgers.pulled) >= set(line)
    assert failing(ledgers.pulled, (WORKLOADS,))[WORKLOADS] == run.error
    plane.start_api_server()
    ledgers.agree()
    ledgers.pulled.until("recoveries", lambda: not failing(ledgers.pulled, SOURCES))
    assert not Gap.objects.exists()


def test_what_is_deleted_while_a_list_is_read_is_gone_after_it_began(
    scene: Scene, ledgers: Ledgers, line: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    times = []

    def delete() -> None:
        scene.delete(OWNERS, line[0])
        times.append(timezone.now())

    between_pages(monkeypatch, delete)
    ledgers.pulled.look()
    ledgers.pulled.agree()

    workload = ledgers.pulled.workload(OWNERS, line[0])
    assert workload.gone_after < times[0] < workload.gone_before


def test_an_absent_api_server_is_told_by_every_pull_and_leaves_a_gap(
    plane: StillPlane, ledgers: Ledgers, line: list[str]
) -> None:
    pulled = ledgers.pulled
    states = SourceState.objects.filter(cluster=str(pulled), source__in=PULLED)
    seen_at = dict(states.values_list("source", "last_good_at"))
    plane.stop_api_server()
    for pulled.ahead in (timedelta(0), GAP_AFTER):
        pulled.look()
        assert set(failing(pulled, PULLED)) == set(PULLED)
    assert "does not answer" in failing(pulled, PULLED)[WORKLOADS]
    assert live(pulled) == set(line)

    plane.start_api_server()
    pulled.until("recoveries", lambda: not failing(pulled, PULLED))

    gaps = Gap.objects.filter(cluster=str(pulled))
    assert {gap.source: gap.start for gap in gaps} == seen_at
    assert {(gap.cause, gap.end is None) for gap in gaps} == {(Gap.Cause.UNREACHABLE, False)}


def test_a_watch_outlives_an_api_server_that_was_away(
    scene: Scene, plane: StillPlane, ledgers: Ledgers, line: list[str]
) -> None:
    watched = ledgers.watched
    plane.stop_api_server()
    watched.until("failures", lambda: set(failing(watched, LIVE)) == set(LIVE))
    watched.ahead = GAP_AFTER
    watched.until("gaps", lambda: Gap.objects.filter(cluster=str(watched), end__isnull=True).count() == len(LIVE))

    plane.start_api_server()
    deleted_at = watched.clock()
    scene.delete(OWNERS, line[-1])
    deleted_by = watched.clock()
    scene.submit(OWNERS, "late", 1)
    watched.agree()
    watched.until("recoveries", lambda: not failing(watched, LIVE))

    assert live(watched) == {*line[:-1], "late"}
    workload = watched.workload(OWNERS, line[-1])
    assert deleted_at < workload.gone_before
    assert workload.gone_after == workload.gone_before or workload.gone_after < deleted_by, "seen, or dated before"
    assert not Gap.objects.filter(cluster=str(watched), end__isnull=True).exists()


def test_a_watch_whose_first_list_breaks_off_begins_again(
    scene: Scene, plane: StillPlane, ledgers: Ledgers, line: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = ledgers.watched
    watched.stop()
    SourceState.objects.filter(cluster=str(watched)).delete()  # nothing to go on from
    scene.delete(OWNERS, line[-1])
    between_pages(monkeypatch, plane.stop_api_server)

    watched.start()
    watched.until("a failure", lambda: WORKLOADS in failing(watched, LIVE))
    assert live(watched) == set(line)
    plane.start_api_server()
    watched.agree()

    assert live(watched) == set(line[:-1])


def test_a_page_that_etcd_forgot_begins_the_list_again(
    scene: Scene, plane: StillPlane, ledgers: Ledgers, line: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pulled = ledgers.pulled
    is_forgotten = forgettable_page(plane)

    def forget() -> None:
        scene.delete(OWNERS, line[-1])
        scene.submit(OWNERS, "late", 1)
        plane.compact()
        jobs.wait_for("410", is_forgotten)

    between_pages(monkeypatch, forget)
    pulled.look()

    assert pulled.last_list.status == SyncRun.Status.CHANGED
    assert live(pulled) == {*line[:-1], "late"}
    assert pulled.last_list.absent == 1
    assert not Gap.objects.exists()
    ledgers.agree()


def forgettable_page(plane: StillPlane) -> Callable[[], bool]:
    """Whether the API server no longer knows the next page of a list that began now."""
    page = plane.portal.call("GET", path("workloads"), params={"limit": "1"})
    following = {"limit": "1", "continue": page["metadata"]["continue"]}
    return lambda: plane.portal.ask("GET", path("workloads"), params=following).status_code == 410


def test_a_watch_that_comes_back_to_a_server_that_forgot_lists_anew(
    scene: Scene, plane: StillPlane, ledgers: Ledgers, line: list[str]
) -> None:
    watched = ledgers.watched
    watched.stop()
    stopped_at, before = timezone.now(), watched.last_list
    scene.delete(OWNERS, line[-1])
    scene.submit(OWNERS, "late", 1)
    deleted_at = timezone.now()
    plane.compact()
    plane.restart_api_server()  # its memory of changes begins anew

    watched.start()
    watched.agree()

    assert watched.last_list.pk > before.pk
    assert live(watched) == {*line[:-1], "late"}
    workload = watched.workload(OWNERS, line[-1])
    assert workload.gone_after < stopped_at < deleted_at < workload.gone_before
    assert not Gap.objects.exists()


def test_a_watch_that_comes_back_soon_goes_on_without_a_list(scene: Scene, ledgers: Ledgers, line: list[str]) -> None:
    watched = ledgers.watched
    watched.stop()
    before = watched.last_list
    scene.delete(OWNERS, line[-1])
    scene.submit(OWNERS, "late", 1)

    watched.start()
    watched.agree()

    assert watched.last_list == before
    assert live(watched) == {*line[:-1], "late"}
