"""The lists of workloads as people read them: groups, filters, order, pages, and the CSV of the same."""

import csv
import io
import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.http import HttpResponse
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.jobs.workloads.test_filter import NAMES
from tests.pages.reading import rows, visit, words
from tests.people import People
from tests.stories import START, Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db
OURS, ALL, CSV = "/teams/research/workloads/", "/platform/workloads/", "/teams/research/workloads.csv"


@pytest.fixture
def read(shared: World) -> World:
    shared.is_read(START)
    return shared


@pytest.fixture
def mixed(read: World) -> World:
    """Of research three that wait, two that run and one that ended; of vision and of nobody one each."""
    read.see(
        Job("late", created=-10).waits("no room"),
        Job("early", created=-30).waits("no room"),
        Job("urgent", created=-5, priority=10).waits("no room"),
        Job("long", gpus=2, created=-90).admit(-60),
        Job("short", gpus=14, created=-50).admit(-20),
        Job("over", created=-90).admit(-80).finish(-15),
        Job("theirs", "hyperpod-ns-vision", queue="vision-queue", gpus=1).admit(-3),
        Job("stray", "of-nobody").waits("no room"),
    )
    return read


def listed(response: HttpResponse) -> list[str]:
    """What the rows call their jobs, in order."""
    return re.findall(r'<a class="job"[^>]*>([^<]*)</a>', response.text)


def ours(people: People, query: str = "") -> list[str]:
    return listed(visit(people.member, OURS + query))


def lines(user: Any, url: str) -> list[dict[str, str]]:
    text = b"".join(visit(user, url)).decode()  # type: ignore[arg-type]
    return list(csv.DictReader(io.StringIO(text)))


def test_all_jobs_the_latest_news_first(mixed: World, people: People) -> None:
    response = visit(people.member, OURS)
    assert listed(response) == ["urgent", "late", "over", "short", "early", "long"]
    assert "All 6 Now 5 Waiting 3 Running 2 Ended 1" in words(response)
    assert "1 to 6 of 6" in words(response)


def test_each_group_in_its_own_order(mixed: World, people: People) -> None:
    assert ours(people, "?group=waiting") == ["urgent", "early", "late"]
    assert ours(people, "?group=running") == ["long", "short"]
    assert ours(people, "?group=ended") == ["over"]
    assert sorted(ours(people, "?group=now")) == ["early", "late", "long", "short", "urgent"]


def test_what_waits_says_where_in_line_it_is_and_why(mixed: World, people: People) -> None:
    first, *_ = rows(visit(people.member, OURS + "?group=waiting"), "Waiting")
    assert first.startswith("1 of 3 urgent PyTorchJob 4 GPUs normal 10 The cluster gives a reason")
    assert first.endswith(" 5 min")


def test_what_waits_otherwise_than_in_line_says_so(mixed: World, people: People) -> None:
    mixed.see(Job("paused", created=-1).waits("no room").deactivate())
    (paused,) = rows(visit(people.member, OURS + "?group=waiting&q=paused"), "Waiting")
    assert "Paused It is switched off" in paused


def test_what_runs_tells_own_and_borrowed(mixed: World, people: People) -> None:
    long, short = rows(visit(people.member, OURS + "?group=running"), "Running")
    assert long == "long PyTorchJob Running 2 H100 normal 0 1 h 0 min"
    assert "14 H100 10 own, 4 borrowed" in short


def test_what_is_over_tells_when_it_ended(mixed: World, people: People) -> None:
    (over,) = rows(visit(people.member, OURS + "?group=ended"), "Ended")
    assert over == "over PyTorchJob Finished 4 GPUs normal 0 15 min ago 1 h 30 min ago"


def test_all_teams_with_the_team_of_each(mixed: World, people: People) -> None:
    response = visit(people.finops, ALL + "?sort=namespace")
    assert sorted(listed(response)) == ["early", "late", "long", "over", "short", "stray", "theirs", "urgent"]
    found = rows(response, "All")
    assert "theirs PyTorchJob Vision hyperpod-ns-vision Running" in found[-2]
    assert "stray PyTorchJob no team of-nobody Queued" in found[-1]


def test_filters_and_the_way_out_of_each(mixed: World, people: People) -> None:
    response = visit(people.member, OURS + "?group=waiting&q=late&created=1h")
    assert listed(response) == ["late"]
    assert "“late” remove Created: in the last hour remove Clear the filters" in words(response)
    assert 'href="?group=waiting&amp;created=1h"' in response.text
    assert 'href="?q=late&amp;group=waiting"' in response.text
    assert '<option value="1h" selected>' in response.text
    assert '<details class="fold" open>' in response.text


def test_a_value_that_no_job_of_late_has_stays_chosen(mixed: World, people: People) -> None:
    response = visit(people.member, OURS + "?kind=Spaceship")
    assert '<option value="Spaceship" selected>' in response.text
    assert "Kind: Spaceship remove" in words(response)


def test_counters_follow_the_filters(mixed: World, people: People) -> None:
    text = words(visit(people.member, OURS + "?q=l&group=running"))
    assert "All 3 Now 2 Waiting 2 Running 1 Ended 0" not in text
    assert "All 3 Now 3 Waiting 2 Running 1 Ended 0" in text


