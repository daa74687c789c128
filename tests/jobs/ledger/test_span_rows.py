from datetime import timedelta

import pytest

from jobs.models import Span
from scheduling import names
from tests.stories import GPU, P5, Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db


def test_a_reservation_opens_a_span_with_its_usage(world: World) -> None:
    job = Job(gpus=4, pods=2, requests={GPU: "4", "cpu": "8", "memory": "16"}).reserve(1)
    world.see(job, now=minute(2))
    (span,) = world.spans(job)
    assert (span.cluster_queue, span.reserved_at) == ("research-queue", minute(1))
    assert (span.admitted_at, span.evicted_at, span.released_before, span.end) == (None, None, None, "")
    assert world.usages(job) == [(8, minute(1), None)]
    assert world.usages(job, "cpu") == [(16000, minute(1), None)]


def test_admission_later_dates_the_same_span(world: World) -> None:
    job = Job().reserve(1)
    world.see(job)
    world.see(job.admit(3), now=minute(4))
    (span,) = world.spans(job)
    assert (span.reserved_at, span.admitted_at) == (minute(1), minute(3))
    assert world.usages(job) == [(4, minute(1), None)]


def test_an_eviction_is_decided_before_the_quota_comes_back(world: World) -> None:
    job = Job().admit(1)
    world.see(job)
    world.see(job.evict(5), now=minute(6))
    (span,) = world.spans(job)
    assert (span.evicted_at, span.released_before) == (minute(5), None)
    world.see(job.release(7), now=minute(8))
    (span,) = world.spans(job)
    assert (span.admitted_at, span.evicted_at) == (minute(1), minute(5))
    assert (span.released_after, span.released_before, span.end) == (minute(7), minute(7), Span.End.EVICTED)


def test_an_eviction_seen_only_when_it_was_over_keeps_both_dates(world: World) -> None:
    job = Job().admit(1)
    world.see(job)
    world.see(job.evict(5).release(7), now=minute(8))
    (span,) = world.spans(job)
    assert (span.evicted_at, span.released_after, span.released_before) == (minute(5), minute(7), minute(7))


def test_a_requeued_job_opens_a_second_span(world: World) -> None:
    job = Job().admit(1)
    world.see(job)
    world.see(job.evict(5).release(6), now=minute(6))
    world.see(job.admit(9), now=minute(9))
    first, second = world.spans(job)
    assert (first.released_before, second.reserved_at, second.released_before) == (minute(6), minute(9), None)
    assert second.evicted_at is None
    assert world.usages(job) == [(4, minute(1), None), (4, minute(9), None)]


def test_a_second_hold_seen_without_the_release_between_ends_the_first_unseen(world: World) -> None:
    job = Job().admit(1)
    world.see(job, now=minute(2))
    world.see(job.evict(5).release(6).admit(9), now=minute(10), last_seen=minute(3))
    first, second = world.spans(job)
    assert (first.released_after, first.released_before, first.end) == (minute(3), minute(9), Span.End.UNSEEN)
    assert (second.reserved_at, second.released_before) == (minute(9), None)


def test_spans_never_overlap_where_the_watch_told_only_the_last_of_a_moment(world: World) -> None:
    job = Job().admit(1)
    world.see(job, now=minute(2))
    world.see(job.evict(5).release(6).admit(9), now=minute(10))
    first, second = world.spans(job)
    assert first.released_before is not None
    assert first.released_after <= first.released_before <= second.reserved_at


def test_a_finish_is_exact(world: World) -> None:
    job = Job().admit(1)
    world.see(job)
    world.see(job.finish(8), now=minute(20), last_seen=minute(2))
    (span,) = world.spans(job)
    assert (span.released_after, span.released_before, span.end) == (minute(8), minute(8), Span.End.FINISHED)
    assert world.row(job).finished_at == minute(8)


def test_a_job_finished_at_first_sight_has_a_closed_span(world: World) -> None:
    job = Job(gpus=2, pods=2).admit(1).finish(8)
    world.see(job, now=minute(20))
    (span,) = world.spans(job)
    assert (span.reserved_at, span.admitted_at, span.released_before) == (minute(1), minute(1), minute(8))
    assert world.usages(job) == [(4, minute(1), None)]


def test_pods_that_had_given_back_at_first_sight_do_not_make_the_whole_hold_nothing(world: World) -> None:
    """Kueue leaves all pods of a finished job reclaimable; what they held while they ran is the admission's amount."""
    job = Job(gpus=2, pods=2).admit(1).give_back(2).finish(8)
    world.see(job, now=minute(20))
    assert world.usages(job) == [(4, minute(1), None)]


def test_reserved_and_finished_between_two_looks(world: World) -> None:
    job = Job().waits()
    world.see(job)
    world.see(job.admit(3).finish(4), now=minute(5))
    (span,) = world.spans(job)
    assert (span.reserved_at, span.released_before, span.end) == (minute(3), minute(4), Span.End.FINISHED)
    assert world.usages(job) == [(4, minute(3), None)]


