import pytest
from django.db import transaction

from teams.queues import current_queues
from tests.stories import cluster_queue, cohort, local_queue, minute
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
    """SQLite gives the keys of the rows that were never stored to the next ones."""
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