def test_empty_lists_say_why(read: World, people: People) -> None:
    for group, told in {
        "": "No jobs yet", "waiting": "Nothing waits", "running": "Nothing runs", "ended": "Nothing has ended",
    }.items():  # fmt: skip
        text = words(visit(people.member, f"{OURS}?group={group}"))
        assert told in text
        assert "Clear the filters" not in text
    response = visit(people.member, OURS + "?group=waiting&per=50&q=x")
    assert "Nothing matches No job of this group fits all the filters. Clear the filters" in words(response)
    assert 'href="?group=waiting&amp;per=50"' in response.text


def test_before_the_first_read_nothing_is_known(shared: World, people: People) -> None:
    text = words(visit(people.member, OURS))
    assert "Not known yet" in text
    assert "No jobs yet" not in text


def test_a_team_without_a_namespace_has_no_jobs(people: People) -> None:
    assert "No jobs yet" in words(visit(people.member, OURS))


def test_what_the_address_asks_for_in_vain_is_told(mixed: World, people: People) -> None:
    response = visit(people.member, OURS + "?per=7&state=asleep&colour=red")
    assert len(listed(response)) == 6
    text = words(response)
    assert "“7” is nothing that “per” can be; it was left out." in text
    assert "“asleep” is nothing that “state” can be; it was left out." in text
    assert "This list has no filter “colour”; it was left out." in text


def test_pages_and_their_links(read: World, people: People) -> None:
    read.see(*(Job(f"job-{n:03}", created=-n).waits("no room") for n in range(120)))
    response = visit(people.member, OURS + "?group=waiting&q=job&page=3")
    assert "51 to 75 of 120" in words(response)
    assert "First Previous Page 3 of 5 Next Last" in words(response)
    assert 'href="?q=job&amp;group=waiting&amp;page=4" rel="next"' in response.text
    assert 'href="?q=job&amp;group=waiting&amp;page=2" rel="prev"' in response.text
    assert 'href="?q=job&amp;group=waiting&amp;per=100"' in response.text
    last = visit(people.member, OURS + "?group=waiting&page=99")
    assert "101 to 120 of 120" in words(last)
    assert "First Previous Page 5 of 5" in words(last)
    assert "Next" not in words(last)


def test_a_filter_that_matches_rows_of_a_late_page_alone(read: World, people: People) -> None:
    read.see(*(Job(f"job-{n:03}", created=-n).waits("no room") for n in range(90)), Job("needle", created=9).waits("x"))
    assert "needle" in ours(people, "?group=waiting&page=4")
    response = visit(people.member, OURS + "?group=waiting&q=needle")
    assert listed(response) == ["needle"]
    assert "All 1 Now 1 Waiting 1 Running 0 Ended 0" in words(response)
    assert "1 to 1 of 1" in words(response)
    assert [row["job"] for row in lines(people.member, CSV + "?group=waiting&q=needle")] == ["needle"]


def test_columns_sort_and_say_so(mixed: World, people: People) -> None:
    response = visit(people.member, OURS + "?sort=job")
    assert listed(response) == ["early", "late", "long", "over", "short", "urgent"]
    assert (
        '<th role="columnheader" scope="col" aria-sort="ascending"><a class="sort" href="?sort=-job">' in response.text
    )
    assert response.text.count("aria-sort") == 1
    assert ours(people, "?sort=-job") == ["urgent", "short", "over", "long", "late", "early"]


@pytest.mark.parametrize("query", ["", "?group=waiting", "?group=running&sort=-gpus", "?q=l&sort=job", "?kind=RayJob"])
def test_the_csv_is_the_screen(mixed: World, people: People, query: str) -> None:
    assert [row["job"] for row in lines(people.member, CSV + query)] == ours(people, query)
    assert f'href="{CSV}{query.replace("&", "&amp;")}' in visit(people.member, OURS + query).text.replace(
        'csv?"', 'csv"'
    )


def test_the_csv_of_all_is_the_screen_of_all(mixed: World, people: People) -> None:
    found = lines(people.auditor, "/platform/workloads.csv?sort=job&team=vision")
    assert [(row["job"], row["team"]) for row in found] == [("theirs", "vision")]


