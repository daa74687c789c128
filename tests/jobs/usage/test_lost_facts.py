"""What evictions threw away, hour by hour: it belongs to the hours in which the work was done."""

from datetime import datetime
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.ledger.late import HOUR
from jobs.models import Eviction, ReopenedHours, TeamHour
from jobs.usage.hours import rebuild_hours
from scheduling import names
from teams.models import NamespaceBinding
from tests.jobs.sync.test_owners import Answers, answers, says
from tests.jobs.sync.test_told_by_events import event, learn
from tests.jobs.test_histories import A_FEW, undone
from tests.jobs.usage.test_hours import MINUTE, add_up, add_up_losses, close, hand_over
from tests.people import People
from tests.stories import GPU, P5, START, Job, minute, stamp
from tests.worlds import World

__all__ = ["answers"]
pytestmark = pytest.mark.django_db


def saving(job: Job, every: str) -> Job:
    annotations = {names.CHECKPOINT_INTERVAL_ANNOTATION: every}
    job.obj["spec"]["podSets"][0]["template"]["metadata"] = {"annotations": annotations}
    return job


def lost() -> dict[int, tuple[int, int, int]]:
    """GPU-minutes by the number of the hour: at least, expected, at most."""
    rows = TeamHour.objects.filter(lost_high__gt=0).order_by("hour")
    return {
        (row.hour - START) // HOUR: tuple(each // MINUTE for each in (row.lost_low, row.lost_expected, row.lost_high))
        for row in rows
    }


def reopened() -> set[tuple[datetime, datetime]]:
    return set(ReopenedHours.objects.values_list("start", "end"))


def test_without_checkpoints_every_hour_of_the_run_is_lost(shared: World, people: People) -> None:
    shared.see(job := Job(gpus=4).admit(50), now=minute(50))
    shared.see(job.evict(130).release(131), now=minute(131))
    close(shared, 185)
    assert lost() == {0: (40, 40, 40), 1: (240, 240, 240), 2: (40, 40, 40)}
    row = TeamHour.objects.get(hour=minute(60))
    assert (row.team, row.cluster_queue, row.flavor, row.resource) == (people.research, "research-queue", P5, GPU)


def test_with_an_interval_only_its_last_stretch_is_in_question(shared: World) -> None:
    shared.see(job := saving(Job(gpus=2).admit(0), "60m"), now=minute(0))
    shared.see(job.evict(140).release(141), now=minute(141))
    close(shared, 185)
    assert lost() == {1: (0, 20, 80), 2: (0, 40, 40)}


def test_an_eviction_opens_the_closed_hours_of_the_work_again_and_no_others(shared: World) -> None:
    shared.see(job := saving(Job(gpus=2).admit(0), "90m"), now=minute(0))
    close(shared, 245)
    shared.see(job.evict(250).release(251), now=minute(251))
    assert reopened() == {(minute(120), minute(240))}  # from 160 to 250, as far as it is closed
    close(shared, 252)
    assert lost() == {2: (0, 0, 40), 3: (0, 70, 120)}
    close(shared, 305)
    assert lost() == {2: (0, 0, 40), 3: (0, 70, 120), 4: (0, 20, 20)}
    assert rebuild_hours(shared.cluster) == 0


def test_a_checkpoint_that_is_told_later_opens_what_it_moves(shared: World, answers: Answers) -> None:
    shared.see(job := saving(Job(gpus=1).admit(0), "2h"), now=minute(0))
    shared.see(job.evict(230).release(231), now=minute(231))
    close(shared, 245)
    assert lost() == {1: (0, 0, 10), 2: (0, 10, 60), 3: (0, 50, 50)}
    says(answers, job, saved="2026-10-08T14:50:00Z")
    answers.read(shared, minute(246))
    assert reopened() == {(minute(60), minute(240)), (minute(120), minute(240))}
    close(shared, 247)
    assert lost() == {2: (10, 10, 10), 3: (50, 50, 50)}
    assert rebuild_hours(shared.cluster) == 0


