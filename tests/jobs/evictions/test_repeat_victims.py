from datetime import timedelta

import pytest

from jobs.evictions.filter import EvictionFilter
from jobs.evictions.list import narrowed
from jobs.evictions.repeat_victims import Victim, repeat_victims
from jobs.lists.addresses import Age
from jobs.lists.reach import reach_of_all
from jobs.sight import Sight
from tests.stories import START, Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db

SIGHT = Sight(everywhere=True, teams=frozenset(), clusters=frozenset())


def evicted(world: World, job: Job, *minutes: float) -> None:
    """Admitted 10 minutes before each of them, and given back a minute later."""
    for at in minutes:
        world.see(job.admit(at - 10))
        world.see(job.evict(at))
        world.see(job.release(at + 1))


def victims(age: Age = Age.WEEK) -> list[Victim]:
    reach = reach_of_all()
    return repeat_victims(narrowed(reach, EvictionFilter(time=age), SIGHT, START), reach)


def told(age: Age = Age.WEEK) -> list[tuple[str, int, int, int | None]]:
    """Title, count, expected GPU-seconds and size of the loop."""
    return [(v.job.title, v.count, v.lost.expected, v.loop.size if v.loop else None) for v in victims(age)]


def test_those_with_the_most_evictions_come_first_and_those_with_one_not_at_all(shared: World) -> None:
    evicted(shared, Job("once", created=-900), -800)
    evicted(shared, Job("twice", gpus=8, created=-900), -800, -400)
    evicted(shared, Job("loops", created=-900), -100, -70, -40)
    assert told() == [("loops", 3, 3 * 4 * 600, 3), ("twice", 2, 2 * 8 * 600, None)]


def test_only_what_lies_within_the_time_counts(shared: World) -> None:
    evicted(shared, Job("old", created=-9000), -8000, -7990, -7980, -30)
    assert told(Age.DAY) == []
    assert told(Age.WEEK) == [("old", 4, 4 * 4 * 600, 3)]


def test_a_job_that_was_submitted_again_is_one(shared: World) -> None:
    first, second = Job("train", created=-900), Job("train", created=-300, uid="uid-again")
    evicted(shared, first, -800)
    evicted(shared, second, -200)
    (victim,) = victims()
    assert (victim.count, victim.uid, victim.latest) == (2, "uid-again", minute(-200))


def test_jobs_of_one_name_in_two_namespaces_are_two(shared: World) -> None:
    evicted(shared, Job("train", created=-900), -800, -500)
    evicted(shared, Job("train", "hyperpod-ns-vision", queue="vision-queue", created=-900), -700, -400, -100)
    assert [(v.count, v.owner.slug if v.owner else None) for v in victims()] == [(3, "vision"), (2, "research")]


def test_two_objects_of_one_job_do_not_make_a_loop_together(shared: World) -> None:
    evicted(shared, Job("train", created=-900), -100, -70)
    evicted(shared, Job("train", created=-60, uid="uid-again"), -40)
    assert told() == [("train", 3, 3 * 4 * 600, None)]


def test_without_an_owner_the_workload_has_its_own_name_and_no_team(shared: World) -> None:
    job = Job("bare", "of-nobody", created=-900)
    del job.obj["metadata"]["ownerReferences"]
    evicted(shared, job, -800, -500)
    (victim,) = victims()
    assert (victim.job.title, victim.owner) == ("pytorchjob-bare", None)
    assert victim.history(Age.WEEK) == "?q=pytorchjob-bare&time=7d&cluster=gpu-one&team=-"


def test_what_is_not_known_is_counted_and_not_nothing(shared: World) -> None:
    job = Job("gone", created=-600).admit(-500).evict(-400).release(-399).admit(-300).evict(-200).release(-199)
    shared.see(job.admit(-100), now=START, last_seen=START - timedelta(days=1))
    (victim,) = victims()
    assert (victim.count, victim.lost.unknown, victim.lost.high) == (2, 2, 0)
