import pytest

from jobs.evictions.borrowers import borrowers_without_checkpoints
from jobs.lists.reach import reach_of_all
from scheduling import names
from teams.models import Cluster, Team
from tests.stories import START, Job
from tests.worlds import World

pytestmark = pytest.mark.django_db


def told() -> list[tuple[str, int, int, int]]:
    """Title, GPUs held and borrowed, GPU-seconds at stake."""
    found = borrowers_without_checkpoints(reach_of_all(), START)
    return [(each.workload.title, each.gpus, each.borrowed, each.at_stake) for each in found]


def borrower(name: str = "big", *, interval: str = "", checkpoint: str = "", kind: str = "PyTorchJob") -> Job:
    """16 GPUs for half an hour, where 12 are guaranteed."""
    job = Job(name, gpus=16, created=-40)
    job.obj["metadata"]["ownerReferences"][0]["kind"] = kind
    if interval:
        annotations = {names.CHECKPOINT_INTERVAL_ANNOTATION: interval}
        job.obj["spec"]["podSets"][0]["template"]["metadata"] = {"annotations": annotations}
    if checkpoint:
        job.obj["metadata"]["annotations"] = {names.LAST_CHECKPOINT_ANNOTATION: checkpoint}
    return job.admit(-30)


def test_who_borrows_and_tells_of_no_checkpoint_would_lose_the_whole_run(shared: World) -> None:
    shared.see(borrower(), Job("own", "hyperpod-ns-vision", queue="vision-queue").admit(-30))
    assert told() == [("big", 16, 4, 16 * 1800)]


def test_the_first_to_hold_quota_runs_on_the_own_one(shared: World) -> None:
    shared.see(Job("first", gpus=12, created=-90).admit(-60), Job("second", gpus=2, created=-90).admit(-10))
    assert told() == [("second", 2, 2, 2 * 600)]


@pytest.mark.parametrize("interval", ["30m", "1h30m"])
def test_an_interval_is_enough(shared: World, interval: str) -> None:
    shared.see(borrower(interval=interval))
    assert told() == []


@pytest.mark.parametrize("interval", ["soon", "-5m", "10000d"])
def test_an_interval_that_is_none_is_not(shared: World, interval: str) -> None:
    shared.see(borrower(interval=interval))
    assert len(told()) == 1


@pytest.mark.parametrize(("checkpoint", "listed"), [("2026-10-08T11:50:00Z", 0), ("2026-10-09T00:00:00Z", 1), ("?", 1)])
def test_so_is_a_checkpoint_that_was_told_and_lies_in_the_past(shared: World, checkpoint: str, listed: int) -> None:
    shared.see(borrower(checkpoint=checkpoint))
    assert len(told()) == listed


def test_so_is_a_default_of_its_own_team(shared: World) -> None:
    shared.see(borrower())
    Team.objects.filter(slug="vision").update(checkpoint_seconds=1800)
    assert len(told()) == 1
    Team.objects.filter(slug="research").update(checkpoint_seconds=1800)
    assert told() == []


@pytest.mark.parametrize("kind", ["InferenceEndpointConfig", "Workspace"])
def test_what_saves_no_work_is_not_listed(shared: World, kind: str) -> None:
    shared.see(borrower(kind=kind))
    assert told() == []


def test_what_was_given_back_counts_until_then(shared: World) -> None:
    job = Job("big", gpus=4, pods=4, created=-40).admit(-30)
    shared.see(job)
    shared.see(job.give_back(1), now=START)
    assert told() == []
    shared.see(Job("small", gpus=2, created=-40).admit(-20))
    assert told() == [("small", 2, 2, 2 * 1200)]


def test_before_it_is_admitted_nothing_is_at_stake(shared: World) -> None:
    shared.see(Job("big", gpus=16, created=-40).reserve(-30))
    assert told() == [("big", 16, 4, 0)]


def test_what_ended_and_what_is_archived_is_not_listed(shared: World) -> None:
    job = borrower()
    shared.see(job)
    Cluster.objects.update(archived_at=START)
    assert told() == []
    Cluster.objects.update(archived_at=None)
    shared.see(job.finish(-1))
    assert told() == []
