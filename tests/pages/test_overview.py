import pytest

from gateways.errors import Unavailable
from gateways.records import NodeRecord
from jobs.sync import SOURCES
from portal.sync_runs import record_failure
from teams.sync import write_nodes
from tests.factories import ClusterFactory
from tests.pages.reading import visit, words
from tests.people import People
from tests.stories import G6, GPU, P5, START, Job, cluster_queue, cohort, groups, quota
from tests.worlds import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def read(shared: World) -> World:
    shared.is_read(START)
    return shared


def page(people: People, language: str = "en") -> str:
    return words(visit(people.platform_admin, "/platform/", language))


def test_cohorts_by_gpu_type_with_their_queues(read: World, people: People) -> None:
    read.see(Job(gpus=16).admit(-5))
    text = page(people)
    assert f"Cohort shared {P5} 16 in use of 20 guaranteed" in text
    assert "research-queue 12 16 4 0 0 no limit" in text
    assert "vision-queue 8 0 0 4 " in text


def test_gpu_types_are_never_summed(read: World, people: People) -> None:
    read.queues(cluster_queue("research-queue", flavors=groups((P5, {GPU: quota(12)}), (G6, {GPU: quota(5)}))))
    text = page(people)
    assert f"{P5} 0 in use of 20 guaranteed" in text
    assert f"{G6} 0 in use of 5 guaranteed" in text


def test_other_resources_are_left_to_the_teams_pages(read: World, people: People) -> None:
    read.queues(cluster_queue("cpu-queue", flavors=groups(("cpu-only", {"cpu": quota(64)}))))
    assert "cpu-queue" not in page(people)


def test_a_tree_stands_under_its_root(read: World, people: People) -> None:
    read.queues(cohort("shared", parent="company"), cluster_queue("alone", 1, cohort=None))
    text = page(people)
    assert "Cohort company" in text
    assert "Cohort shared" not in text
    assert "Queues outside any cohort" in text


def test_no_limit_and_the_limit_0(read: World, people: People) -> None:
    read.queues(cluster_queue("vision-queue", 8, borrow=0))
    text = page(people)
    assert "research-queue 12 0 0 0 12 no limit" in text
    assert "vision-queue 8 0 0 0 8 0 " in text


def test_unknown_is_not_0(read: World, people: People) -> None:
    read.see(Job(gpus=20).admit(-5))
    read.queues(cluster_queue("vision-queue", 2))
    text = page(people)
    assert "research-queue the cohort is over-committed 12 20 8 unknown" in text


def test_what_is_held_in_a_queue_that_is_gone(read: World, people: People) -> None:
    read.see(Job(gpus=4).admit(-5))
    read.queues_gone("research-queue")
    assert "research-queue no longer in the queue's spec 0 4 0 unknown unknown" in page(people)


def test_nodes_and_those_in_recovery(read: World, people: People) -> None:
    nodes = [NodeRecord(f"n-{n}", P5, n > 0, {GPU: 8}) for n in range(4)]
    write_nodes(read.cluster, [*nodes, NodeRecord("bare", "", True, {})], START)
    text = page(people)
    assert f"{P5} 4 3 some in recovery 24" in text
    assert "no instance type 1 1 0" in text


def test_a_cluster_that_was_never_read(world: World, people: People) -> None:
    text = page(people)
    assert "Nothing is known of this cluster yet" in text
    assert "No queue with GPUs is known here" in text
    assert "No node is known." in text


def test_no_cluster_at_all(people: People) -> None:
    assert "No cluster is set up" in page(people)


def test_an_archived_cluster_is_left_out(read: World, people: People) -> None:
    ClusterFactory(slug="old", name="Old cluster", archived_at=START)
    assert "Old cluster" not in page(people)


def test_the_error_of_a_failing_cluster_is_told(read: World, people: People) -> None:
    read.is_read(START.replace(hour=11))
    for source in SOURCES:
        record_failure(source, "gpu-one", now=START, error=Unavailable("connection refused"))
    assert "Last error connection refused" in page(people)
