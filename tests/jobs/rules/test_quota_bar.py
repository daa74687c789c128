import re
from dataclasses import replace

import pytest
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from jobs.rules.quota_bar import Amounts, Bar, End, Part, natural_scale, percent, quota_bar

PLAIN = Amounts(
    nominal=16, reservation=12, borrowed=0, borrowing_limit=24, may_borrow=True, available=28, lent_low=0, lent_high=0
)
FILLED = (Part.OWN, Part.BORROWED, Part.OVER, Part.LENT, Part.MAYBE_LENT)
PERCENT = re.compile(r"\d+(\.\d{1,3})?%")


def parts(bar: Bar) -> dict[Part, tuple[int, int]]:
    """Where each segment begins and ends."""
    return {segment.part: (segment.start, segment.end) for segment in bar.segments}


def filled(amounts: Amounts) -> dict[Part, tuple[int, int]]:
    return {part: ends for part, ends in parts(quota_bar(amounts)).items() if part in FILLED}


CASES: dict[str, tuple[Amounts, int, End, dict[Part, tuple[int, int]]]] = {
    "own": (PLAIN, 40, End.LIMIT, {Part.OWN: (0, 12)}),
    "nothing in use": (replace(PLAIN, reservation=0), 40, End.LIMIT, {}),
    "borrowed": (
        replace(PLAIN, reservation=32, borrowed=16), 40, End.LIMIT, {Part.OWN: (0, 16), Part.BORROWED: (16, 32)},
    ),
    "over the limit": (
        replace(PLAIN, reservation=32, borrowed=16, borrowing_limit=12), 32, End.LIMIT,
        {Part.OWN: (0, 16), Part.BORROWED: (16, 28), Part.OVER: (28, 32)},
    ),
    "no limit": (
        replace(PLAIN, borrowing_limit=None, available=10), 22, End.OPEN, {Part.OWN: (0, 12)},
    ),
    "no limit and nothing free": (
        replace(PLAIN, borrowing_limit=None, reservation=20, borrowed=4, available=0), 20, End.OPEN,
        {Part.OWN: (0, 16), Part.BORROWED: (16, 20)},
    ),
    "no limit, free not known": (
        replace(PLAIN, borrowing_limit=None, reservation=20, borrowed=4, available=None), 20, End.OPEN,
        {Part.OWN: (0, 16), Part.BORROWED: (16, 20)},
    ),
    "limit 0": (replace(PLAIN, borrowing_limit=0), 16, End.WALL, {Part.OWN: (0, 12)}),
    "over a limit of 0": (
        replace(PLAIN, borrowing_limit=0, reservation=20, borrowed=4), 20, End.WALL,
        {Part.OWN: (0, 16), Part.OVER: (16, 20)},
    ),
    "outside any cohort": (replace(PLAIN, may_borrow=False, borrowing_limit=None), 16, End.WALL, {Part.OWN: (0, 12)}),
    "outside any cohort, its quota cut under use": (
        replace(PLAIN, may_borrow=False, borrowing_limit=None, nominal=8), 12, End.WALL,
        {Part.OWN: (0, 8), Part.OVER: (8, 12)},
    ),
    "nothing guaranteed": (
        replace(PLAIN, nominal=0, reservation=4, borrowed=4), 24, End.LIMIT, {Part.BORROWED: (0, 4)},
    ),
    "nothing guaranteed, nothing allowed": (
        replace(PLAIN, nominal=0, reservation=0, borrowing_limit=0, available=0), 1, End.WALL, {},
    ),
    "lent": (
        replace(PLAIN, reservation=3, lent_low=4, lent_high=4), 40, End.LIMIT, {Part.OWN: (0, 3), Part.LENT: (12, 16)},
    ),
    "lent, a range": (
        replace(PLAIN, reservation=3, lent_low=4, lent_high=9), 40, End.LIMIT,
        {Part.OWN: (0, 3), Part.LENT: (12, 16), Part.MAYBE_LENT: (7, 12)},
    ),
    "lent, perhaps nothing": (
        replace(PLAIN, reservation=3, lent_low=0, lent_high=9), 40, End.LIMIT,
        {Part.OWN: (0, 3), Part.MAYBE_LENT: (7, 16)},
    ),
    "lent, not known": (replace(PLAIN, lent_low=None, lent_high=None), 40, End.LIMIT, {Part.OWN: (0, 12)}),
}  # fmt: skip


