"""The history of all teams' evictions, as platform roles read it."""

import csv
import io
import re

import pytest
from django.urls import reverse

from accounts.models import User
from scheduling import names
from scheduling.preemption_messages import preempted
from tests.factories import ClusterFactory
from tests.pages.reading import rows, visit, words
from tests.people import People
from tests.stories import START, Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db

ALL, CSV, OURS = "/platform/evictions/", "/platform/evictions.csv", "/teams/research/evictions/"
DAY = 24 * 60


@pytest.fixture
def past(shared: World) -> World:
    """Research lost `big` to vision's `endpoint`; vision's `theirs` was switched off, so that nothing was held
    afterwards; `stray` belongs to no team and was evicted 40 days ago; of an archived cluster nothing is told."""
    shared.is_read(START)
    endpoint = Job("endpoint", "hyperpod-ns-vision", queue="vision-queue", created=-60).waits("", -20)
    big, theirs = Job("big").admit(-30), Job("theirs", "hyperpod-ns-vision", queue="vision-queue").admit(-60)
    stray = Job("stray", "of-nobody", created=-50 * DAY).admit(-40 * DAY - 60)
    del theirs.obj["spec"]["priorityClassRef"]
    archived = World(ClusterFactory(slug="gpu-old", archived_at=START))
    gone = Job("gone").admit(-30)
    archived.see(gone)
    archived.see(gone.evict(-10))
    shared.see(endpoint, big, theirs, stray)
    rule = names.IN_COHORT_RECLAMATION
    taken = preempted(
        endpoint.uid, f"job-{endpoint.uid}", rule, ("shared", "vision-queue"), ("shared", "research-queue")
    )
    shared.see(big.evict(-20, message=taken), theirs.evict(-5, names.DEACTIVATED), stray.evict(-40 * DAY))
    shared.see(big.release(-19), theirs.release(-4), stray.release(-40 * DAY + 1))
    return shared


def jobs_shown(user: User, query: str = "") -> list[str]:
    return re.findall(r'<a class="job"[^>]*>([^<]*)</a>', visit(user, ALL + query).text)


def lines(user: User, query: str = "") -> list[dict[str, str]]:
    text = b"".join(visit(user, CSV + query)).decode()  # type: ignore[arg-type]
    return list(csv.DictReader(io.StringIO(text)))


def test_every_eviction_stands_with_its_team(past: World, people: People) -> None:
    theirs, big, stray = rows(visit(people.finops, ALL), "Evictions")
    assert "theirs no priority class Vision hyperpod-ns-vision Switched off" in theirs
    assert "big normal Research hyperpod-ns-research Lender took it back for endpoint of Vision" in big
    assert "stray normal no team of-nobody" in stray


def test_totals_are_of_what_the_filters_leave(past: World, people: People) -> None:
    assert "4 evictions" not in words(visit(people.auditor, ALL))
    assert "8.3 GPU-h 3 evictions" in words(visit(people.auditor, ALL))
    assert "0.7 GPU-h 1 eviction" in words(visit(people.auditor, f"{ALL}?team=research"))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?q=BIG", ["big"]),
        ("?q=tray", []),
        ("?time=24h", ["theirs", "big"]),
        ("?time=2026-08", ["stray"]),
        ("?reason=Deactivated", ["theirs"]),
        ("?by=vision", ["big"]),
        ("?by=-", ["stray"]),
        ("?priority=-", ["theirs"]),
        ("?team=vision", ["theirs"]),
        ("?team=-", ["stray"]),
        ("?team=nobodys", []),
        ("?team=research&reason=Preempted&time=1h&cluster=gpu-one", ["big"]),
        ("?cluster=gpu-old", []),
        ("?sort=lost", ["stray", "theirs", "big"]),
    ],
)
def test_the_address_filters_and_the_file_equals_the_screen(
    past: World, people: People, query: str, found: list[str]
) -> None:
    assert jobs_shown(people.platform_admin, query) == found
    assert [line["job"] for line in lines(people.platform_admin, query)] == found


def test_the_file_names_each_team(past: World, people: People) -> None:
    found = {line["job"]: (line["team"], line["taken_by"]) for line in lines(people.finops)}
    assert found["big"] == ("research", "endpoint of Vision")
    assert [found[job][0] for job in ("theirs", "stray")] == ["vision", ""]


def test_losses_are_added_up_by_team(past: World, people: People) -> None:
    shown = rows(visit(people.finops, f"{ALL}?sums=team"), "Team")
    assert shown == ["no team 1 4.0 GPU-h 0.1 GPU-h", "Vision 1 3.7 GPU-h 0.0 GPU-h", "Research 1 0.7 GPU-h 0.1 GPU-h"]


def test_a_team_has_no_filter_and_no_sum_by_team(past: World, people: People) -> None:
    for query in ("?team=research", "?sums=team"):
        assert "left out" in words(visit(people.member, OURS + query))
    text = visit(people.member, OURS).text
    assert 'name="team"' not in text
    assert "sums=team" not in text


def test_a_team_offered_is_a_team_there_is(past: World, people: People) -> None:
    select = visit(people.finops, ALL).text.split('name="team"')[1].split("</select>")[0]
    assert re.findall(r'value="([^"]*)"', select) == ["", "-", "research", "vision"]


def test_the_menu_and_the_overview_lead_here(past: World, people: People) -> None:
    assert visit(people.finops, reverse("overview")).text.count(f'href="{ALL}"') == 2
    assert ALL not in visit(people.member, OURS).text


def test_before_anything_was_read(people: People, shared: World) -> None:
    assert "Nothing was evicted" not in words(visit(people.finops, ALL))
    shared.is_read(minute(0))
    assert "When a job loses its quota, it stands here with the reason." in words(visit(people.finops, ALL))
