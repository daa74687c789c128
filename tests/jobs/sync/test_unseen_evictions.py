"""Evictions of workloads that vanished before anybody looked, which Kueue's events alone tell of."""

from typing import Any

import pytest
from django.core.management import call_command

from jobs.models import ClosedHours, Eviction, ReopenedHours
from jobs.rules.lost_work import Basis
from notices.kinds import Kind
from notices.models import Notice
from scheduling import names
from tests.jobs.sync.test_told_by_events import TAKEN_BACK, THEIRS, event, learn, rows
from tests.people import People
from tests.stories import Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db


def vanished(world: World, **job: Any) -> Job:
    """It ran at 10 minutes and was not there any more at 20."""
    made = Job(gpus=4, **job).admit(0)
    world.see(made, now=minute(1))
    world.lose(made, after=minute(10), now=minute(20))
    return made


def test_it_is_stored_with_its_time_reason_preemptor_and_loss(shared: World, people: People) -> None:
    theirs = Job("endpoint", "hyperpod-ns-vision", queue="vision-queue", priority=1000)
    shared.see(theirs.waits("", 0), now=minute(1))
    job = vanished(shared)
    assert learn(shared, [event(job, 15)], now=minute(31)) == (1, [])
    row = Eviction.objects.select_related("span").get()
    assert (row.reason, row.cause, row.ordinal, row.observed) == (names.PREEMPTED, "", 1, False)
    assert row.decided_after == row.decided_before == minute(15)
    assert (row.preemptor_uid, row.preemptor_team, row.message) == (THEIRS, people.vision, TAKEN_BACK)
    assert row.span is not None and row.span.evicted_at == row.span.released_after == minute(15)
    assert (row.basis, row.lost_low, row.lost_high) == (Basis.WHOLE, 4 * 900, 4 * 900)


def test_its_people_are_told_once(shared: World, people: People) -> None:
    job = vanished(shared)
    for at in (31, 36, 41):
        learn(shared, [event(job, 15)], now=minute(at))
    notice = Notice.objects.get(kind=Kind.EVICTED)
    assert (notice.subject, notice.team, notice.at) == (job.uid, people.research, minute(15))
    assert notice.details == {"namespace": job.namespace, "eviction": Eviction.objects.get().pk}


def test_told_again_it_changes_nothing(shared: World) -> None:
    job = vanished(shared)
    learn(shared, [event(job, 15)], now=minute(31))
    before = rows()
    assert learn(shared, [event(job, 15)], now=minute(36)) == (0, [])
    assert rows() == before


def test_hours_in_which_it_held_its_quota_are_opened_again(shared: World) -> None:
    job = vanished(shared)
    hours = ClosedHours.objects.create(cluster=shared.cluster, begun_at=minute(-60), until=minute(60))
    learn(shared, [event(job, 15)], now=minute(31))
    assert ReopenedHours.objects.filter(cluster=hours.cluster, start=minute(0)).exists()


def test_of_two_the_first_ended_the_hold_that_was_seen(shared: World) -> None:
    job = vanished(shared)
    events = [event(job, 12), event(job, 17, "The ClusterQueue is stopped", names.CLUSTER_QUEUE_STOPPED)]
    learn(shared, events, now=minute(31))
    first, second = Eviction.objects.order_by("decided_before")
    assert (first.decided_before, first.span is not None) == (minute(12), True)
    assert (second.decided_before, second.reason, second.span) == (minute(17), names.CLUSTER_QUEUE_STOPPED, None)


def test_an_eviction_that_was_seen_is_not_counted_again(shared: World) -> None:
    job = Job(gpus=4).admit(0)
    shared.see(job, now=minute(1))
    shared.see(job.evict(5, message=TAKEN_BACK), now=minute(6))
    shared.lose(job, after=minute(10), now=minute(20))
    assert learn(shared, [event(job, 5)], now=minute(31)) == (0, [])
    learn(shared, [event(job, 5), event(job, 15)], now=minute(31))
    assert list(Eviction.objects.order_by("ordinal").values_list("ordinal", "decided_before")) == [
        (1, minute(5)), (2, minute(15)),
    ]  # fmt: skip


def test_requested_twice_within_a_second_it_is_one(shared: World) -> None:
    job = vanished(shared)
    learn(shared, [event(job, 15), event(job, 15.01)], now=minute(31))
    assert Eviction.objects.count() == 1


def test_a_deletion_that_was_watched_hides_nothing(shared: World) -> None:
    job = Job(gpus=4).admit(0)
    shared.see(job, now=minute(1))
    shared.see_deleted(job, minute(20))
    assert learn(shared, [event(job, 15)], now=minute(31)) == (0, [])
    assert not Eviction.objects.exists()


def test_what_may_still_turn_up_is_waited_for(shared: World) -> None:
    job = vanished(shared)
    assert learn(shared, [event(job, 15)], now=minute(24)) == (0, [])
    assert learn(shared, [event(job, 15)], now=minute(26)) == (1, [])


def test_the_ledger_is_sound_afterwards(shared: World) -> None:
    job = vanished(shared)
    learn(shared, [event(job, 15)], now=minute(31))
    call_command("check_ledger")  # exits if it finds a fault
