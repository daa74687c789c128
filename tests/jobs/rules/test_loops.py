from datetime import timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from jobs.rules.loops import LOOP_FROM, LOOP_WITHIN, Decision, Loop, loops_of
from tests.stories import minute

BOUNDS = st.tuples(st.integers(0, 400), st.integers(0, 90)).map(lambda each: between(each[0], sum(each)))


def seen(*minutes: float) -> list[Decision]:
    return [Decision(minute(at), minute(at)) for at in minutes]


def between(after: float, before: float) -> Decision:
    return Decision(minute(after), minute(before))


def loop(size: int, latest: float, began: float) -> Loop:
    return Loop(size, minute(latest), minute(began))


def test_three_within_an_hour_of_each_other_are_a_loop() -> None:
    assert loops_of(seen(120, 0, 60)) == [loop(3, 120, 0)]
    assert all(loop(3, 120, 0).has(each) for each in seen(0, 60, 120))


def test_two_are_none_and_neither_are_three_with_more_than_an_hour_between() -> None:
    assert loops_of(seen(0, 10)) == loops_of(seen(0, 60, 121)) == loops_of([]) == []


def test_two_loops_of_one_job_are_two() -> None:
    early, late = loops_of(seen(0, 10, 20, 200, 210, 220, 230))
    assert (early, late) == (loop(3, 20, 0), loop(4, 230, 200))
    assert early.has(seen(20)[0]) and not early.has(seen(200)[0])
    assert late.has(seen(200)[0]) and not late.has(seen(20)[0])


def test_what_nobody_saw_within_an_hour_makes_no_loop() -> None:
    """Ten times between two instants four hours apart, and once more right after."""
    assert loops_of([between(0, 240)] * 10 + seen(241)) == []


def test_what_is_not_placed_belongs_to_no_loop_around_it() -> None:
    [found] = loops_of([*seen(0, 50, 100), between(0, 90)])
    assert found == loop(3, 100, 0)
    assert not found.has(between(0, 90))


def test_what_nobody_saw_counts_where_it_must_lie_within_the_hour() -> None:
    times = [between(0, 20)] * 2
    assert loops_of([*times, *seen(30)]) == [loop(3, 30, 20)]
    assert loops_of([*times, *seen(61)]) == []


def test_many_at_one_instant_are_all_counted() -> None:
    assert loops_of(seen(5, 5, 5, 5)) == [loop(4, 5, 5)]


def test_the_hour_is_exact_to_the_microsecond() -> None:
    moment = timedelta(microseconds=1)
    late = Decision(*[minute(120) + moment] * 2)
    assert loops_of([*seen(0, 60), late]) == []
    early = Decision(*[minute(1) - moment] * 2)
    assert loops_of([early, *seen(60, 120)]) == [Loop(3, minute(120), minute(1) - moment)]


@given(told=st.lists(st.tuples(BOUNDS, st.floats(0, 1)), max_size=12))
def test_however_the_unseen_ones_lay_a_loop_is_one(told: list[tuple[Decision, float]]) -> None:
    for found in loops_of(decision for decision, _ in told):
        members = [(each, part) for each, part in told if found.has(each)]
        assert len(members) == found.size >= LOOP_FROM
        moments = sorted(each.after + (each.before - each.after) * part for each, part in members)
        gaps = [later - earlier for earlier, later in pairwise(moments)]
        assert max(gaps, default=timedelta()) <= LOOP_WITHIN


@given(told=st.lists(BOUNDS, max_size=12))
def test_nothing_that_follows_within_the_hour_is_left_out(told: list[Decision]) -> None:
    placed = sorted((each for each in told if each.is_placed), key=lambda each: each.before)
    found = loops_of(told)
    for place, each in enumerate(placed[LOOP_FROM - 1 :]):
        chain = [*placed[place : place + LOOP_FROM - 1], each]
        if all(later.before - earlier.after <= LOOP_WITHIN for earlier, later in pairwise(chain)):
            assert sum(all(loop.has(member) for member in chain) for loop in found) == 1
