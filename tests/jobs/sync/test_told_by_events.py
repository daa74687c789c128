"""What the ledger learns from Kueue's events of evictions that it saw by their counters alone."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from gateways.records import EventRecord
from jobs.models import ClosedHours, Eviction, ReopenedHours
from jobs.rules.lost_work import Basis
from jobs.sync.told_by_events import ToldByEvents
from scheduling import names
from scheduling.preemption_messages import preempted
from tests.people import People
from tests.stories import Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db

THEIRS = "uid-hyperpod-ns-vision-endpoint"
TAKEN_BACK = preempted(
    THEIRS, f"job-{THEIRS}", names.IN_COHORT_RECLAMATION, ("shared", "vision-queue"), ("shared", "research-queue")
)


def event(job: Job, at: float, message: str = TAKEN_BACK, reason: str = names.PREEMPTED, uid: str = "") -> EventRecord:
    time = minute(at) + timedelta(milliseconds=30)
    name = f"EvictedDueTo{reason}"
    return EventRecord(
        "Workload", "w", False, name, message, "kueue", 1, time, time, uid=uid or f"event-{at}", about=job.uid
    )


def learn(world: World, *pages: list[EventRecord], now: datetime) -> tuple[int, list[str]]:
    told = ToldByEvents(world.cluster)
    for page in pages:
        told.take(page)
    return told.write(now)


def rows() -> list[dict[str, Any]]:
    return list(Eviction.objects.order_by("decided_before", "ordinal").values())


def twice_unseen(world: World) -> Job:
    """Evicted at 10 and 20 minutes, for which a look at 0 and one at 30 saw two more on the counter."""
    job, theirs = Job(gpus=4).admit(0), Job("endpoint", "hyperpod-ns-vision", queue="vision-queue", priority=1000)
    world.see(job, theirs.waits("", 0))
    job.evict(10, message=TAKEN_BACK).release(11).admit(15).evict(20, message="Preempted, said in other words")
    world.see(job.release(21).admit(29), now=minute(30), last_seen=minute(0))
    return job


def test_two_evictions_that_nobody_saw_get_their_times_and_preemptors(shared: World, people: People) -> None:
    job = twice_unseen(shared)
    assert learn(shared, [event(job, 10)], [event(job, 20)], now=minute(31)) == (2, [])
    first, second = Eviction.objects.order_by("ordinal").select_related("preemptor", "span")
    assert (first.decided_after, first.decided_before, first.observed) == (minute(10), minute(10), False)
    assert (second.decided_after, second.decided_before) == (minute(20), minute(20))
    assert (first.preemptor_uid, first.preemptor_team, first.preemptor_priority) == (THEIRS, people.vision, 1000)
    assert (first.preemption, first.preemptor_queue) == ("InCohortReclamation", "vision-queue")
    assert first.preemptor is not None and first.preemptor.uid == THEIRS
    assert (first.basis, first.lost_low, first.lost_high) == (Basis.WHOLE, 4 * 600, 4 * 600)


def test_the_hold_lasted_until_the_decision_at_least(shared: World) -> None:
    job = twice_unseen(shared)
    hours = ClosedHours.objects.create(cluster=shared.cluster, begun_at=minute(-60), until=minute(60))
    learn(shared, [event(job, 10), event(job, 20)], now=minute(31))
    span = Eviction.objects.get(ordinal=1).span
    assert span is not None
    assert (span.evicted_at, span.released_after, span.released_before) == (minute(10), minute(10), minute(29))
    assert ReopenedHours.objects.filter(cluster=hours.cluster, start=minute(0)).exists()


def test_what_was_learned_is_not_learned_again(shared: World) -> None:
    job = twice_unseen(shared)
    learn(shared, [event(job, 10), event(job, 20)], now=minute(31))
    before = rows()
    assert learn(shared, [event(job, 10), event(job, 20)], now=minute(32)) == (0, [])
    assert rows() == before


def test_a_later_look_at_the_workload_leaves_it_alone(shared: World) -> None:
    job = twice_unseen(shared)
    learn(shared, [event(job, 10), event(job, 20)], now=minute(31))
    before = rows()
    shared.see(job.touch(), now=minute(33))
    assert rows() == before


def test_an_event_told_on_two_pages_counts_once(shared: World) -> None:
    job = twice_unseen(shared)
    pages = [event(job, 10)], [event(job, 10), event(job, 20)]
    assert learn(shared, *pages, now=minute(31)) == (2, [])


def test_the_one_eviction_that_events_date_narrows_the_other(shared: World) -> None:
    job = twice_unseen(shared)
    Eviction.objects.update(decided_after=minute(-90))  # as if it had not been looked at for long
    learn(shared, [event(job, 20)], now=minute(31))
    first, second = Eviction.objects.order_by("ordinal")
    assert (first.decided_after, first.decided_before) == (minute(-90), minute(20))
    assert (second.decided_after, second.decided_before) == (minute(20), minute(20))


def test_the_unknown_wording_of_an_event_is_kept(shared: World) -> None:
    job = twice_unseen(shared)
    learn(shared, [event(job, 10, "Abducted by aliens"), event(job, 20)], now=minute(31))
    first = Eviction.objects.get(ordinal=1)
    assert (first.message, first.preemptor_uid, first.preemptor) == ("Abducted by aliens", "", None)
    assert first.is_dated


def test_an_eviction_that_was_seen_keeps_its_own_words(shared: World) -> None:
    job = Job(gpus=4).admit(0)
    shared.see(job)
    shared.see(job.evict(10, message=TAKEN_BACK), now=minute(11), last_seen=minute(0))
    before = rows()
    assert learn(shared, [event(job, 10, "something else")], now=minute(31)) == (0, [])
    assert rows() == before


def test_an_event_that_no_counter_tells_of_is_said(shared: World) -> None:
    job = twice_unseen(shared)
    found = [event(job, at) for at in (10, 20, 22)]
    written, contradictions = learn(shared, found, now=minute(40))
    assert written == 0
    assert [sentence.startswith("Workload hyperpod-ns-research/") for sentence in contradictions] == [True] * 3


def test_events_about_strangers_are_left_out(shared: World) -> None:
    twice_unseen(shared)
    stranger = Job("stranger")
    assert learn(shared, [event(stranger, 10)], now=minute(31)) == (0, [])