@pytest.mark.parametrize(("amounts", "scale", "end", "segments"), CASES.values(), ids=CASES)
def test_what_is_drawn(amounts: Amounts, scale: int, end: End, segments: dict[Part, tuple[int, int]]) -> None:
    bar = quota_bar(amounts)
    assert (bar.scale, bar.end, filled(amounts)) == (scale, end, segments)
    assert bar.is_over is (Part.OVER in segments)


def test_the_zones_behind_go_to_the_tick_and_from_there_to_the_end() -> None:
    assert (parts(quota_bar(PLAIN))[Part.OWN_ZONE], parts(quota_bar(PLAIN))[Part.ROOM]) == ((0, 16), (16, 40))
    assert Part.ROOM not in parts(quota_bar(replace(PLAIN, borrowing_limit=0)))
    assert Part.OWN_ZONE not in parts(quota_bar(replace(PLAIN, nominal=0)))
    unknown = replace(PLAIN, borrowing_limit=None, available=None)
    assert Part.ROOM not in parts(quota_bar(unknown))


def test_without_a_limit_and_with_nothing_free_there_is_no_room() -> None:
    nothing = replace(PLAIN, nominal=0, reservation=0, borrowing_limit=None, available=0)
    assert parts(quota_bar(nothing)) == {}


def test_on_a_shared_scale_the_same_amounts_are_shorter() -> None:
    open_ended = replace(PLAIN, borrowing_limit=None, available=10)
    assert parts(quota_bar(open_ended, 400)) == parts(quota_bar(open_ended))
    assert [(s.x, s.width) for s in quota_bar(PLAIN, 400).segments] == [("0%", "4%"), ("4%", "6%"), ("0%", "3%")]


def test_lines_between_single_devices_only_within_what_is_used_and_where_they_can_be_told_apart() -> None:
    assert quota_bar(replace(PLAIN, reservation=4)).cells == ("2.5%", "5%", "7.5%")
    assert quota_bar(replace(PLAIN, reservation=0)).cells == ()
    assert quota_bar(PLAIN, 49).cells == ()


@pytest.mark.parametrize(
    ("amount", "scale", "text"),
    [(0, 7, "0%"), (7, 7, "100%"), (1, 3, "33.333%"), (2, 3, "66.667%"), (1, 8, "12.5%"), (100, 1000, "10%"),
     (2**63 - 1, 2**63 - 1, "100%"), (1, 10**9, "0%")],
)  # fmt: skip
def test_per_cent(amount: int, scale: int, text: str) -> None:
    assert percent(amount, scale) == text
    with override("pt-br"):
        assert percent(amount, scale) == text


@pytest.mark.parametrize(
    ("nominal", "anchor", "is_at_end"),
    [(0, "start", False), (3, "start", False), (4, "middle", False), (16, "middle", False), (30, "end", True),
     (40, "end", True)],
)  # fmt: skip
def test_where_the_label_of_the_tick_may_grow(nominal: int, anchor: str, is_at_end: bool) -> None:
    bar = quota_bar(replace(PLAIN, nominal=nominal, reservation=0, borrowing_limit=40 - nominal))
    assert (bar.scale, bar.tick_anchor, bar.is_tick_at_end) == (40, anchor, is_at_end)


