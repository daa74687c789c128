"""The usage page: what the chart is drawn from stands beside it in words."""

import csv
import io
import re
from typing import Any

import pytest
from django.urls import reverse

from jobs.usage.hours import close_hours
from portal.models import Gap
from scheduling.names import LAST_CHECKPOINT_ANNOTATION, PODS_READY_TIMEOUT
from tests.jobs.usage.test_lost_facts import saving
from tests.pages.reading import labels, rows, visit, words
from tests.pages.test_query_counts import count
from tests.people import People
from tests.stories import Job, minute, stamp
from tests.worlds import World

pytestmark = pytest.mark.django_db

URL, CSV = "/teams/research/usage/", "/teams/research/usage.csv"


@pytest.fixture
def used(zoo: World) -> World:
    """An hour with 14 GPUs in use, 2 of them borrowed, and an hour of which the half was not seen."""
    zoo.see(Job("runs", gpus=14).admit(0), Job("waits", gpus=3, created=0).waits())
    Gap.objects.create(source="workloads", cluster="gpu-one", start=minute(90), end=minute(120), cause="unreachable")
    zoo.is_read(at=minute(125))
    close_hours(zoo.cluster, minute(125))
    return zoo


def test_means_of_each_stretch(used: World, people: People) -> None:
    page = visit(people.member, f"{URL}?period=day")
    assert rows(page, "H100")[-2:] == ["2026-10-08 12:00 12 2 12 0 3 0 –", "2026-10-08 13:00 12 2 12 0 3 0 0.5 h"]
    assert "GPU-hours 24 4 24 0 6 0" in words(page)
    assert "up to 2026-10-08 14:00 UTC" in words(page)


def test_the_sums_stand_above_the_chart(used: World, people: People) -> None:
    sums = "Own use, 100% of the guaranteed 24 GPU-h Borrowed 4 GPU-h Lent 0 GPU-h Lost by evictions 0.0 GPU-h"
    assert sums in words(visit(people.member, f"{URL}?period=day"))


def test_hours_are_utc_whatever_the_reader_s_zone_is(used: World, people: People) -> None:
    people.member.time_zone = "America/Sao_Paulo"
    people.member.save()
    assert "up to 2026-10-08 14:00 UTC" in words(visit(people.member, f"{URL}?period=day"))


def test_what_was_not_seen_is_not_0(used: World, people: People) -> None:
    page = visit(people.member, f"{URL}?period=day")
    assert rows(page, "H100")[0] == "2026-10-07 14:00 not seen not seen not seen not seen not seen not seen 1 h"
    assert 'data-v="" data-high="">not seen' in page.text


def test_the_chart_is_drawn_from_the_numbers_of_the_table(used: World, people: People) -> None:
    page = visit(people.member, f"{URL}?period=day").text
    (table,) = re.findall(r'data-usage-chart="([^"]*)"', page)
    assert f'id="{table}"' in page
    assert 'data-l="Own use" data-v="12.000"' in page
    assert any("The same numbers are in the table below." in label for label in labels(visit(people.member, URL)))


def test_the_mean_of_a_day_is_over_what_was_read_of_it(used: World, people: People) -> None:
    page = visit(people.member, f"{URL}?period=month")
    assert rows(page, "H100")[-1] == "2026-10-08 12 2 12 0 3 0 12.5 h"


def test_what_was_lost_stands_in_the_hours_of_the_work(zoo: World, people: People) -> None:
    exact, bounded = Job("exact", gpus=6).admit(0), saving(Job("bounded", gpus=2).admit(0), "1h")
    exact.obj["metadata"]["annotations"] = {LAST_CHECKPOINT_ANNOTATION: stamp(50)}
    zoo.see(exact, bounded, now=minute(0))
    zoo.see(exact.evict(80), bounded.evict(80), now=minute(80))
    zoo.is_read(at=minute(125))
    close_hours(zoo.cluster, minute(125))
    page = visit(people.member, f"{URL}?period=day")
    assert [row.split()[-2:] for row in rows(page, "H100")[-2:]] == [["2.3", "–"], ["2.7", "–"]]
    assert "1 to 2.3" in rows(page, "H100")[-2] and "2 to 2.7" in rows(page, "H100")[-1]
    assert "GPU-hours 16 0 24 0 0 3 to 5" in words(page)
    assert "Lost by evictions 4.0 GPU-h, between 3.0 and 5.0" in words(page)
    assert 'data-l="Lost (GPU-hours)" data-v="1.000" data-high="2.333"' in page.text
    assert "Lost by jobs that nobody saw run" not in words(page)