def test_a_second_hold_that_finished_unseen_ends_the_first_before_it_begins(world: World) -> None:
    job = Job().admit(1)
    world.see(job, now=minute(2))
    world.see(job.evict(5).release(6).admit(9).finish(12), now=minute(20))
    first, second = world.spans(job)
    assert first.end == Span.End.UNSEEN
    assert first.released_before is not None
    assert first.released_before <= second.reserved_at == minute(9)
    assert (second.released_before, second.end) == (minute(12), Span.End.FINISHED)


def test_a_finish_before_any_reservation_has_no_span(world: World) -> None:
    job = Job().waits().finish(3, names.OWNER_NOT_FOUND)
    world.see(job)
    assert world.spans(job) == []


def test_a_finish_and_the_deletion_after_it_in_one_moment_keep_the_finish(world: World) -> None:
    job = Job().admit(1)
    world.see(job, now=minute(2))
    job.finish(4)
    world.see_deleted(job, now=minute(5))
    (span,) = world.spans(job)
    assert (span.released_after, span.released_before, span.end) == (minute(4), minute(4), Span.End.FINISHED)


def test_a_release_and_the_deletion_after_it_in_one_moment_keep_the_release(world: World) -> None:
    job = Job().admit(1)
    world.see(job, now=minute(2))
    job.evict(3).release(4)
    world.see_deleted(job, now=minute(5))
    (span,) = world.spans(job)
    assert (span.evicted_at, span.released_before, span.end) == (minute(3), minute(4), Span.End.EVICTED)


def test_reclaimable_pods_open_a_new_usage_row(world: World) -> None:
    job = Job(gpus=2, pods=4).admit(1)
    world.see(job, now=minute(1))
    world.see(job.give_back(1), now=minute(5))
    world.see(job.give_back(3), now=minute(6))
    assert world.usages(job) == [
        (8, minute(1), minute(5)),
        (6, minute(5), minute(6)),
        (2, minute(6), None),
    ]
    assert len(world.spans(job)) == 1


def test_a_resize_opens_a_new_usage_row(world: World) -> None:
    job = Job(gpus=2, pods=4).admit(1)
    world.see(job, now=minute(1))
    assigned = job.obj["status"]["admission"]["podSetAssignments"][0]
    assigned |= {"count": 6, "resourceUsage": {GPU: "12"}}
    job.obj["spec"]["podSets"][0]["count"] = 6
    world.see(job.touch(), now=minute(5))
    assert world.usages(job) == [(8, minute(1), minute(5)), (12, minute(5), None)]


def test_another_flavor_in_the_same_hold_ends_one_row_and_opens_one(world: World) -> None:
    job = Job(gpus=4).admit(1)
    world.see(job, now=minute(1))
    job.obj["status"]["admission"]["podSetAssignments"][0]["flavors"] = {GPU: "ml.g6.12xlarge"}
    world.see(job.touch(), now=minute(5))
    assert world.usages(job) == [(4, minute(1), minute(5)), (4, minute(5), None)]


def test_deactivated_while_reserved_gives_the_quota_back_at_once(world: World) -> None:
    job = Job().admit(1)
    world.see(job, now=minute(1))
    world.see(job.deactivate(), now=minute(5), last_seen=minute(4))
    (span,) = world.spans(job)
    assert (span.released_after, span.released_before, span.end) == (minute(4), minute(5), Span.End.EVICTED)
    world.see(job.evict(6, names.DEACTIVATED).release(6), now=minute(7))
    assert len(world.spans(job)) == 1


def test_an_eviction_that_is_decided_after_the_quota_came_back_is_dated(world: World) -> None:
    at_once, in_steps = Job("at-once").admit(1), Job("in-steps").admit(1)
    world.see(at_once, in_steps, now=minute(1))
    world.see(at_once.deactivate(), in_steps.deactivate(), now=minute(5))
    world.see(in_steps.evict(6, names.DEACTIVATED), now=minute(7))
    world.see(at_once.evict(6, names.DEACTIVATED).release(8), in_steps.release(8), now=minute(9))
    for job in (at_once, in_steps):
        (span,) = world.spans(job)
        assert (span.released_before, span.evicted_at, span.end) == (minute(5), minute(6), Span.End.EVICTED)


@pytest.mark.parametrize("late", [0, 0.005])
def test_switched_off_it_ends_at_the_eviction_however_often_it_is_looked_at(world: World, late: float) -> None:
    """A pull sees it when all is over; a watch sees each step, some a moment after the second that conditions tell."""
    watched, pulled = Job("watched").admit(1), Job("pulled").admit(1)
    world.see(watched, pulled, now=minute(1))
    world.see(watched.deactivate(), now=minute(5 + late))
    world.see(watched.evict(5, names.DEACTIVATED), now=minute(5 + late))
    world.see(watched.release(8), now=minute(8))
    world.see(pulled.deactivate().evict(5, names.DEACTIVATED).release(8), now=minute(9), last_seen=minute(1))
    for job in (watched, pulled):
        (span,) = world.spans(job)
        assert (span.evicted_at, span.released_after, span.released_before) == (minute(5), minute(5), minute(5))
        assert span.end == Span.End.EVICTED


