import re

import pytest

from gateways.errors import Unavailable
from gateways.records import NodeRecord
from jobs.sync.sources import SOURCES
from portal.sync_runs import record_failure
from scheduling import names
from teams.sync import write_nodes
from tests.factories import ClusterFactory
from tests.pages.reading import labels, visit, words
from tests.people import People
from tests.stories import (
    G6,
    GPU,
    P5,
    START,
    Job,
    cluster_queue,
    cohort,
    flavor,
    groups,
    local_queue,
    minute,
    quota,
)
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
    assert "Cohort shared one scale per GPU type" in text
    assert f"H100 {P5} 16 in use of 20 guaranteed" in text
    assert "Research no limit 12 of 12 own, 4 borrowed, 0 lent. Vision" in text
    assert "Vision no limit 0 of 8 own, 0 borrowed, 4 lent. Can still lend 4." in text


def test_each_queue_is_a_bar_on_the_scale_of_its_type(read: World, people: People) -> None:
    read.see(Job(gpus=16).admit(-5))
    response = visit(people.platform_admin, "/platform/")
    assert labels(response)[:2] == [
        "H100. 12 of 12 own, 4 borrowed, 0 lent.",
        "H100. 0 of 8 own, 0 borrowed, 4 lent.",
    ]
    ticks = re.findall(r'class="q-tick" x1="([^"]*)"', response.text.split("qset-axis")[1])
    assert ticks == ["60%", "40%"]


def test_a_queue_of_several_teams_names_them_and_one_of_none_itself(read: World, people: People) -> None:
    read.queues(local_queue("hyperpod-ns-vision", "research-queue", name="second"), cluster_queue("nobodys-queue", 2))
    text = page(people)
    assert "Research , Vision no limit 0 of 12 own" in text
    assert "nobodys-queue no limit 0 of 2 own" in text


def test_gpu_types_are_never_summed(read: World, people: People) -> None:
    read.queues(cluster_queue("research-queue", flavors=groups((P5, {GPU: quota(12)}), (G6, {GPU: quota(5)}))))
    text = page(people)
    assert f"H100 {P5} 0 in use of 20 guaranteed" in text
    assert f"L4 {G6} 0 in use of 5 guaranteed" in text


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
    assert "Research no limit 0 of 12 own, 0 borrowed, 0 lent. Can still lend 12." in text
    assert "Vision 0 0 of 8 own, 0 borrowed, 0 lent. Can still lend 8." in text


def test_unknown_is_not_0(read: World, people: People) -> None:
    read.see(Job(gpus=20).admit(-5))
    read.queues(cluster_queue("vision-queue", 2))
    text = page(people)
    assert "Research no limit 12 of 12 own, 8 borrowed, unknown lent. The cohort is over-committed." in text
    assert "0 lent" not in text
    assert "Can still lend" not in text


def test_what_is_held_in_a_queue_that_is_gone(read: World, people: People) -> None:
    read.see(Job(gpus=4).admit(-5))
    read.queues_gone("research-queue")
    text = page(people)
    assert "Research no limit 4 of 0 own, 0 borrowed, unknown lent. No longer in the queue's spec." in text


def test_nodes_and_those_in_recovery(read: World, people: People) -> None:
    read.queues(flavor(P5))
    nodes = [NodeRecord(f"n-{n}", P5, n > 0, {GPU: 8}) for n in range(4)]
    write_nodes(read.cluster, [*nodes, NodeRecord("bare", "", True, {})], START)
    response = visit(people.platform_admin, "/platform/")
    text = words(response)
    assert f"{P5} H100 3 of 4 24" in text
    assert "no instance type 1 of 1 0" in text
    assert {"3 of 4 nodes healthy", "1 of 1 nodes healthy"} < set(labels(response))
    assert "Nodes in recovery 1 " in text
    assert "0 in use of 20 guaranteed 3 of 4 nodes healthy · 4 outside all quotas" in text


def test_quotas_that_promise_more_than_the_healthy_nodes_have(read: World, people: People) -> None:
    read.queues(flavor(P5))
    write_nodes(read.cluster, [NodeRecord(f"n-{n}", P5, n > 1, {GPU: 8}) for n in range(4)], START)
    text = page(people)
    assert "Promised but not there 4 GPUs of H100" in text
    assert "2 of 4 nodes healthy 4 GPUs promised that do not exist" in text
    assert "outside all quotas" not in text


