"""A flood becomes one digest."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from notices.parcels import FLOOD_FROM, FLOOD_WITHIN, parcels

NOW = datetime(2026, 10, 8, 12, tzinfo=UTC)


def ago(minutes: float, size: int = 1) -> tuple[datetime, int]:
    return NOW - timedelta(minutes=minutes), size


def test_a_few_go_one_by_one_and_the_digest_as_one() -> None:
    assert parcels([1, 2], [7, 8, 9], [], NOW) == [[7, 8, 9], [1], [2]]


def test_many_go_as_one() -> None:
    assert parcels([1, 2, 3, 4, 5, 6], [], [], NOW) == [[1, 2, 3, 4, 5, 6]]
    assert parcels([1, 2, 3], [7], [ago(1), ago(2), ago(3)], NOW) == [[7, 1, 2, 3]]


def test_after_a_flood_the_rest_waits_until_ten_minutes_are_over() -> None:
    assert parcels([1], [], [ago(9.9, 250)], NOW) == []
    assert parcels([1, 2], [], [ago(10, 250)], NOW) == [[1], [2]]
    assert parcels([1], [7], [ago(1, 250)], NOW) == [[7]]


def test_no_more_than_five_in_ten_minutes() -> None:
    assert parcels([1], [], [ago(n) for n in range(5)], NOW) == []
    assert parcels([1], [], [ago(n) for n in range(4)], NOW) == [[1]]


items = st.lists(st.integers(), unique=True, max_size=30)
history = st.lists(st.tuples(st.integers(0, 1200), st.integers(0, 50)), max_size=8)


@given(items, items, history)
def test_nothing_twice_and_nothing_lost(at_once: list[int], digest: list[int], before: list[tuple[int, int]]) -> None:
    sent = [(NOW - timedelta(seconds=seconds), size) for seconds, size in before]
    marked = ([("now", item) for item in at_once], [("digest", item) for item in digest])
    packed = [item for parcel in parcels(*marked, sent, NOW) for item in parcel]
    assert len(packed) == len(set(packed))
    assert set(packed) in ({*marked[0], *marked[1]}, set(marked[1]))
    later = parcels(*marked, sent, NOW + FLOOD_WITHIN)
    assert {item for parcel in later for item in parcel} == {*marked[0], *marked[1]}


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 300)), max_size=60))
def test_however_they_come_no_ten_minutes_bring_more_than_six_messages(waves: list[tuple[int, int]]) -> None:
    now, waiting, sent = NOW, 0, []
    for seconds, count in waves:
        now, waiting = now + timedelta(seconds=seconds), waiting + count
        packed = parcels(list(range(waiting)), [], sent, now)
        sent += [(now, len(parcel)) for parcel in packed]
        waiting -= sum(map(len, packed))
    for at, _ in sent:
        assert sum(at <= other < at + FLOOD_WITHIN for other, _ in sent) <= FLOOD_FROM
