import pytest
from pytest_django import DjangoAssertNumQueries

from jobs.workloads.span_history import HeldAmount, history_of
from tests.stories import GPU, P5, Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db


def test_one_that_never_held_any(world: World) -> None:
    job = Job()
    world.see(job)
    history = history_of(world.row(job), 5)
    assert (list(history.holds), history.total, history.latest) == ([], 0, None)


def test_a_hold_that_lasts(world: World) -> None:
    job = Job(gpus=4).admit(-10)
    world.see(job, now=minute(0))
    (held,) = history_of(world.row(job), 5).holds
    assert (held.cluster_queue, held.reserved_at, held.admitted_at) == ("research-queue", minute(-10), minute(-10))
    assert (held.is_open, held.ended_by, held.amounts) == (True, "", [HeldAmount(P5, GPU, 4, None)])


def test_an_amount_that_changed_is_told_with_its_end(world: World) -> None:
    job = Job(gpus=2, pods=3).admit(-10)
    world.see(job, now=minute(-9))
    world.see(job.give_back(1), now=minute(-5))
    (held,) = history_of(world.row(job), 5).holds
    assert held.amounts == [HeldAmount(P5, GPU, 6, minute(-5)), HeldAmount(P5, GPU, 4, None)]


def test_an_end_that_is_one_instant_or_not(world: World) -> None:
    finished, lost = Job("finished").admit(-20), Job("lost").admit(-20)
    world.see(finished, lost, now=minute(-19))
    world.see(finished.finish(-5), now=minute(-4))
    world.lose(lost, now=minute(-2), after=minute(-4))
    (ended,) = history_of(world.row(finished), 5).holds
    assert (ended.is_open, ended.is_certain, ended.ended_by) == (False, True, "Finished")
    (vanished,) = history_of(world.row(lost), 5).holds
    assert (vanished.is_open, vanished.is_certain, vanished.ended_by) == (False, False, "Deleted")


def test_the_newest_first_with_their_number_in_one_question(
    world: World, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    job = Job(requests={GPU: "4", "cpu": "8"})
    for start in (-90, -60, -30):
        world.see(job.admit(start), now=minute(start + 1))
        world.see(job.evict(start + 5).release(start + 6), now=minute(start + 7))
    row = world.row(job)
    with django_assert_num_queries(1):
        history = history_of(row, 2)
    assert [held.reserved_at for held in history.holds] == [minute(-30), minute(-60)]
    assert [held.evicted_at for held in history.holds] == [minute(-25), minute(-55)]
    assert history.total == 3
    assert [[amount.resource for amount in held.amounts] for held in history.holds] == [[GPU, "cpu"]] * 2
