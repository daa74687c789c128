import pytest

from jobs.rules.time_to_start import Actor, Attempt, Phase
from jobs.workloads.attempt import attempt_of
from jobs.workloads.span_history import history_of
from tests.stories import Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db


def attempt(world: World, job: Job) -> Attempt:
    row = world.row(job)
    return attempt_of(row, history_of(row, 20), Actor.OWNER)


def test_one_that_waits_since_it_was_created(world: World) -> None:
    job = Job(created=-30).waits("no room", -20)
    world.see(job)
    assert attempt(world, job) == Attempt(minute(-30), phase=Phase.QUEUE, waits_for=Actor.OWNER)


def test_one_that_waits_again_since_it_gave_its_quota_back(world: World) -> None:
    job = Job(created=-60).admit(-50)
    world.see(job, now=minute(-49))
    world.see(job.evict(-40).release(-38, "no room"), now=minute(-37))
    assert attempt(world, job).queued_at == minute(-38)


def test_one_whose_pods_became_ready(world: World) -> None:
    job = Job(created=-60).reserve(-50).admit(-45).condition("PodsReady", True, -40, "Started")
    world.see(job)
    assert attempt(world, job) == Attempt(minute(-60), minute(-50), minute(-45), minute(-40))


def test_pods_that_had_to_be_replaced_do_not_tell_when_it_started(world: World) -> None:
    job = Job(created=-60).admit(-45).condition("PodsReady", True, -10, "Recovered")
    world.see(job)
    assert attempt(world, job).ready_at is None


def test_one_whose_checks_are_not_done(world: World) -> None:
    job = Job(created=-60).reserve(-50)
    world.see(job)
    assert attempt(world, job) == Attempt(minute(-60), minute(-50), phase=Phase.CHECKS)


@pytest.mark.parametrize("reason", ["WaitForStart", "PodsReady"])
def test_one_whose_pods_are_not_ready(world: World, reason: str) -> None:
    job = Job(created=-60).admit(-50).condition("PodsReady", False, -50, reason)
    world.see(job)
    assert attempt(world, job) == Attempt(minute(-60), minute(-50), minute(-50), phase=Phase.PODS)


def test_one_that_lost_a_pod_has_started_all_the_same(world: World) -> None:
    job = Job(created=-60).admit(-50).condition("PodsReady", False, -10, "WaitForRecovery")
    world.see(job)
    assert attempt(world, job).phase is None


def test_the_second_attempt_begins_when_the_first_hold_ended(world: World) -> None:
    job = Job(created=-60).admit(-50)
    world.see(job, now=minute(-49))
    world.see(job.evict(-40).release(-38), now=minute(-37))
    world.see(job.admit(-30), now=minute(-29))
    assert attempt(world, job) == Attempt(minute(-38), minute(-30), minute(-30))


def test_after_a_hold_that_nobody_saw_the_wait_is_unaccounted_for(world: World) -> None:
    job = Job(created=-60)
    job.obj["status"]["schedulingStats"] = {"evictions": [{"reason": "Preempted", "count": 1}]}
    world.see(job.admit(-30))
    found = attempt(world, job)
    assert (found.queued_at, found.reserved_at, found.admitted_at) == (minute(-60), None, minute(-30))


def test_one_that_was_given_up_before_it_started(world: World) -> None:
    job = Job(created=-60).waits("no room", -59)
    world.see(job, now=minute(-58))
    world.see_deleted(job, now=minute(-20))
    assert attempt(world, job) == Attempt(minute(-60), ended_at=minute(-20), phase=Phase.QUEUE)


def test_one_of_which_no_hold_is_known_though_it_runs(world: World) -> None:
    job = Job(created=-60).admit(-50)
    world.see(job)
    world.spans(job)[0].delete()
    assert attempt(world, job) == Attempt(minute(-60))
