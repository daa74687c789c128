"""Search finds what a person may see, and tells nothing of the rest."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from teams.models import Team
from tests.factories import ClusterFactory, TeamFactory
from tests.pages.conftest import THEIR_UID
from tests.pages.reading import visit, words
from tests.people import People
from tests.stories import START, Job, local_queue
from tests.worlds import World

pytestmark = pytest.mark.django_db


def found(user: User, text: str) -> str:
    """The part of the page that answers."""
    response = visit(user, f"/search/?q={text}")
    assert response.status_code == 200
    return words(response).split("Demo:", 1)[1].split("Help Close", 1)[0]


def test_without_a_word_it_says_what_to_write(people: People) -> None:
    for query in ("", "?q=", "?q=%20"):
        assert "Write a part of a name" in words(visit(people.member, f"/search/{query}"))


def test_a_member_finds_teams_jobs_and_queues_of_theirs(people: People, jobs: dict[str, Job]) -> None:
    assert "Teams Research Jobs" in found(people.member, "sear")
    assert "Jobs waits Queued PyTorchJob · Research" in found(people.member, "wai")
    text = found(people.member, "queue")
    assert "main-queue LocalQueue · hyperpod-ns-research · GPU one" in text
    assert "research-queue ClusterQueue · GPU one" in text


def test_capitals_make_no_difference(people: People, jobs: dict[str, Job]) -> None:
    assert "Research Jobs" in found(people.member, "RESEARCH")
    assert "waits Queued" in found(people.member, "Waits")


def test_a_job_is_found_by_its_uid(people: People, jobs: dict[str, Job]) -> None:
    assert "zebra-llm" in found(people.platform_admin, THEIR_UID[:12])


@pytest.mark.parametrize("text", ["zebra", THEIR_UID, "hyperpod-ns-zebra", "zebra-lq", "zebra-cq", "vision"])
@pytest.mark.parametrize("role", ["member", "viewer", "stranger"])
def test_nothing_of_others_is_found(people: People, jobs: dict[str, Job], role: str, text: str) -> None:
    told = found(getattr(people, role), text).replace(text, "")
    assert "Nothing of your teams is called so." in told
    assert told == found(getattr(people, role), "no-such-name").replace("no-such-name", "")


def test_looking_for_others_costs_the_same_as_for_nothing(people: People, jobs: dict[str, Job]) -> None:
    client = Client()
    client.force_login(people.member)
    asked = []
    for text in ("zebra", "no-such-name"):
        client.get("/search/")
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/search/?q={text}")
        asked.append([query["sql"].replace(text, "") for query in queries])
    assert asked[0] == asked[1]


def test_platform_roles_find_everything_that_begins_so(people: People, jobs: dict[str, Job]) -> None:
    for user in (people.platform_admin, people.finops, people.auditor):
        text = found(user, "zebra")
        assert "Zebra Crossing Jobs" in text
        assert "zebra-llm Running PyTorchJob · Zebra Crossing" in text
        assert "zebra-cq ClusterQueue" in text
        assert "zebra-lq LocalQueue · hyperpod-ns-zebra" in text


def test_every_link_leads_to_a_page(people: People, jobs: dict[str, Job]) -> None:
    for user in (people.member, people.platform_admin):
        text = visit(user, "/search/?q=e").text
        links = [
            part.split('"')[0].split("#")[0].replace("&amp;", "&") for part in text.split('class="job" href="')[1:]
        ]
        assert links
        assert [visit(user, link).status_code for link in links] == [200] * len(links)


def test_a_cluster_queue_leads_to_its_bar(people: People, jobs: dict[str, Job]) -> None:
    assert 'href="/teams/research/#h-quota-gpu-one"' in visit(people.member, "/search/?q=research-queue").text
    assert 'id="h-quota-gpu-one"' in visit(people.member, "/teams/research/").text
    text = visit(people.platform_admin, "/search/?q=zebra-cq").text
    anchor = text.split('href="/platform/#', 1)[1].split('"', 1)[0]
    assert f'id="{anchor}"' in visit(people.platform_admin, "/platform/").text


def test_archived_teams_and_clusters_are_not_found(zoo: World, people: People, jobs: dict[str, Job]) -> None:
    Team.objects.filter(slug="zebra").update(archived_at=START)
    assert "Zebra Crossing Jobs" not in found(people.platform_admin, "zebra")
    zoo.cluster.archived_at = START
    zoo.cluster.save()
    assert "Nothing found" in found(people.platform_admin, "waits")
    assert "Nothing found" in found(people.member, "waits")


def test_more_than_can_be_shown(zoo: World, people: People) -> None:
    zoo.see(*(Job(f"many-{n:02}").waits("no room") for n in range(21)))
    text = found(people.member, "many")
    assert text.count("many-") == 20
    assert "The first 20 are shown." in text
    assert found(people.member, "many-0").count("many-") == 11


def test_names_are_text_and_not_markup(people: People) -> None:
    TeamFactory(slug="odd", name="<script>alert(1)</script>")
    text = visit(people.platform_admin, "/search/?q=<script>").text
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_as_many_queries_for_many_clusters_as_for_one(zoo: World, people: People, jobs: dict[str, Job]) -> None:
    client = Client()
    client.force_login(people.platform_admin)

    def count() -> int:
        client.get("/search/?q=e")
        with CaptureQueriesContext(connection) as queries:
            client.get("/search/?q=e")
        return len(queries)

    few = count()
    for n in range(3):
        other = World(ClusterFactory(slug=f"gpu-{n}", name=f"GPU {n}"))
        other.queues(local_queue("elsewhere", "research-queue"))
    assert count() == few <= 12
