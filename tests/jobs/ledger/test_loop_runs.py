from collections.abc import Callable, Iterable
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobs.ledger.loop_runs import loop_of, runs_of
from jobs.models import Eviction
from jobs.rules.loops import LOOP_FROM, LOOP_WITHIN, Decision, Loop
from tests.stories import Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db

ON_A_DATABASE = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
BOUNDS = st.tuples(st.integers(0, 400), st.integers(0, 90)).map(lambda each: between(each[0], sum(each)))


Find = Callable[[Iterable[Decision]], dict[Decision, Loop]]


@pytest.fixture
def loops(shared: World) -> Find:
    """Stores these evictions of one job, beside another's; says which of them are in which loop."""
    shared.see(Job("looping"), Job("other"))
    job, other = shared.row(Job("looping")), shared.row(Job("other"))

    def eviction(number: int, workload: int, decision: Decision) -> Eviction:
        return Eviction(
            cluster=shared.cluster, namespace=job.namespace, workload_id=workload, reason="Preempted", ordinal=number,
            observed=decision.after == decision.before, decided_after=decision.after, decided_before=decision.before,
            priority=0, work="training",
        )  # fmt: skip

    def find(decisions: Iterable[Decision]) -> dict[Decision, Loop]:
        told = list(decisions)
        Eviction.objects.all().delete()
        Eviction.objects.bulk_create(eviction(number, job.pk, each) for number, each in enumerate(told))
        Eviction.objects.bulk_create(eviction(number, other.pk, each) for number, each in enumerate(seen(0, 30, 61)))
        runs = runs_of(Eviction.objects.all()).get(job.pk, [])
        return {each: loop for each in told if (loop := loop_of(each, runs))}

    return find


def seen(*minutes: float) -> list[Decision]:
    return [Decision(minute(at), minute(at)) for at in minutes]


def between(after: float, before: float) -> Decision:
    return Decision(minute(after), minute(before))


def test_three_within_an_hour_of_each_other_are_a_loop(loops: Find) -> None:
    found = loops(seen(0, 60, 120))
    assert found == dict.fromkeys(seen(0, 60, 120), Loop(3, minute(120)))


def test_two_are_none_and_neither_are_three_with_more_than_an_hour_between(loops: Find) -> None:
    assert loops(seen(0, 10)) == {}
    assert loops(seen(0, 60, 121)) == {}
    assert loops([]) == {}


def test_two_loops_of_one_job_are_two(loops: Find) -> None:
    found = loops(seen(0, 10, 20, 200, 210, 220, 230))
    assert {found[each] for each in seen(0, 20)} == {Loop(3, minute(20))}
    assert {found[each] for each in seen(200, 230)} == {Loop(4, minute(230))}


def test_what_nobody_saw_within_an_hour_makes_no_loop(loops: Find) -> None:
    """Ten times between two instants four hours apart, and once more right after."""
    assert loops([between(0, 240)] * 10 + seen(241)) == {}


def test_what_nobody_saw_counts_where_it_must_lie_within_the_hour(loops: Find) -> None:
    times = [between(0, 20)] * 2 + seen(30)
    assert {loop.size for loop in loops(times).values()} == {3}
    assert loops([between(0, 20)] * 2 + seen(61)) == {}


def test_many_at_one_instant_are_all_counted(loops: Find) -> None:
    assert loops(seen(5, 5, 5, 5)) == {seen(5)[0]: Loop(4, minute(5))}


@ON_A_DATABASE
@given(told=st.lists(st.tuples(BOUNDS, st.floats(0, 1)), max_size=12))
def test_however_the_unseen_ones_lay_a_loop_is_one(loops: Find, told: list[tuple[Decision, float]]) -> None:
    found = loops([decision for decision, _ in told])
    for loop in set(found.values()):
        members = [(each, part) for each, part in told if found.get(each) == loop]
        assert len(members) == loop.size >= LOOP_FROM
        moments = sorted(each.after + (each.before - each.after) * part for each, part in members)
        gaps = [later - earlier for earlier, later in pairwise(moments)]
        assert max(gaps, default=timedelta()) <= LOOP_WITHIN


@ON_A_DATABASE
@given(told=st.lists(BOUNDS, max_size=12))
def test_nothing_that_follows_within_the_hour_is_left_out(loops: Find, told: list[Decision]) -> None:
    placed = sorted((each for each in told if each.before - each.after <= LOOP_WITHIN), key=lambda each: each.before)
    found = loops(told)
    for place, each in enumerate(placed[LOOP_FROM - 1 :]):
        chain = [*placed[place : place + LOOP_FROM - 1], each]
        if all(later.before - earlier.after <= LOOP_WITHIN for earlier, later in pairwise(chain)):
            assert len({found[member] for member in chain}) == 1


def test_the_hour_is_exact_to_the_microsecond(loops: Find) -> None:
    late = Decision(*[minute(120) + timedelta(microseconds=1)] * 2)
    assert loops([*seen(0, 60), late]) == {}
    early = Decision(*[minute(0) + timedelta(microseconds=999_999)] * 2)
    assert {loop.size for loop in loops([early, *seen(60), Decision(*[minute(120)] * 2)]).values()} == {3}


def test_other_jobs_are_apart(loops: Find) -> None:
    assert loops(seen(15, 45)) == {}
