"""Which jobs ran on a node: all of them for platform roles, their own for members, nothing for strangers."""

import pytest
from django.test import Client

from gateways.errors import Denied
from jobs.models import PodRun
from jobs.sync.pod_runs import PodGone, write_pods
from jobs.sync.sources import PODS
from portal.sync_runs import record_failure
from tests.pages.reading import rows, visit, words
from tests.people import People
from tests.pods import Pod, see_pods
from tests.stories import Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db

URL = "/clusters/gpu-one/nodes/node-7/"


@pytest.fixture
def ran(zoo: World, jobs: dict[str, Job]) -> World:
    """On node-7 one pod of research, which died with it, and one of zebra, which runs on."""
    died, runs = Pod(jobs["runs"], "runs-0", "node-7", bound=-50), Pod(jobs["theirs"], "zebra-0", "node-7", bound=-30)
    see_pods(zoo, died, runs)
    see_pods(zoo, died.stops(-10, "DeletionByTaintManager"))
    gone = [PodGone(died.uid, minute(-9), minute(-9), watched=True)]
    write_pods(zoo.cluster, (), gone, sick_nodes=lambda _: (), now=minute(-9), last_seen=None)
    see_pods(zoo, Pod(jobs["runs"], "runs-0", "node-8", bound=-8))
    return zoo


def test_platform_roles_see_every_job_that_ran_on_it(ran: World, people: People) -> None:
    for role in ("platform_admin", "finops", "auditor"):
        newest, oldest = rows(visit(getattr(people, role), URL), "What ran here")
        assert "zebra-llm Zebra Crossing hyperpod-ns-zebra zebra-0" in newest
        assert "still there" in newest
        assert "runs Research hyperpod-ns-research runs-0" in oldest
        assert "11:51:00 UTC The node failed DeletionByTaintManager" in oldest


def test_members_see_their_own_alone(ran: World, people: People) -> None:
    response = visit(people.member, URL)
    (only,) = rows(response, "What ran here")
    assert "runs-0" in only
    assert "zebra" not in words(response).lower()


@pytest.mark.parametrize("role", ["stranger", "neighbour"])
def test_nobody_else_learns_that_the_node_is_there(ran: World, people: People, role: str) -> None:
    assert visit(getattr(people, role), URL).status_code == 404


def test_a_node_on_which_nothing_ever_ran_is_not_there(ran: World, people: People) -> None:
    for url in (URL.replace("node-7", "node-6"), URL.replace("gpu-one", "gpu-two")):
        assert visit(people.platform_admin, url).status_code == 404


@pytest.mark.parametrize(
    ("window", "found"),
    [
        ("?from=2026-10-08T11:52&to=2026-10-08T12:00", ["zebra-0"]),
        ("?from=2026-10-08T11:00&to=2026-10-08T11:20", ["runs-0"]),
        ("?from=2026-10-08T11:51&to=2026-10-08T11:52", ["zebra-0"]),
        ("?from=2026-10-08T11:50&to=2026-10-08T11:51", ["zebra-0", "runs-0"]),
    ],
)
def test_what_ran_between_two_times(ran: World, people: People, window: str, found: list[str]) -> None:
    told = rows(visit(people.platform_admin, URL + window), "What ran here")
    assert [next(name for name in ("zebra-0", "runs-0") if name in row) for row in told] == found


def test_a_time_in_which_nothing_ran_says_so(ran: World, people: People) -> None:
    text = words(visit(people.member, URL + "?from=2026-10-01T00:00&to=2026-10-02T00:00"))
    assert "Nothing ran here at that time" in text


def test_times_that_are_none_are_told(ran: World, people: People) -> None:
    text = words(visit(people.member, URL + "?from=soon&to=2026-10-08T12:00"))
    assert "“soon” is no time and was left out." in text
    text = words(visit(people.member, URL + "?from=2026-10-08T12:00&to=2026-10-08T11:00"))
    assert "The time begins after its end" in text


def test_an_open_page_asks_for_its_part_and_is_told_if_nothing_changed(ran: World, people: People) -> None:
    client = Client()
    client.force_login(people.member)
    first = client.get(URL, headers={"HX-Request": "true"})
    again = {"HX-Request": "true", "If-None-Match": first["ETag"]}
    assert client.get(URL, headers=again).status_code == 304
    assert "<h1" not in first.content.decode()


def test_search_finds_nodes_on_which_jobs_in_sight_ran(ran: World, people: People) -> None:
    url = "/search/?q=node-"
    assert "Nodes node-7 GPU one node-8 GPU one" in words(visit(people.platform_admin, url))
    PodRun.objects.filter(node="node-8").update(node="node-zebra")
    PodRun.objects.filter(node="node-zebra").update(workload=PodRun.objects.get(name="zebra-0").workload)
    assert "Nodes node-7 GPU one" in words(visit(people.member, url))
    assert "node-zebra" not in words(visit(people.member, url))
    assert "Nothing of your teams is called so." in words(visit(people.stranger, url))


def test_the_jobs_page_tells_where_it_ran_and_what_interrupted_it(
    ran: World, people: People, jobs: dict[str, Job]
) -> None:
    response = visit(people.member, f"/clusters/gpu-one/workloads/{jobs['runs'].uid}/")
    (interruption,) = rows(response, "Interruptions")
    assert "11:50:00 UTC The node failed DeletionByTaintManager 1 node-7" in interruption
    assert "11:52:00 UTC" in interruption
    newest, oldest = rows(response, "Where it ran")
    assert "runs-0 node-8" in newest
    assert "still there" in newest
    assert "runs-0 node-7" in oldest
    assert "11:10:00 UTC" in oldest


def test_a_job_whose_pods_were_never_read_says_so(zoo: World, people: People, jobs: dict[str, Job]) -> None:
    text = words(visit(people.member, f"/clusters/gpu-one/workloads/{jobs['runs'].uid}/"))
    assert "Whether it was interrupted is not known" in text
    assert "Where it ran is not known" in text


def test_the_last_week_of_the_team_counts_interruptions(ran: World, people: People) -> None:
    response = visit(people.member, "/teams/research/lost/")
    assert "Interrupted, without losing their quota" in words(response)
    assert "runs The node failed DeletionByTaintManager" in words(response)
    assert "Interrupted, without losing" not in words(visit(people.team_admin, "/teams/vision/lost/"))


def test_a_job_whose_pods_cannot_be_read_any_more_says_so(ran: World, people: People, jobs: dict[str, Job]) -> None:
    record_failure(PODS, "gpu-one", now=minute(-1), error=Denied("pods may not be listed"))
    text = words(visit(people.member, f"/clusters/gpu-one/workloads/{jobs['runs'].uid}/"))
    assert "The pods of this cluster cannot be read since 8 Oct 2026 11:59:00 UTC" in text
    waits = words(visit(people.member, f"/clusters/gpu-one/workloads/{jobs['waits'].uid}/"))
    assert "Where it ran is not known" in waits
