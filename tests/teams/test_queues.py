import pytest
from django.db import transaction

from gateways.records import NodeRecord
from jobs.ledger.now import refresh
from jobs.models import QueueNow
from portal.write_path import exclusive
from teams.models import Cluster
from teams.queues import current_queues
from teams.sync import write_nodes
from tests.stories import GPU, P5, START, cluster_queue, cohort, local_queue, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db


def test_the_open_versions_as_records(shared: World) -> None:
    queues = current_queues(shared.cluster)
    assert set(queues.cluster_queues) == {"research-queue", "vision-queue"}
    assert set(queues.cohorts) == {"shared"}
    assert queues.cluster_queue_of == {
        "hyperpod-ns-research/main-queue": "research-queue",
        "hyperpod-ns-vision/main-queue": "vision-queue",
    }
    assert queues.cluster_queues_of({"hyperpod-ns-vision", "elsewhere"}) == ["vision-queue"]


def test_a_stopped_local_queue_feeds_nothing(shared: World) -> None:
    shared.queues(local_queue("hyperpod-ns-research", "research-queue", stopPolicy="Hold"))
    queues = current_queues(shared.cluster)
    assert queues.local_queues_of("research-queue") == ["hyperpod-ns-research/main-queue"]
    assert queues.feeding("research-queue") == []


def test_closed_and_deleted_versions_are_left_out(shared: World) -> None:
    shared.now = minute(1)
    shared.queues(cluster_queue("research-queue", 3))
    shared.queues_gone("vision-queue")
    queues = current_queues(shared.cluster)
    assert list(queues.cluster_queues) == ["research-queue"]
    assert queues.cluster_queues["research-queue"].groups[0].flavors[0].resources["nvidia.com/gpu"].nominal == 3


def test_nothing_is_remembered_of_a_transaction_that_failed(shared: World) -> None:
    with transaction.atomic():
        shared.queues(cohort("abandoned"))
        assert "abandoned" in current_queues(shared.cluster).cohorts
        transaction.set_rollback(True)
    shared.queues(cohort("kept"))
    assert set(current_queues(shared.cluster).cohorts) == {"shared", "kept"}


def test_unchanged_queues_are_parsed_once(shared: World) -> None:
    assert current_queues(shared.cluster) is current_queues(shared.cluster)


def test_no_queue_is_no_error(world: World) -> None:
    assert current_queues(world.cluster).cluster_queues == {}


def test_another_version_after_each_change_of_specs_or_nodes(shared: World) -> None:
    versions = [shared.cluster.specs_version]
    shared.queues(cluster_queue("research-queue", 13))
    versions.append(shared.cluster.specs_version)
    shared.queues_gone("research-queue")
    versions.append(shared.cluster.specs_version)
    write_nodes(shared.cluster, [NodeRecord("one", P5, True, {GPU: 8})], START)
    versions.append(shared.cluster.specs_version)
    assert len(set(versions)) == 4
    assert Cluster.objects.get(pk=shared.cluster.pk).specs_version == versions[-1]


def test_what_changes_nothing_keeps_the_version(shared: World) -> None:
    shared.queues(cluster_queue("research-queue", 13))
    before = shared.cluster.specs_version
    shared.queues(cluster_queue("research-queue", 13))
    assert shared.cluster.specs_version == before


def test_a_process_with_an_old_version_in_hand_counts_with_the_new_specs(shared: World) -> None:
    old = Cluster.objects.get(pk=shared.cluster.pk)
    shared.queues(cluster_queue("research-queue", 13))
    with exclusive(old.slug):
        refresh(old)
    assert QueueNow.objects.get(cluster_queue="research-queue").nominal == 13


def test_nodes_behind_the_queues(shared: World) -> None:
    nodes = [NodeRecord(name, P5, name == "one", {GPU: 8}) for name in ("one", "two")]
    write_nodes(shared.cluster, nodes, START)
    assert current_queues(shared.cluster).nodes[P5].healthy_accelerators == 8
    write_nodes(shared.cluster, [], START)
    assert current_queues(shared.cluster).nodes == {}
