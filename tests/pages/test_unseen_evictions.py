"""Evictions of jobs that nobody saw: all that events ever told of them."""

import pytest

from jobs.models import ToldEviction
from scheduling import names
from tests.pages.reading import visit, words
from tests.people import People
from tests.stories import START, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db

OF_TEAM, OF_ALL = "/teams/research/evictions/unseen/", "/platform/evictions/unseen/"
A_MONTH = 31 * 24 * 60


def tell(world: World, name: str, namespace: str = "hyperpod-ns-research", at: int = -9) -> ToldEviction:
    return ToldEviction.objects.create(
        cluster=world.cluster, namespace=namespace, workload_uid=name, workload_name=name,
        reason=names.CLUSTER_QUEUE_STOPPED, at=minute(at),
    )  # fmt: skip


def test_a_month_later_they_still_stand(shared: World, people: People) -> None:
    tell(shared, "job-quick", at=-A_MONTH)
    assert "job-quick Queue stopped" in words(visit(people.member, OF_TEAM))


def test_the_history_leads_there(shared: World, people: People) -> None:
    assert f'href="{OF_TEAM}"' in visit(people.member, "/teams/research/evictions/").text
    assert f'href="{OF_ALL}"' in visit(people.platform_admin, "/platform/evictions/").text


def test_other_teams_are_for_platform_roles(shared: World, people: People) -> None:
    tell(shared, "job-mine")
    tell(shared, "job-theirs", "hyperpod-ns-vision")
    tell(shared, "job-nobodys", "default")
    mine, every = words(visit(people.member, OF_TEAM)), words(visit(people.platform_admin, OF_ALL))
    assert "job-mine" in mine
    assert "job-theirs" not in mine
    assert "job-nobodys" not in mine
    assert all(name in every for name in ("job-mine Research", "job-theirs Vision", "job-nobodys no team"))


def test_pages_of_many(shared: World, people: People) -> None:
    for number in range(60):
        tell(shared, f"job-{number:02}", at=-number)
    first, last = words(visit(people.member, OF_TEAM)), words(visit(people.member, f"{OF_TEAM}?page=99"))
    assert "1 to 50 of 60" in first
    assert first.index("job-00") < first.index("job-49")
    assert "51 to 60 of 60" in last
    assert "1 to 50 of 60" in words(visit(people.member, f"{OF_TEAM}?page=two"))


def test_none(shared: World, people: People) -> None:
    shared.is_read(START)
    assert "There are none" in words(visit(people.member, OF_TEAM))