def test_flavors_of_one_instance_type_share_its_nodes(read: World, people: People) -> None:
    selecting = {"nodeLabels": {names.INSTANCE_TYPE_LABEL: P5}}
    read.queues(
        flavor("reserved", **selecting),
        flavor("spot", **selecting),
        cluster_queue("research-queue", flavors=groups(("reserved", {GPU: quota(12)}))),
        cluster_queue("vision-queue", flavors=groups(("spot", {GPU: quota(8)}))),
    )
    write_nodes(read.cluster, [NodeRecord(f"n-{n}", P5, True, {GPU: 8}) for n in range(2)], START)
    text = page(people)
    assert "Promised but not there 0 " not in text
    assert "4 GPUs promised that do not exist" in text
    assert "outside all quotas" not in text


def test_what_a_cohort_guarantees_is_promised_too(read: World, people: People) -> None:
    read.queues(flavor(P5), cohort(gpus=3))
    write_nodes(read.cluster, [NodeRecord(f"n-{n}", P5, True, {GPU: 8}) for n in range(3)], START)
    assert "· 1 outside all quotas" in page(people)


def test_what_needs_an_admin(read: World, people: People) -> None:
    plain = Job("plain").waits("no room")
    del plain.obj["spec"]["priorityClassRef"]
    stuck, restless = Job("stuck").admit(-60).evict(-20), Job("restless", created=-70)
    read.see(plain, stuck)
    to_all = 'href="/platform/evictions/again/"'
    assert to_all not in visit(people.platform_admin, "/platform/").text
    for at in (-50, -40, -30):
        read.see(restless.admit(at), now=minute(at))
        read.see(restless.evict(at + 1).release(at + 2, "no room"), now=minute(at + 3))
    response = visit(people.platform_admin, "/platform/")
    text = words(response)
    assert "Without a priority class 1 evicted first" in text
    assert "Stuck or going round 1 stuck, 1 in a loop See them" in text
    assert "stuck hyperpod-ns-research Its eviction was decided more than 10 minutes ago" in text
    assert "restless hyperpod-ns-research It was evicted three times or more, each within an hour" in text
    assert to_all in response.text


def test_cohorts_that_form_a_cycle(read: World, people: People) -> None:
    read.queues(cohort("shared", parent="company"), cohort("company", parent="shared"))
    assert "Cohorts form a cycle" in page(people)


def test_nothing_needs_an_admin(read: World, people: People) -> None:
    read.queues(flavor(P5))
    write_nodes(read.cluster, [NodeRecord(f"n-{n}", P5, True, {GPU: 8}) for n in range(3)], START)
    text = page(people)
    assert "Promised but not there 0 quotas fit the healthy nodes Nodes in recovery 0" in text
    assert "Without a priority class 0 evicted first Stuck or going round 0 stuck, 0 in a loop" in text
    assert "Nothing is stuck" in text
    assert "Cohorts form a cycle" not in text


def test_a_cluster_that_was_never_read(world: World, people: People) -> None:
    text = page(people)
    assert "Nothing is known of this cluster yet" in text
    assert "No queue with GPUs is known here" in text
    assert "No node is known Nodes appear when the portal has read them." in text


def test_what_was_not_read_is_unknown_and_not_0(shared: World, people: People) -> None:
    text = page(people)
    assert "Promised but not there unknown Nodes in recovery unknown" in text
    assert "Without a priority class unknown Stuck or going round unknown" in text
    assert "Nothing is stuck" not in text
    shared.is_read(START)
    text = page(people)
    assert "Nodes in recovery 0 " in text
    assert "Without a priority class 0 evicted first Stuck or going round 0 stuck, 0 in a loop" in text


def test_quotas_of_a_type_without_known_nodes_are_not_said_to_fit(read: World, people: People) -> None:
    read.queues(flavor(P5))
    write_nodes(read.cluster, [NodeRecord("other", G6, True, {GPU: 8})], START)
    assert "Promised but not there unknown" in page(people)


def test_what_was_read_before_the_rest_is_told(shared: World, people: People) -> None:
    plain = Job("plain").waits("no room")
    del plain.obj["spec"]["priorityClassRef"]
    shared.see(plain)
    write_nodes(shared.cluster, [NodeRecord(f"n-{n}", P5, n > 0, {GPU: 8}) for n in range(4)], START)
    text = page(people)
    assert "Nodes in recovery 1 " in text
    assert "Without a priority class 1 evicted first" in text


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