def test_what_the_owner_says_of_the_present_price_opens_nothing(shared: World, answers: Answers) -> None:
    shared.see(job := saving(Job(gpus=1).admit(0), "20m"), now=minute(0))
    shared.see(job.evict(40).release(41), now=minute(41))
    close(shared, 65)
    says(answers, job, every="20m")
    answers.read(shared, minute(66))
    assert reopened() == set()


def test_an_event_that_dates_an_eviction_moves_its_loss(shared: World) -> None:
    shared.see(job := saving(Job(gpus=1).admit(0), "10m"), now=minute(0))
    shared.see(job.evict(30).release(31).admit(70), now=minute(130), last_seen=minute(1))
    close(shared, 185)
    assert lost() == {1: (0, 3, 10)}
    learn(shared, [event(job, 30)], now=minute(186))
    close(shared, 187)
    assert lost() == {0: (0, 5, 10)}
    assert rebuild_hours(shared.cluster) == 0


def test_each_team_carries_what_was_lost_while_the_namespace_was_its_own(shared: World, people: People) -> None:
    shared.see(job := Job(gpus=1).admit(0), now=minute(0))
    NamespaceBinding.objects.filter(team=people.research).update(valid_to=minute(20))
    shared.now = minute(20)
    shared.bind(people.vision, "hyperpod-ns-research")
    shared.see(job.evict(50), now=minute(50))
    close(shared, 65)
    found = dict(TeamHour.objects.values_list("team", "lost_high"))
    assert found == {people.research.pk: 20 * MINUTE, people.vision.pk: 30 * MINUTE}


def test_each_resource_is_lost_by_its_own_name(shared: World) -> None:
    slices = {"nvidia.com/mig-1g.5gb": "4", "nvidia.com/mig-3g.20gb": "2", "cpu": "8"}
    shared.see(job := Job(requests=slices).admit(0), now=minute(0))
    shared.see(job.evict(30), now=minute(30))
    close(shared, 65)
    found = dict(TeamHour.objects.values_list("resource", "lost_high"))
    assert found == {"nvidia.com/mig-1g.5gb": 120 * MINUTE, "nvidia.com/mig-3g.20gb": 60 * MINUTE}
    assert Eviction.objects.get().lost_high == 180 * 60


def test_endpoints_lose_no_hours(shared: World) -> None:
    job = Job().admit(0)
    job.obj["metadata"]["ownerReferences"][0]["kind"] = "InferenceEndpointConfig"
    shared.see(job, now=minute(0))
    shared.see(job.evict(30), now=minute(30))
    close(shared, 65)
    assert lost() == {}


# What nobody saw


def test_a_loss_of_a_hold_that_nobody_saw_has_no_flavor(shared: World, people: People) -> None:
    shared.see(job := Job(gpus=2).waits(), now=minute(1))
    close(shared, 125)
    shared.see(job.admit(30).evict(90).release(90), now=minute(126), last_seen=minute(1))
    close(shared, 127)
    assert lost() == {0: (60, 60, 60), 1: (60, 60, 60)}
    found = TeamHour.objects.filter(lost_high__gt=0).values_list("cluster_queue", "flavor", "resource", "team")
    assert set(found) == {("research-queue", "", GPU, people.research.pk)}
    assert rebuild_hours(shared.cluster) == 0


def test_evictions_of_unknown_cost_are_counted_in_the_hour_of_their_decision(shared: World, people: People) -> None:
    job = Job(gpus=2).admit(0).evict(5).release(6).admit(7).evict(15, names.PODS_READY_TIMEOUT).release(16).admit(70)
    shared.see(job, now=minute(75), last_seen=minute(0))
    close(shared, 125)
    unknown = Eviction.objects.filter(lost_expected=None).count()
    (row,) = TeamHour.objects.filter(lost_unknown__gt=0)
    assert (row.lost_unknown, row.hour, row.flavor, row.lost_high) == (unknown, minute(60), "", 0)
    assert (row.team, row.cluster_queue) == (people.research, "research-queue")
    assert unknown == 2
    assert rebuild_hours(shared.cluster) == 0


