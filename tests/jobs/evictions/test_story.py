"""What is advised after an eviction: only what can be done and would have helped."""

import pytest

from jobs.evictions.list import with_objects
from jobs.evictions.story import Advice, advice
from jobs.models import Eviction
from scheduling import names
from scheduling.preemption_messages import preempted
from tests.stories import P5, Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db

THEIRS = "22222222-2222-4222-8222-222222222222"
CLASSES = {"low": 100, "normal": 500, "gold": 1000, "platinum": 2000}
HIGHER = "If it matters more, give it a higher priority"
CLASS = "Give it a priority class"
SWITCH_ON = "Switch it on when it is to run."
ASK = "Ask the platform admin when the queue starts again."


def told(**known: dict[str, int]) -> dict[str, str]:
    """Details by title, of the one eviction there is."""
    found: list[Advice] = advice(
        with_objects(Eviction.objects.all()).get(), known.get("guaranteed", {P5: 12}), known.get("classes", CLASSES)
    )
    return {each.title: each.detail for each in found}


def evicted(world: World, job: Job, reason: str = names.PREEMPTED, message: str = "", cause: str = "") -> Job:
    world.see(job.admit(0), now=minute(1))
    world.see(job.evict(30, reason, message, cause), now=minute(30))
    return job


def taken(rule: str) -> str:
    return preempted(THEIRS, "job", rule, ("all", "vision-queue"), ("all", "research-queue"))


def seen_preemptor(world: World, priority: int) -> None:
    theirs = Job("theirs", "hyperpod-ns-vision", queue="vision-queue", uid=THEIRS, priority=priority)
    world.see(theirs.waits("", 0))


@pytest.mark.parametrize(("theirs", "enough"), [(1000, "gold or platinum"), (1500, "platinum"), (3000, None)])
def test_a_higher_priority_only_where_a_class_is_high_enough(shared: World, theirs: int, enough: str | None) -> None:
    seen_preemptor(shared, theirs)
    evicted(shared, Job(priority=500), message=taken(names.IN_CLUSTER_QUEUE))
    text = told().get(HIGHER)
    assert (text or "").endswith(f"High enough: {enough}.") if enough else text is None


def test_against_a_preemptor_that_nobody_saw_any_class_above_its_own(shared: World) -> None:
    evicted(shared, Job(priority=1000), message=taken(names.IN_CLUSTER_QUEUE))
    assert told()[HIGHER] == "It had priority 1000, what took its place unknown. High enough: platinum."
    assert HIGHER not in told(classes={"gold": 1000})


def test_priority_does_not_help_who_borrows(shared: World) -> None:
    evicted(shared, Job(priority=500), message=taken(names.IN_COHORT_RECLAMATION))
    assert HIGHER not in told()


def test_a_class_only_where_there_are_any(shared: World) -> None:
    job = Job()
    del job.obj["spec"]["priorityClassRef"]
    evicted(shared, job)
    assert CLASS in told()
    assert CLASS not in told(classes={})


@pytest.mark.parametrize(("own", "is_smaller"), [(0, False), (3, True), (4, False)])
def test_a_smaller_job_only_where_it_would_run_on_own_quota(shared: World, own: int, is_smaller: bool) -> None:
    evicted(shared, Job(gpus=4), message=taken(names.IN_COHORT_RECLAMATION))
    assert ("Make it smaller" in told(guaranteed={P5: own})) is is_smaller


@pytest.mark.parametrize("reason", [names.CLUSTER_QUEUE_STOPPED, names.LOCAL_QUEUE_STOPPED])
def test_a_stopped_queue_is_asked_about_while_it_keeps_the_job_out(shared: World, reason: str) -> None:
    job = evicted(shared, Job(), reason)
    job.release(31).condition(names.REQUEUED, False, 31, reason)
    shared.see(job, now=minute(31))
    assert ASK in told()
    shared.see(job.admit(40), now=minute(40))
    assert ASK not in told()


def test_what_is_switched_off_is_switched_on_as_long_as_it_is_there(shared: World) -> None:
    job = evicted(shared, Job().deactivate(), names.DEACTIVATED)
    shared.see(job.release(31), now=minute(31))
    assert SWITCH_ON in told()
    shared.see_deleted(job, now=minute(32))
    assert SWITCH_ON not in told()


@pytest.mark.parametrize(
    ("cause", "title"),
    [
        (names.MAXIMUM_EXECUTION_TIME_EXCEEDED, "Allow it a longer run, or let it save and submit the rest again."),
        (names.REQUEUING_LIMIT_EXCEEDED, "Look at its pods and events: some did not start in time."),
        (names.ADMISSION_CHECK, "Look at its conditions: they name the check."),
    ],
)
def test_what_kueue_switched_off_is_advised_by_its_cause(shared: World, cause: str, title: str) -> None:
    evicted(shared, Job(), names.DEACTIVATED, cause=cause)
    assert title in told()
