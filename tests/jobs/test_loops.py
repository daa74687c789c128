from datetime import timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from jobs.loops import LOOP_FROM, LOOP_WITHIN, Decision, Loop, loops
from tests.stories import minute

BOUNDS = st.tuples(st.integers(0, 400), st.integers(0, 90)).map(lambda each: between(each[0], sum(each)))


def seen(*minutes: float) -> list[Decision]:
    return [Decision(minute(at), minute(at)) for at in minutes]


def between(after: float, before: float) -> Decision:
    return Decision(minute(after), minute(before))


def test_three_within_an_hour_of_each_other_are_a_loop() -> None:
    found = loops(seen(0, 60, 120))
    assert found == dict.fromkeys(seen(0, 60, 120), Loop(3, minute(120)))


def test_two_are_none_and_neither_are_three_with_more_than_an_hour_between() -> None:
    assert loops(seen(0, 10)) == {}
    assert loops(seen(0, 60, 121)) == {}
    assert loops([]) == {}


def test_two_loops_of_one_job_are_two() -> None:
    found = loops(seen(0, 10, 20, 200, 210, 220, 230))
    assert {found[each] for each in seen(0, 20)} == {Loop(3, minute(20))}
    assert {found[each] for each in seen(200, 230)} == {Loop(4, minute(230))}


def test_what_nobody_saw_within_an_hour_makes_no_loop() -> None:
    """Ten times between two instants four hours apart, and once more right after."""
    assert loops([between(0, 240)] * 10 + seen(241)) == {}


def test_what_nobody_saw_counts_where_it_must_lie_within_the_hour() -> None:
    times = [between(0, 20)] * 2 + seen(30)
    assert {loop.size for loop in loops(times).values()} == {3}
    assert loops([between(0, 20)] * 2 + seen(61)) == {}


def test_many_at_one_instant_are_all_counted() -> None:
    assert loops(seen(5, 5, 5, 5)) == {seen(5)[0]: Loop(4, minute(5))}


@given(st.lists(st.tuples(BOUNDS, st.floats(0, 1)), max_size=12))
def test_however_the_unseen_ones_lay_a_loop_is_one(told: list[tuple[Decision, float]]) -> None:
    found = loops([decision for decision, _ in told])
    for loop in set(found.values()):
        members = [(each, part) for each, part in told if found.get(each) == loop]
        assert len(members) == loop.size >= LOOP_FROM
        moments = sorted(each.after + (each.before - each.after) * part for each, part in members)
        gaps = [later - earlier for earlier, later in pairwise(moments)]
        assert max(gaps, default=timedelta()) <= LOOP_WITHIN
