"""Lenders and borrowers, as platform roles read them."""

import re

import pytest

from jobs.usage.hours import close_hours
from portal.models import Gap
from tests.pages.reading import visit, words
from tests.pages.test_query_counts import count
from tests.people import People
from tests.stories import Job, cluster_queue, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db

URL = "/platform/lending/"


@pytest.fixture
def lent(shared: World) -> World:
    """Of vision 14 GPUs run where 8 are guaranteed, and of the second hour the half was not seen."""
    shared.see(Job("a", "hyperpod-ns-vision", queue="vision-queue", gpus=14).admit(0))
    Gap.objects.create(source="workloads", cluster="gpu-one", start=minute(90), end=minute(120), cause="unreachable")
    shared.is_read(at=minute(125))
    close_hours(shared.cluster, minute(125))
    return shared


def text(people: People, query: str = "?period=day") -> str:
    return words(visit(people.finops, URL + query))


def test_lent_borrowed_and_not_seen(lent: World, people: People) -> None:
    found = text(people)
    assert "GPU-hours from 2026-10-07 14:00 to 2026-10-08 14:00 UTC." in found
    assert "12 GPU-hours borrowed" in found
    assert "Research research-queue 12 0 22.5 h 6 0" in found
    assert "Vision vision-queue 0 12 22.5 h 0 6" in found


def test_hours_are_utc_whatever_the_reader_s_zone_is(lent: World, people: People) -> None:
    people.finops.time_zone = "America/Sao_Paulo"
    people.finops.save()
    assert "GPU-hours from 2026-10-07 14:00 to 2026-10-08 14:00 UTC." in text(people)


def test_the_idle_pool_is_called_so(lent: World, people: People) -> None:
    lent.queues(cluster_queue("hyperpod-ns-idle-resource-sharing-cq-1", 4), cluster_queue("orphan-queue", 4))
    found = text(people)
    assert "idle pool hyperpod-ns-idle-resource-sharing-cq-1" in found
    assert "no team orphan-queue" in found


def test_bounds_stand_where_nobody_can_say(lent: World, people: People) -> None:
    lent.queues(cluster_queue("third-queue", 12))
    assert "Research research-queue 12 0 22.5 h 0 to 6 0" in text(people)


def test_who_borrowed_is_named_where_it_is_not_the_only_team(lent: World, people: People) -> None:
    lent.see(Job("stray", "of-nobody", queue="vision-queue", gpus=2, created=120).admit(120))
    lent.is_read(at=minute(185))
    close_hours(lent.cluster, minute(185))
    assert "Vision vision-queue 0 20 Vision 18 no team 2" in text(people)


def test_a_calendar_month(lent: World, people: People) -> None:
    found = text(people, "?period=2026-10")
    assert "GPU-hours from 2026-10-01 00:00 to 2026-10-08 14:00 UTC." in found
    assert "12 GPU-hours borrowed" in found
    page = visit(people.finops, URL + "?period=2026-10").text
    assert '<option value="2026-10" selected>October 2026</option>' in page


@pytest.mark.parametrize("month", ["2020-02", "2999-12"])
def test_of_a_month_that_nobody_saw_nothing_is_known(lent: World, people: People, month: str) -> None:
    assert "Research research-queue not seen not seen" in text(people, f"?period={month}")


@pytest.mark.parametrize("query", ["", "?period=", "?period=year", "?period=century"])
def test_a_week_is_shown_unless_something_else_is_asked_for(lent: World, people: People, query: str) -> None:
    assert '<a href="?period=week" aria-current="true">' in visit(people.finops, URL + query).text


def test_before_the_first_hour_is_over(shared: World, people: People) -> None:
    shared.is_read()
    found = text(people)
    assert "No hour is over yet: only what holds now is known." in found
    assert "Research research-queue not seen not seen – 0 0" in found


def test_a_month_asks_the_database_as_often_as_a_day(lent: World, people: People) -> None:
    counts = [count(people.auditor, f"{URL}?period={period}") for period in ("day", "month")]
    assert counts[0] == counts[1] <= 12


def test_the_menu_leads_here_for_those_who_may(lent: World, people: People) -> None:
    assert re.search(rf'<a href="{URL}" aria-current="page">', visit(people.platform_admin, URL).text)
    assert URL not in visit(people.member, "/teams/research/").text