def test_the_csv_is_a_file_that_nobody_keeps(mixed: World, people: People) -> None:
    response = visit(people.member, CSV)
    assert response.streaming
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == 'attachment; filename="research-jobs.csv"'
    assert response["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize("name", ["q", "queue", "team", "kind", "cluster"])
def test_a_list_tells_nothing_of_other_teams(people: People, jobs: dict[str, Job], name: str) -> None:
    """Whatever one asks for by name: the answer is as if there were nothing of that name."""

    def told(word: str) -> tuple[str, str]:
        page = words(visit(people.member, f"{OURS}?{name}={word}")).replace(word, "")
        return page, b"".join(visit(people.member, f"{CSV}?{name}={word}")).decode()  # type: ignore[arg-type]

    assert told("zebra-lq") == told("zebra") == told("nonesuch")
    for url in (OURS, OURS + "?group=waiting", CSV):
        assert "zebra" not in visit(people.member, url).getvalue().decode().lower()


def test_hostile_long_and_right_to_left_names_are_only_names(read: World, people: People) -> None:
    job = Job("odd").waits("no room")
    job.obj["metadata"]["ownerReferences"][0] |= {"name": "<script>alert(1)</script>", "kind": "<i>Kind</i>"}
    longest = Job("x" * 240, uid="uid-longest").waits("no room")
    read.see(job, longest)
    people.research.name = "فريق البحث <b>"
    people.research.save()
    for user, url in ((people.member, OURS), (people.platform_admin, ALL)):
        text = visit(user, url).text
        for tag in ("<script>alert", "<i>Kind", "<b>"):
            assert tag not in text
        assert "x" * 240 in text
    assert 'dir="auto">فريق البحث &lt;b&gt;</a>' in visit(people.platform_admin, ALL).text


TEXTS = (
    "", "-", "1", "0", "-1", "9" * 30, "1e9", "%25", "%2500", "*", "[", "'", "%22", "%ff", "%ed%a0%80", "%F0%9F%92%A9",
    "x" * 3000, "%E2%80%AE", "running", "-since", "all", "{{7*7}}", "<b>", "a&b=c", "%0d%0a",
)  # fmt: skip
URLS = (OURS, ALL, CSV, "/platform/workloads.csv", "/search/")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_address_breaks_a_list_or_search(mixed: World, people: People, name: str) -> None:
    client = Client()
    client.force_login(people.platform_admin)
    for number, text in enumerate(TEXTS):
        url = f"{URLS[(number + NAMES.index(name)) % len(URLS)]}?{name}={text}"
        response = client.get(url)
        assert response.getvalue()
        assert response.status_code == 200, url
    assert client.get(f"{OURS}?{name}=%00").status_code == 400


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(NAMES), st.one_of(st.text(max_size=30), st.sampled_from(TEXTS)), max_size=6))
def test_no_several_parameters_break_a_list(mixed: World, people: People, told: dict[str, str]) -> None:
    client = Client()
    client.force_login(people.platform_admin)
    query = urlencode({name: text.encode(errors="replace") for name, text in told.items()})
    assert client.get(f"{ALL}?{query}").status_code == (400 if "%00" in query else 200)


def test_a_parameter_given_twice_counts_once(mixed: World, people: People) -> None:
    assert ours(people, "?group=waiting&group=running") == ["long", "short"]
    many = "&".join(f"x{n}=1" for n in range(900))
    assert words(visit(people.member, f"{OURS}?{many}")).count("This list has no filter") == 5


def test_the_live_part_is_the_list_alone(mixed: World, people: People) -> None:
    client = Client(headers={"HX-Request": "true"})
    client.force_login(people.member)
    part = client.get(OURS + "?group=waiting")
    assert part.text.lstrip().startswith('<div id="live"')
    assert listed(part) == ["urgent", "early", "late"]
    again = client.get(OURS + "?group=waiting", headers={"If-None-Match": part["ETag"]})
    assert again.status_code == 304
    assert client.get(OURS + "?group=running", headers={"If-None-Match": part["ETag"]}).status_code == 200


def test_the_way_to_the_lists(mixed: World, people: People) -> None:
    assert f'href="{OURS}"' in visit(people.member, "/teams/research/").text
    assert f'href="{ALL}"' in visit(people.platform_admin, "/platform/").text
    mixed.see(*(Job(f"job-{n:03}").waits("no room") for n in range(30)))
    assert f'href="{OURS}?group=waiting"' in visit(people.member, "/teams/research/").text


def test_the_overviews_count_of_jobs_without_a_class_is_its_list(mixed: World, people: People) -> None:
    for name, is_over in (("bare", False), ("bare-over", True)):
        job = Job(name, created=-90).admit(-80)
        job.obj["spec"].pop("priorityClassRef")
        mixed.see(job.finish(-70) if is_over else job)
    overview = visit(people.platform_admin, "/platform/").text
    link = f"{ALL}?group=now&priority=-"
    assert link.replace("&", "&amp;") in overview
    assert "Without a priority class 1" in words(visit(people.platform_admin, "/platform/"))
    assert listed(visit(people.platform_admin, link)) == ["bare"]


def test_the_same_in_a_terminal(mixed: World, people: People) -> None:
    assert 'data-copy="kubectl get workloads -n hyperpod-ns-research"' in visit(people.member, "/teams/research/").text
    url = "/clusters/gpu-one/workloads/uid-hyperpod-ns-research-long/"
    command = "kubectl describe workload pytorchjob-long -n hyperpod-ns-research"
    assert f'data-copy="{command}"' in visit(people.member, url).text
    assert "kubectl" not in visit(people.finops, url).text


def test_what_is_gone_has_no_command(mixed: World, people: People) -> None:
    job = Job("gone", created=-80).admit(-70)
    mixed.see(job)
    mixed.lose(job, now=minute(-1), after=minute(-2))
    assert "kubectl describe" not in visit(people.member, f"/clusters/gpu-one/workloads/{job.uid}/").text
