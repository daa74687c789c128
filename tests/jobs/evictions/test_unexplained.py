"""Evictions in words that nobody here knows are counted, by cluster."""

import pytest

from jobs.evictions.unexplained import unexplained_by_cluster
from tests.factories import ClusterFactory
from tests.stories import START, Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("reason", "message", "count"),
    [
        ("Preempted", "Preempted, and nobody will ever know why", 1),
        ("Preempted", "Preempted to accommodate a workload (UID: a) due to the moon", 0),
        ("AbductedByAliens", "They came at night", 1),
        ("AbductedByAliens", "", 1),
        (
            "Preempted",
            "Preempted to accommodate a workload (UID: a, JobUID: b) due to reclamation within the cohort",
            0,
        ),
        ("ClusterQueueStopped", "stopped, as nobody ever said it", 0),
    ],
)
def test_what_the_words_do_not_tell(shared: World, reason: str, message: str, count: int) -> None:
    job = Job().admit(0)
    shared.see(job)
    shared.see(job.evict(5, reason, message))
    assert list(unexplained_by_cluster(START)) == [("gpu-one", count)]
    assert list(unexplained_by_cluster(minute(6))) == [("gpu-one", 0)]


def test_what_only_a_counter_tells_was_told_in_no_words(shared: World) -> None:
    job = Job().admit(0)
    shared.see(job)
    job.evict(5).release(6).admit(7)
    job.obj["status"]["conditions"] = [each for each in job.obj["status"]["conditions"] if each["type"] == "Admitted"]
    shared.see(job, now=minute(8))
    assert list(unexplained_by_cluster(START)) == [("gpu-one", 0)]


def test_archived_clusters_are_left_out(shared: World) -> None:
    ClusterFactory(slug="gpu-old", archived_at=START)
    assert [slug for slug, _ in unexplained_by_cluster(START)] == ["gpu-one"]
