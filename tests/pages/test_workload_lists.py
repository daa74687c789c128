"""The lists of workloads as people read them: groups, filters, order, pages, and the CSV of the same."""

import csv
import io
import re
from typing import Any

import pytest
from django.http import HttpResponse

from tests.pages.reading import visit, words
from tests.people import People
from tests.stories import START, Job
from tests.worlds import World

pytestmark = pytest.mark.django_db
OURS, ALL = "/teams/research/workloads/", "/platform/workloads/"


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


def jobs(response: HttpResponse) -> list[str]:
    """What the rows call their jobs, in order."""
    return re.findall(r'<a class="job"[^>]*>([^<]*)</a>', response.text)


def ours(people: People, query: str = "") -> list[str]:
    return jobs(visit(people.member, OURS + query))


def lines(user: Any, url: str) -> list[dict[str, str]]:
    text = b"".join(visit(user, url)).decode()  # type: ignore[arg-type]
    return list(csv.DictReader(io.StringIO(text)))


def test_all_jobs_the_latest_news_first(mixed: World, people: People) -> None:
    response = visit(people.member, OURS)
    assert jobs(response) == ["urgent", "late", "over", "short", "early", "long"]
    assert "All 6 Now 5 Waiting 3 Running 2 Ended 1" in words(response)
    assert "1 to 6 of 6" in words(response)


def test_each_group_in_its_own_order(mixed: World, people: People) -> None:
    assert ours(people, "?group=waiting") == ["urgent", "early", "late"]
    assert ours(people, "?group=running") == ["long", "short"]
    assert ours(people, "?group=ended") == ["over"]
    assert sorted(ours(people, "?group=now")) == ["early", "late", "long", "short", "urgent"]
