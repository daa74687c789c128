import pytest

from jobs.models import Interruption
from jobs.sync.pod_runs import PodGone, write_pods
from jobs.sync.sources import PODS
from portal.models import SourceState
from portal.views import cluster as view
from tests.pages.reading import rows, visit, words
from tests.people import People
from tests.pods import Pod, see_pods
from tests.stories import Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db
NO_CLASS, NO_CHECK = "Every job has priority 0 until there are classes.", "Jobs are admitted as soon as there is quota."


URL = "/platform/clusters/gpu-one/"


def page(people: People) -> str:
    return words(visit(people.platform_admin, URL))


@pytest.fixture
def ran(zoo: World, jobs: dict[str, Job]) -> World:
    """On node-7 a pod of research, which died with it; on node-8 the one that came instead, and one of zebra."""
    died, there = Pod(jobs["runs"], "runs-0", "node-7", bound=-50), Pod(jobs["theirs"], "zebra-0", "node-8", bound=-30)
    see_pods(zoo, died.stops(-10, "DeletionByTaintManager"), there)
    gone = [PodGone(died.uid, minute(-9), minute(-9), watched=True)]
    write_pods(zoo.cluster, (), gone, sick_nodes=lambda _: (), now=minute(-9), last_seen=None)
    see_pods(zoo, Pod(jobs["runs"], "runs-0", "node-8", bound=-8))
    return zoo


def test_a_cluster_that_was_never_read_is_not_said_to_lack_classes_and_checks(world: World, people: People) -> None:
    text = page(people)
    assert NO_CLASS not in text
    assert NO_CHECK not in text
    assert text.count("Not known yet") == len(("flavors", "classes", "checks", "nodes"))


def test_a_cluster_that_was_read_has_none(world: World, people: People) -> None:
    world.is_read()
    text = page(people)
    assert NO_CLASS in text
    assert NO_CHECK in text


def test_nodes_with_jobs_lead_to_their_pages_those_that_failed_first(ran: World, people: People) -> None:
    for user in (people.platform_admin, people.finops, people.auditor):
        response = visit(user, URL)
        assert rows(response, "Nodes with jobs") == ["node-7 0 0 1", "node-8 2 2 0"]
        for node in ("node-7", "node-8"):
            assert f'href="/clusters/gpu-one/nodes/{node}/"' in response.text
            assert visit(user, f"/clusters/gpu-one/nodes/{node}/").status_code == 200


def test_a_node_that_failed_longer_ago_is_not_listed(ran: World, people: People) -> None:
    Interruption.objects.update(after=minute(-8 * 1440), before=minute(-8 * 1440))
    assert rows(visit(people.platform_admin, URL), "Nodes with jobs") == ["node-8 2 2 0"]


def test_no_node_without_jobs_is_unknown_until_pods_were_read(zoo: World, people: People) -> None:
    zoo.is_read()
    assert "No node has a job now" not in page(people)
    SourceState.objects.create(source=PODS, cluster="gpu-one", last_good_at=zoo.now)
    assert "No node has a job now" in page(people)


def test_of_very_many_nodes_the_first_are_shown(ran: World, people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "_MOST_NODES", 1)
    response = visit(people.platform_admin, URL)
    assert rows(response, "Nodes with jobs") == ["node-7 0 0 1"]
    assert "The first 1 are shown." in words(response)


def test_members_see_no_list_of_nodes(ran: World, people: People) -> None:
    assert visit(people.member, URL).status_code == 403
    assert "node-7" not in visit(people.member, URL).text


def test_the_overview_leads_to_the_nodes(ran: World, people: People) -> None:
    ran.is_read()
    assert 'href="/platform/clusters/gpu-one/#h-busy"' in visit(people.platform_admin, "/platform/").text
