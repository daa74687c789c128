"""Random lives of one workload, looked at seldom: the evictions that are told are those that were."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from jobs.rules.episodes import Episode, Known, new_episodes
from scheduling.objects import Workload
from tests.stories import Job, minute

REASONS = (("Preempted", ""), ("Deactivated", ""), ("Deactivated", "Tired"), ("PodsReadyTimeout", "WaitForStart"))

Truth = tuple[str, str, datetime]


@dataclass
class Told:
    """What a portal that looks now and then believes."""

    known: Known = field(default_factory=Known)
    episodes: list[Episode] = field(default_factory=list)
    since: datetime = minute(0)

    def look(self, workload: Workload, at: float) -> None:
        found = new_episodes(workload, self.known, since=self.since, now=minute(at))
        for each in found:
            decision = each.before if each.observed else None
            self.known.learn(each.reason, each.cause, each.ordinal, each.before, decision)
        self.episodes += found
        self.since = minute(at)


@st.composite
def lives(draw: st.DrawFn) -> tuple[list[Truth], Told, Workload]:
    job, told, truth = Job(), Told(), []
    clock = 0
    for reason, cause in draw(st.lists(st.sampled_from(REASONS), max_size=8)):
        steps = (
            lambda at: job.admit(at),
            lambda at, reason=reason, cause=cause: job.evict(at, reason, f"because of {reason}", cause),
            lambda at: job.release(at),
        )
        for number, step in enumerate(steps):
            clock += draw(st.integers(1, 3))
            step(clock)
            if number == 1:
                truth.append((reason, cause, minute(clock)))
            for _ in range(draw(st.sampled_from((0, 0, 1, 2)))):
                told.look(job.record, clock + 0.5)
    told.look(job.record, clock + 0.5)
    return truth, told, job.record


@given(lives())
def test_as_many_as_there_were_by_reason_each_within_its_bounds(life: tuple[list[Truth], Told, Workload]) -> None:
    truth, told, _ = life
    assert Counter((e.reason, e.cause) for e in told.episodes) == Counter((reason, cause) for reason, cause, _ in truth)
    for key in REASONS:
        times = [at for reason, cause, at in truth if (reason, cause) == key]
        mine = sorted((e for e in told.episodes if (e.reason, e.cause) == key), key=lambda e: e.ordinal)
        assert [e.ordinal for e in mine] == list(range(1, len(times) + 1))
        for episode, at in zip(mine, times, strict=True):
            assert episode.after <= at <= episode.before
            assert not episode.observed or episode.after == episode.before


@given(lives())
def test_another_look_tells_nothing_more(life: tuple[list[Truth], Told, Workload]) -> None:
    _, told, last_look = life
    assert new_episodes(last_look, told.known, since=told.since, now=told.since) == []


def test_a_watch_that_looks_at_every_step_sees_every_decision() -> None:
    job, told = Job(), Told()
    for at in range(1, 30, 3):
        for look in (job.admit(at), job.evict(at + 1), job.release(at + 2)):
            told.look(look.record, at + 2.5)
    assert [e.before for e in told.episodes] == [minute(at + 1) for at in range(1, 30, 3)]
    assert all(e.observed for e in told.episodes)


def test_a_slice_that_was_replaced_was_not_evicted() -> None:
    job, told = Job().admit(1), Told()
    told.look(job.evict(2, "WorkloadSliceReplaced").record, 3)
    assert told.episodes == []


def test_a_condition_without_a_time_is_no_decision() -> None:
    job, told = Job().admit(1), Told()
    job.condition("Evicted", True, None, "Preempted")
    told.look(job.record, 3)
    assert told.episodes == []


def test_a_counter_that_fell_tells_nothing() -> None:
    job, told = Job().admit(1), Told()
    told.look(job.evict(2).release(3).admit(4).evict(5).record, 6)
    job.obj["status"]["schedulingStats"]["evictions"][0]["count"] = 1
    told.look(job.touch().record, 7)
    assert [e.ordinal for e in told.episodes] == [1, 2]


def test_a_second_in_which_the_portal_looked_may_be_that_of_the_eviction() -> None:
    job, told = Job().admit(0), Told(since=minute(10) + timedelta(milliseconds=300))
    told.look(job.evict(10).release(11).admit(12).record, 13)
    assert [(e.after, e.before) for e in told.episodes] == [(minute(10), minute(12))]