def test_what_nobody_saw_run_is_told_apart_and_its_unknown_cost_is_not_0(zoo: World, people: People) -> None:
    zoo.see(job := Job("flash", gpus=2).waits(), now=minute(1))
    zoo.see(job.admit(10).evict(40).release(40), now=minute(41), last_seen=minute(1))
    twice = Job("twice", gpus=2).admit(0).evict(5).release(6).admit(7).evict(15, PODS_READY_TIMEOUT).release(16)
    zoo.see(twice.admit(70), now=minute(75), last_seen=minute(41))
    zoo.is_read(at=minute(125))
    close_hours(zoo.cluster, minute(125))
    page = visit(people.member, f"{URL}?period=day")
    told = rows(page, "Lost by jobs that nobody saw run")
    assert told == ["2026-10-08 12:00 1.0 GPU-h 0", "2026-10-08 13:00 unknown 2"]
    assert page.text.count("data-usage-chart") == page.text.count("Show as a table")


def test_a_year_asks_the_database_as_often_as_a_day(used: World, people: People) -> None:
    counts = [count(people.member, f"{URL}?period={period}") for period in ("day", "year")]
    assert counts[0] == counts[1] <= 12


@pytest.mark.parametrize("asked", ["", "?period=", "?period=century", "?period=week&period=week"])
def test_a_week_is_shown_unless_something_else_is_asked_for(used: World, people: People, asked: str) -> None:
    page = visit(people.member, URL + asked).text
    assert '<a href="?period=week" aria-current="true">' in page


def test_before_the_first_hour_is_over(zoo: World, people: People) -> None:
    assert "No hour is over yet" in words(visit(people.member, URL))


def test_a_team_without_a_namespace(people: People) -> None:
    assert "This team has no namespace yet" in words(visit(people.member, URL))


def test_a_queue_that_is_shared_is_said_to_be(used: World, people: People) -> None:
    assert "Other teams use this queue, too" in words(visit(people.member, URL))


def test_no_name_of_another_team_is_told(used: World, people: People) -> None:
    assert "zebra" not in visit(people.member, URL).text.lower()


def test_scripts_of_the_chart_load_here_only(used: World, people: People) -> None:
    assert "vendor/echarts" in visit(people.member, URL).text
    assert "vendor/echarts" not in visit(people.member, reverse("team", args=["research"])).text


def test_the_team_page_leads_here(used: World, people: People) -> None:
    assert f'href="{URL}"' in visit(people.finops, reverse("team", args=["research"])).text


def csv_rows(user: Any, query: str) -> list[dict[str, str]]:
    text = b"".join(visit(user, CSV + query)).decode()  # type: ignore[arg-type]
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("query", ["?period=day", "?period=week", "?period=month", "?period=year", "?period=2026-10"])
def test_the_csv_is_the_screen(used: World, people: People, query: str) -> None:
    page, found = visit(people.member, URL + query), csv_rows(people.member, query)
    assert f'href="{CSV}{query}" download' in page.text
    begins = [row.split()[0] for row in rows(page, "H100")]
    assert begins == [row["from"][: len(begin)] for row, begin in zip(found, begins, strict=True)]
    drawn = re.findall(r'data-l="(Own use|Guaranteed|Lent|Waiting)" data-v="([^"]*)"', page.text)
    for number, name in enumerate(("own", "guaranteed", "lent", "waiting")):
        column = f"{name}_gpu_seconds" + ("_at_least" if name == "lent" else "")
        means = [row[column] and f"{int(row[column]) / int(row['seconds_counted']):.3f}" for row in found]
        assert [text for _, text in drawn[number::4]] == means


def test_a_calendar_month_by_its_days_with_its_sums(used: World, people: People) -> None:
    page = visit(people.member, f"{URL}?period=2026-10")
    assert rows(page, "H100")[-1] == "2026-10-08 12 2 12 0 3 0 12.5 h"
    assert len(rows(page, "H100")) == 8
    assert "Own use, 100% of the guaranteed 24 GPU-h Borrowed 4 GPU-h" in words(page)
    assert '<option value="2026-10" selected>October 2026</option>' in page.text
    assert '<a href="?period=week">' in page.text


@pytest.mark.parametrize("month", ["2020-02", "2026-11", "2999-12"])
def test_of_a_month_that_nobody_saw_nothing_is_known(used: World, people: People, month: str) -> None:
    page = visit(people.member, f"{URL}?period={month}")
    assert f'<option value="{month}" selected>{month}</option>' in page.text
    assert "Nothing was seen in this time" in words(page)
    assert "No GPUs in this time" not in words(page)


def test_the_csv_of_a_month_says_so_in_its_name(used: World, people: People) -> None:
    response = visit(people.member, f"{CSV}?period=2026-10")
    assert response["Content-Disposition"] == 'attachment; filename="research-usage-2026-10.csv"'
    assert visit(people.member, f"{CSV}?period=%0d%0aX: y")["Content-Disposition"].endswith('"research-usage-week.csv"')