def test_an_event_moves_an_eviction_of_unknown_cost_to_its_hour(shared: World) -> None:
    job = Job(gpus=2).admit(0).evict(5).release(6).admit(7).evict(15, names.PODS_READY_TIMEOUT).release(16)
    shared.see(job.admit(60), now=minute(75), last_seen=minute(0))
    close(shared, 125)
    assert set(TeamHour.objects.filter(lost_unknown=2).values_list("hour", flat=True)) == {minute(60)}
    learn(shared, [event(job, 5)], now=minute(126))
    close(shared, 127)
    assert dict(TeamHour.objects.filter(lost_unknown__gt=0).values_list("hour", "lost_unknown")) == {
        minute(0): 1,
        minute(60): 1,
    }
    assert rebuild_hours(shared.cluster) == 0


def test_where_no_queue_was_wanted_the_loss_is_told_of_none(shared: World) -> None:
    shared.see(job := Job(gpus=2, queueName="elsewhere").waits(), now=minute(1))
    shared.see(job.admit(30).evict(50).release(50), now=minute(51), last_seen=minute(1))
    close(shared, 65)
    (row,) = TeamHour.objects.filter(lost_high__gt=0)
    assert (row.cluster_queue, row.lost_high) == ("", 40 * MINUTE)


# Whatever happens


class Life(NamedTuple):
    """One hold of a job in minutes, what was seen of it, and what comes after."""

    job: int
    before: int
    length: int
    stopping: int
    is_begin_seen: bool
    is_end_seen: bool
    then: str


LIVES = st.builds(
    Life,
    st.integers(0, 1),
    st.integers(0, 40),
    st.integers(0, 200),
    st.integers(0, 10),
    st.booleans(),
    st.booleans(),
    st.sampled_from(("", "save", "tell", "close", "hand over")),
)


@given(st.lists(LIVES, min_size=2, max_size=8), st.tuples(*[st.sampled_from(("", "30m", "2h"))] * 2))
@A_FEW
def test_what_was_lost_is_in_the_hours_whole_and_again_when_rebuilt(
    shared: World, people: People, answers: Answers, lives: list[Life], intervals: tuple[str, str]
) -> None:
    with undone():
        jobs = [saving(Job(f"job-{number}", gpus=3 + number).waits(), every) for number, every in enumerate(intervals)]
        shared.see(*jobs, now=minute(0))
        now = seen = 1
        for life in lives:
            job = jobs[life.job]
            begin, evicted = now + life.before, now + life.before + life.length
            now = evicted + life.stopping
            job.admit(begin)
            if life.is_begin_seen:
                shared.see(job, now=minute(begin), last_seen=minute(seen))
                seen = begin
            job.evict(evicted).release(now)
            if life.is_end_seen:
                shared.see(job, now=minute(now), last_seen=minute(seen))
                seen = now
            then(shared, people, answers, life.then, job, evicted, now)
        shared.see(*jobs, now=minute(now), last_seen=minute(seen))
        close(shared, now + 65)
        close(shared, now + 66)
        assert rebuild_hours(shared.cluster) == 0
        add_up()
        add_up_losses()


def then(world: World, people: People, answers: Answers, what: str, job: Job, evicted: int, now: int) -> None:
    if what == "save":
        says(answers, job, saved=stamp(evicted - 20))
        answers.read(world, minute(now))
    elif what == "tell":
        learn(world, [event(job, evicted)], now=minute(now))
    elif what == "close":
        close(world, now)
    elif what == "hand over":
        world.now = minute(now)
        hand_over(world, people.vision if now % 2 else people.research)