@st.composite
def rows(draw: st.DrawFn) -> Amounts:
    """What Kueue's arithmetic can yield: borrowed is what lies beyond the quota, lent is of what is idle."""
    nominal, reservation = draw(st.integers(0, 64)), draw(st.integers(0, 96))
    may_borrow = draw(st.booleans())
    low = draw(st.integers(0, max(0, nominal - reservation)))
    high = draw(st.integers(low, max(0, nominal - reservation)))
    is_known = draw(st.booleans())
    return Amounts(
        nominal=nominal,
        reservation=reservation,
        borrowed=max(0, reservation - nominal) if may_borrow else 0,
        borrowing_limit=draw(st.none() | st.integers(0, 64)),
        may_borrow=may_borrow,
        available=draw(st.none() | st.integers(0, 64)),
        lent_low=low if is_known else None,
        lent_high=high if is_known else None,
    )


def length(found: dict[Part, tuple[int, int]], *wanted: Part) -> int:
    return sum(found[part][1] - found[part][0] for part in wanted if part in found)


@given(rows())
def test_own_and_lent_stand_apart_within_what_is_guaranteed(amounts: Amounts) -> None:
    found = filled(amounts)
    assert length(found, Part.OWN, Part.LENT, Part.MAYBE_LENT) <= amounts.nominal
    spans = sorted(found.values())
    assert all(before[1] <= after[0] for before, after in zip(spans, spans[1:], strict=False))
    for part in (Part.LENT, Part.MAYBE_LENT):
        if part in found:
            assert found.get(Part.OWN, (0, 0))[1] <= found[part][0] <= found[part][1] <= amounts.nominal
    if amounts.lent_low is None:
        assert Part.LENT not in found
        assert Part.MAYBE_LENT not in found
    else:
        assert length(found, Part.LENT) == amounts.lent_low
        assert length(found, Part.LENT, Part.MAYBE_LENT) == amounts.lent_high


@given(rows())
def test_borrowed_starts_at_the_tick_and_all_that_is_reserved_is_drawn_once(amounts: Amounts) -> None:
    found = filled(amounts)
    assert length(found, Part.OWN, Part.BORROWED, Part.OVER) == amounts.reservation
    if Part.BORROWED in found:
        assert found[Part.BORROWED][0] == amounts.nominal
        assert found[Part.OWN][1] == amounts.nominal if amounts.nominal else Part.OWN not in found
    if amounts.may_borrow:
        assert length(found, Part.BORROWED, Part.OVER) == amounts.borrowed
    is_over = amounts.limit is not None and amounts.reservation > amounts.limit
    assert (Part.OVER in found) is is_over
    assert length(found, Part.OVER) == (amounts.reservation - (amounts.limit or 0) if is_over else 0)


@given(rows(), st.none() | st.integers(0, 100))
def test_nothing_lies_beyond_the_bar(amounts: Amounts, more: int | None) -> None:
    scale = None if more is None else natural_scale(amounts) + more
    bar = quota_bar(amounts, scale)
    assert bar.scale >= max(1, amounts.nominal, amounts.reservation, amounts.limit or 0)
    for segment in bar.segments:
        assert 0 <= segment.start < segment.end <= bar.scale
        assert all(PERCENT.fullmatch(text) for text in (segment.x, segment.width, segment.middle))
        assert float(segment.x[:-1]) + float(segment.width[:-1]) <= 100.001
    for text in (bar.tick, bar.limit_x, bar.used_width, *bar.cells):
        assert PERCENT.fullmatch(text)
        assert float(text[:-1]) <= 100


@given(rows())
def test_the_reader_s_language_does_not_touch_the_geometry(amounts: Amounts) -> None:
    english = quota_bar(amounts)
    texts = [(s.x, s.width, s.middle) for s in english.segments], english.tick, english.cells
    with override("pt-br"):
        bar = quota_bar(amounts)
        assert ([(s.x, s.width, s.middle) for s in bar.segments], bar.tick, bar.cells) == texts
