"""What people and commands read of a real Kueue: pages, positions, rights; and that reading twice changes nothing."""

import time
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from jobs.queues.team_now import clusters_of, jobs_of
from jobs.sync.sources import SOURCES
from portal.models import SyncRun
from teams.permissions import TeamRole
from tests.cluster import jobs
from tests.cluster.client import path
from tests.cluster.plane import KINDS_READ, ControlPlane
from tests.cluster.sync.ledgers import Ledger, Ledgers
from tests.cluster.sync.scene import GUESTS, OWNERS, Scene
from tests.cluster.sync.test_connection import tables
from tests.factories import MembershipFactory, UserFactory
from tests.pages.reading import rows, visit, words

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

ROLE = path("clusterroles", name="hyperpod-portal-reader")


def test_a_member_reads_the_real_numbers(scene: Scene, ledgers: Ledgers) -> None:
    scene.admit(GUESTS, "wide", 7)
    scene.submit(GUESTS, "large", 8, priority=10)
    scene.until(GUESTS, "large", "QuotaReserved", "False")
    scene.submit(GUESTS, "small", 5)
    scene.until(GUESTS, "small", "QuotaReserved", "False")
    ledgers.watched.agree()
    team = ledgers.watched.teams[GUESTS]
    member = MembershipFactory(user=UserFactory(), team=team, role=TeamRole.MEMBER).user
    ledgers.pulled.cluster.namespace_bindings.all().delete()  # one cluster on the page is enough

    page = visit(member, f"/teams/{team.slug}/")

    assert "4 of 4 own, 3 borrowed, 0 lent." in words(page)
    (running,) = rows(page, "Running now")
    assert running.startswith("wide ") and f" 7 {scene.flavor} " in running
    first, second = rows(page, "Waiting now")
    assert (first.split()[:4], second.split()[:4]) == (["1", "of", "2", "large"], ["2", "of", "2", "small"])
    assert f"Not enough is free in {scene.flavor}: 5 GPUs more needed." in first
    assert visit(UserFactory(), f"/teams/{team.slug}/").status_code == 404


def test_positions_are_those_of_the_visibility_api(scene: Scene, ledgers: Ledgers, plane: ControlPlane) -> None:
    scene.admit(OWNERS, "own", 6)
    for number, priority in enumerate((0, 10, -5, 10, 0, 1000, -5, 10, 0, 3)):
        scene.submit(OWNERS, f"waits-{number}", 11, priority=priority)  # more than there is: none is tried again
        if number % 3 == 0:
            time.sleep(1)  # creation times know whole seconds

    told = jobs.wait_for("the whole queue", lambda: whole(plane.portal.pending(scene.place(OWNERS)), 10))
    ledgers.agree()

    for ledger in ledgers:
        assert places(ledger) == told
        assert [w.of for w in waiting(ledger)] == [10] * 10


def whole(items: list[dict[str, Any]], count: int) -> dict[str, int] | None:
    """Positions from 1 by name, once all are told: the one that is being tried is left out."""
    found = {item["metadata"]["name"]: item["positionInClusterQueue"] + 1 for item in items}
    return found if len(found) == count else None


def waiting(ledger: Ledger) -> list[Any]:
    here = [each for each in clusters_of(ledger.teams[OWNERS]) if each.cluster == ledger.cluster]
    return jobs_of(here[0], most=100).waiting


def places(ledger: Ledger) -> dict[str, int | None]:
    return {each.workload.name: each.position for each in waiting(ledger)}


def test_a_pull_of_what_has_not_changed_writes_nothing(
    scene: Scene, ledgers: Ledgers, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.admit(GUESTS, "wide", 7)
    scene.submit(OWNERS, "waits", 11)
    scene.until(OWNERS, "waits", "QuotaReserved", "False")
    ledgers.watched.stop()
    ledgers.pulled.agree()
    now = timezone.now()
    monkeypatch.setattr(Ledger, "clock", lambda _: now)  # what other tests left in the cluster is as old in every look

    def stood_still() -> bool:
        """While it was looked at twice; the second look is judged then."""
        versions = versions_in(scene)
        ledgers.pulled.look()
        before = tables("SyncRun", "SourceState")
        ledgers.pulled.look()
        if versions_in(scene) != versions:
            return False
        assert is_unchanged(ledgers.pulled)
        assert tables("SyncRun", "SourceState") == before
        return True

    jobs.wait_for("an idle cluster", stood_still)


def versions_in(scene: Scene) -> set[tuple[str, str]]:
    """Of all that the sources read."""
    items = [item["metadata"] for kind in (*KINDS_READ, "nodes") for item in scene.admin.items(kind)]
    return {(meta["uid"], meta["resourceVersion"]) for meta in items}


def is_unchanged(ledger: Ledger) -> bool:
    """Whether the last pull found nothing to write in any source."""
    last = SyncRun.objects.filter(cluster=str(ledger), source__in=SOURCES).order_by("-pk")[: len(SOURCES)]
    return {(run.source, run.status) for run in last} == {(source, SyncRun.Status.UNCHANGED) for source in SOURCES}


@pytest.fixture
def lesser_role(plane: ControlPlane) -> Iterator[None]:
    """The portal may not watch LocalQueues for a while."""
    role = plane.admin.call("GET", ROLE)
    lesser = {**role, "rules": [*map(without_local_queues, role["rules"]), LOCAL_QUEUES]}
    plane.admin.replace("clusterroles", lesser)
    jobs.wait_for("the loss", lambda: watching_local_queues(plane) == 403)
    yield
    now = plane.admin.call("GET", ROLE)
    plane.admin.replace("clusterroles", {**now, "rules": role["rules"]})
    jobs.wait_for("the right", lambda: watching_local_queues(plane) == 200)


LOCAL_QUEUES = {"apiGroups": ["kueue.x-k8s.io"], "resources": ["localqueues"], "verbs": ["get", "list"]}


def without_local_queues(rule: dict[str, Any]) -> dict[str, Any]:
    return {**rule, "resources": [r for r in rule["resources"] if r != "localqueues"]}


def watching_local_queues(plane: ControlPlane) -> int:
    query = {"watch": "true", "timeoutSeconds": "1"}
    with plane.portal.ask("GET", path("localqueues"), params=query, stream=True) as answer:
        return answer.status_code


def checked() -> tuple[list[str], int]:
    """What check_gateways prints, and its exit status."""
    told = StringIO()
    try:
        call_command("check_gateways", stdout=told)
    except SystemExit as ended:
        return told.getvalue().splitlines(), int(ended.code or 0)
    return told.getvalue().splitlines(), 0


def test_the_granted_rights_are_enough(ledgers: Ledgers) -> None:
    lines, status = checked()

    assert [line for line in lines if not line.startswith("ok ")] == []
    assert len(lines) == 10
    assert "ok      watched rights: all that docs/permissions.md names" in lines
    assert status == 0


def test_a_missing_right_is_named_and_costs_only_what_it_grants(
    scene: Scene, ledgers: Ledgers, lesser_role: None
) -> None:
    lines, status = checked()

    assert [line for line in lines if not line.startswith("ok ")] == [
        f"MISSING {slug} rights: grant watch localqueues.kueue.x-k8s.io (for: Quotas and queues)"
        for slug in ("pulled", "watched")
    ]
    assert status == 1
    scene.admit(OWNERS, "own", 4)
    ledgers.agree()