def test_switched_off_while_it_waits_it_had_given_its_quota_back_before(world: World) -> None:
    job = Job().admit(1)
    world.see(job, now=minute(1))
    world.see(job.release(4).deactivate().evict(6, names.DEACTIVATED), now=minute(7), last_seen=minute(1))
    (span,) = world.spans(job)
    assert span.released_before == minute(4)


def test_an_eviction_of_a_job_that_waits_again_is_not_that_of_its_former_hold(world: World) -> None:
    job = Job().admit(1)
    world.see(job, now=minute(1))
    world.see(job.release(3), now=minute(3))
    world.see(job.evict(6, names.DEACTIVATED).deactivate(), now=minute(7))
    (span,) = world.spans(job)
    assert (span.released_before, span.evicted_at) == (minute(3), None)


def test_activated_again_before_the_eviction_the_same_hold_goes_on(world: World) -> None:
    job = Job(gpus=2, pods=4).admit(1)
    world.see(job, now=minute(1))
    world.see(job.give_back(1), now=minute(3))
    world.see(job.deactivate(), now=minute(5))
    job.obj["spec"]["active"] = True
    world.see(job.touch(), now=minute(6))
    (span,) = world.spans(job)
    assert (span.reserved_at, span.released_before) == (minute(1), None)
    assert world.usages(job) == [(8, minute(1), minute(3)), (6, minute(3), None)]


def test_a_job_that_comes_back_with_less_has_one_open_row_per_resource(world: World) -> None:
    job = Job(gpus=2, pods=4).admit(1)
    world.see(job, now=minute(1))
    world.lose(job, now=minute(5), after=minute(4))
    world.see(job.give_back(2), now=minute(6))
    assert world.usages(job) == [(8, minute(1), minute(6)), (4, minute(6), None)]
    assert world.spans(job)[0].released_before is None


def test_a_reservation_in_the_second_of_the_release_is_a_hold_of_its_own_or_the_same_one_again(world: World) -> None:
    """The API server tells whole seconds, so the two cannot be told apart: at most one span is open either way."""
    job = Job().admit(5)
    world.see(job)
    world.see(job.evict(5).release(5))
    world.see(job.admit(5), now=minute(6))
    assert [span.released_before for span in world.spans(job)] == [None]
    assert world.usages(job) == [(4, minute(5), None)]


@pytest.mark.parametrize("skew", [-10, 10])
def test_a_cluster_whose_clock_is_minutes_off_keeps_its_own_order(world: World, skew: int) -> None:
    """Times of the cluster and times of the portal meet in one span; it never ends before it began."""
    job = Job(gpus=2, pods=2, created=100 + skew).admit(100 + skew)
    world.see(job, now=minute(100))
    world.see(job.give_back(1), now=minute(101))
    world.see(job.deactivate(), now=minute(102), last_seen=minute(101))
    (span,) = world.spans(job)
    assert span.released_after is not None
    assert span.reserved_at <= span.released_after <= span.released_before
    usages = world.usages(job)
    assert [amount for amount, _, _ in usages] == [4, 2]
    assert usages[0][1] == span.reserved_at < usages[0][2] == usages[1][1]


def test_a_resource_added_on_a_cluster_whose_clock_is_ahead_is_not_dated_before_the_hold(world: World) -> None:
    job = Job(requests={GPU: "4"}).admit(110)
    world.see(job, now=minute(100))
    job.obj["status"]["admission"]["podSetAssignments"][0] |= {
        "flavors": {GPU: P5, "cpu": P5},
        "resourceUsage": {GPU: "4", "cpu": "8"},
    }
    world.see(job.touch(), now=minute(101))
    assert world.usages(job, "cpu") == [(8000, minute(110), None)]


def test_a_deletion_on_a_cluster_whose_clock_is_ahead(world: World) -> None:
    job = Job().admit(110)
    world.see(job, now=minute(100))
    world.see_deleted(job, now=minute(101))
    (span,) = world.spans(job)
    assert (span.released_after, span.released_before) == (minute(110), minute(110))


def test_times_with_fractions_are_kept(world: World) -> None:
    job = Job().admit(1)
    for condition in job.obj["status"]["conditions"]:
        condition["lastTransitionTime"] = "2026-10-08T12:01:00.123456Z"
    world.see(job.touch())
    assert world.spans(job)[0].reserved_at == minute(1) + timedelta(microseconds=123456)


@pytest.mark.parametrize(
    ("amount", "kept"),
    [("-4", -4), ("9223372036854775808", 2**63 - 1), ("100E", 2**63 - 1), ("-100E", -(2**63))],
)
def test_negative_and_overflowing_quantities_are_stored_as_kueue_holds_them(
    world: World, amount: str, kept: int
) -> None:
    job = Job(requests={GPU: amount}).admit(1)
    world.see(job)
    assert world.usages(job) == [(kept, minute(1), None)]
