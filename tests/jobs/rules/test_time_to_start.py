from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.rules.time_to_start import Actor, Attempt, Phase, Slice, by_actor, time_to_start
from tests.stories import START, minute

QUEUE, CHECKS, PODS, UNACCOUNTED = Phase.QUEUE, Phase.CHECKS, Phase.PODS, Phase.UNACCOUNTED
Told = tuple[Phase, Actor, float, float]


def told(slices: list[Slice]) -> list[Told]:
    return [(each.phase, each.actor, _minutes(each.start), _minutes(each.end)) for each in slices]


def _minutes(at: object) -> float:
    return (at - START) / timedelta(minutes=1)  # type: ignore[operator,no-any-return]


CASES: dict[str, tuple[Attempt, list[Told]]] = {
    "it started": (
        Attempt(minute(0), minute(38), minute(40), minute(50)),
        [
            (QUEUE, Actor.SCHEDULER, 0, 38),
            (CHECKS, Actor.CLUSTER, 38, 40),
            (PODS, Actor.CLUSTER, 40, 50),
        ],
    ),
    "without checks": (
        Attempt(minute(0), minute(38), minute(38), minute(50)),
        [(QUEUE, Actor.SCHEDULER, 0, 38), (PODS, Actor.CLUSTER, 38, 50)],
    ),
    "it waits for quota": (Attempt(minute(0), phase=QUEUE), [(QUEUE, Actor.SCHEDULER, 0, 60)]),
    "its owner must change it": (
        Attempt(minute(0), phase=QUEUE, waits_for=Actor.OWNER), [(QUEUE, Actor.OWNER, 0, 60)],
    ),
    "it waits for checks": (
        Attempt(minute(0), minute(5), phase=CHECKS),
        [(QUEUE, Actor.SCHEDULER, 0, 5), (CHECKS, Actor.CLUSTER, 5, 60)],
    ),
    "it waits for its pods": (
        Attempt(minute(0), minute(5), minute(6), phase=PODS, waits_for=Actor.OWNER),
        [(QUEUE, Actor.SCHEDULER, 0, 5), (CHECKS, Actor.CLUSTER, 5, 6), (PODS, Actor.CLUSTER, 6, 60)],
    ),
    "it runs, and nobody tells when its pods were ready": (
        Attempt(minute(0), minute(5), minute(6)),
        [(QUEUE, Actor.SCHEDULER, 0, 5), (CHECKS, Actor.CLUSTER, 5, 6)],
    ),
    "given up before its pods were ready": (
        Attempt(minute(0), minute(5), minute(5), ended_at=minute(35), phase=PODS),
        [(QUEUE, Actor.SCHEDULER, 0, 5), (PODS, Actor.CLUSTER, 5, 35)],
    ),
    "deleted while it waited": (
        Attempt(minute(0), ended_at=minute(7), phase=QUEUE, waits_for=Actor.OWNER), [(QUEUE, Actor.SCHEDULER, 0, 7)],
    ),
    "nobody knows when it was admitted": (
        Attempt(minute(0), minute(5), None, minute(9)),
        [(QUEUE, Actor.SCHEDULER, 0, 5), (UNACCOUNTED, Actor.UNKNOWN, 5, 9)],
    ),
    "nobody knows when it got quota": (
        Attempt(minute(0), None, minute(5), minute(9)),
        [(UNACCOUNTED, Actor.UNKNOWN, 0, 5), (PODS, Actor.CLUSTER, 5, 9)],
    ),
    "only its end is known": (Attempt(minute(0), ready_at=minute(9)), [(UNACCOUNTED, Actor.UNKNOWN, 0, 9)]),
    "nobody knows since when it waits for its pods": (
        Attempt(minute(0), minute(5), phase=PODS),
        [(QUEUE, Actor.SCHEDULER, 0, 5), (UNACCOUNTED, Actor.UNKNOWN, 5, 60)],
    ),
    "nothing is known but that it runs": (Attempt(minute(0)), []),
    "queued this moment": (Attempt(minute(60), phase=QUEUE), []),
    "queued ahead of our clock": (Attempt(minute(61), phase=QUEUE), []),
    "admitted ahead of its reservation": (
        Attempt(minute(0), minute(5), minute(4), minute(9)),
        [(QUEUE, Actor.SCHEDULER, 0, 5), (PODS, Actor.CLUSTER, 5, 9)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("attempt", "slices"), CASES.values(), ids=CASES)
def test_who_had_to_act_how_long(attempt: Attempt, slices: list[Told]) -> None:
    assert told(time_to_start(attempt, minute(60))) == slices


def test_only_what_goes_on_lasts() -> None:
    waits = time_to_start(Attempt(minute(0), minute(5), phase=CHECKS), minute(60))
    assert [each.lasts for each in waits] == [False, True]
    unknown = time_to_start(Attempt(minute(0), minute(5), phase=PODS), minute(60))
    assert [each.lasts for each in unknown] == [False, True]
    over = time_to_start(Attempt(minute(0), minute(5), ended_at=minute(9), phase=CHECKS), minute(60))
    assert [each.lasts for each in over] == [False, False]


def test_the_bar_in_per_cent_of_the_whole() -> None:
    slices = time_to_start(Attempt(minute(0), minute(30), minute(31), minute(40)), minute(60))
    assert [(each.x, each.width) for each in slices] == [("0%", "75%"), ("75%", "2.5%"), ("77.5%", "22.5%")]


def test_the_sum_of_each_in_the_order_of_the_bar() -> None:
    slices = time_to_start(Attempt(minute(0), minute(30), minute(31), minute(40)), minute(60))
    assert list(by_actor(slices).items()) == [
        (Actor.SCHEDULER, timedelta(minutes=30)),
        (Actor.CLUSTER, timedelta(minutes=10)),
    ]
    assert by_actor([]) == {}


instants = st.one_of(st.none(), st.integers(-(10**6), 10**6).map(lambda n: START + timedelta(milliseconds=n)))
attempts = st.builds(
    Attempt,
    queued_at=instants.filter(bool),
    reserved_at=instants,
    admitted_at=instants,
    ready_at=instants,
    ended_at=instants,
    phase=st.sampled_from([None, QUEUE, CHECKS, PODS]),
    waits_for=st.sampled_from(Actor),
)


@given(attempts)
def test_slices_follow_each_other_without_holes_and_fill_the_bar(attempt: Attempt) -> None:
    slices = time_to_start(attempt, START)
    assert all(each.length > timedelta() for each in slices)
    for before, after in zip(slices, slices[1:], strict=False):
        assert (before.end, before.lasts) == (after.start, False)
    if slices:
        assert slices[0].whole == (attempt.queued_at, slices[-1].end)
        assert slices[0].start == attempt.queued_at
        assert sum(by_actor(slices).values(), timedelta()) == slices[-1].end - attempt.queued_at
        assert abs(sum(float(each.width.rstrip("%")) for each in slices) - 100) < 0.01


@given(attempts)
def test_nobody_is_charged_with_what_is_not_known(attempt: Attempt) -> None:
    for each in time_to_start(attempt, START):
        if each.phase is UNACCOUNTED:
            assert each.actor is Actor.UNKNOWN
        elif not each.lasts:
            assert each.actor in (Actor.SCHEDULER, Actor.CLUSTER)
