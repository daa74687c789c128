from dataclasses import replace

import pytest
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from jobs.rules.quota_bar import Amounts, quota_bar
from jobs.words.bar import axis_marks, end_words, segment_labels, tick_words
from tests.jobs.rules.test_quota_bar import PLAIN, rows


def told(amounts: Amounts) -> list[str]:
    return [label.words for label in segment_labels(quota_bar(amounts))]


def at_both_ends(amounts: Amounts) -> tuple[str, str]:
    bar = quota_bar(amounts)
    return tick_words(bar), end_words(bar)


CASES: dict[str, tuple[Amounts, tuple[str, str], list[str]]] = {
    "a limit": (PLAIN, ("16 guaranteed", "at most 40"), ["12 own", "4 free", "24 more allowed"]),
    "a limit close by": (
        replace(PLAIN, borrowing_limit=2), ("16 guaranteed, at most 18", ""), ["12 own", "4 free", "2 more allowed"],
    ),
    "borrowed": (
        replace(PLAIN, reservation=32, borrowed=16), ("16 guaranteed", "at most 40"),
        ["16 own", "16 borrowed", "8 more allowed"],
    ),
    "no limit": (
        replace(PLAIN, borrowing_limit=None, available=24), ("16 guaranteed", "no limit"),
        ["12 own", "4 free", "20 free to borrow now"],
    ),
    "no limit close by": (
        replace(PLAIN, borrowing_limit=None, available=4), ("16 guaranteed, no limit", ""), ["12 own", "4 free"],
    ),
    "no limit, borrowed": (
        replace(PLAIN, borrowing_limit=None, reservation=32, borrowed=16, available=8), ("16 guaranteed", "no limit"),
        ["16 own", "16 borrowed", "8 free to borrow now"],
    ),
    "limit 0": (replace(PLAIN, borrowing_limit=0), ("16 guaranteed, at most 16", ""), ["12 own", "4 free"]),
    "over the limit": (
        replace(PLAIN, borrowing_limit=12, reservation=32, borrowed=16), ("16 guaranteed", "at most 28"),
        ["16 own", "12 within the limit", "4 over"],
    ),
    "outside any cohort": (
        replace(PLAIN, may_borrow=False, borrowing_limit=None), ("16 guaranteed, at most 16", ""),
        ["12 own", "4 free"],
    ),
    "lent": (
        replace(PLAIN, reservation=4, lent_low=4, lent_high=8), ("16 guaranteed", "at most 40"),
        ["4 own", "4 lent", "up to 4 more lent", "4 free", "24 more allowed"],
    ),
    "lent, not known": (
        replace(PLAIN, lent_low=None, lent_high=None), ("16 guaranteed", "at most 40"), ["12 own", "24 more allowed"],
    ),
    "free, not known": (
        replace(PLAIN, borrowing_limit=None, available=None, lent_low=None, lent_high=None),
        ("16 guaranteed, no limit", ""), ["12 own"],
    ),
    "nothing guaranteed": (
        replace(PLAIN, nominal=0, reservation=0), ("0 guaranteed", "at most 24"), ["24 more allowed"],
    ),
    "nothing at all": (
        replace(PLAIN, nominal=0, reservation=0, borrowing_limit=None, available=0), ("0 guaranteed", "no limit"), [],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("amounts", "ends", "labels"), CASES.values(), ids=CASES)
def test_what_stands_on_the_bar(amounts: Amounts, ends: tuple[str, str], labels: list[str]) -> None:
    assert at_both_ends(amounts) == ends
    assert told(amounts) == labels


def test_a_segment_too_narrow_for_words_has_none() -> None:
    assert told(replace(PLAIN, reservation=3)) == ["13 free", "24 more allowed"]


def test_labels_stand_in_the_middle_of_what_they_tell_and_what_is_over_stands_out() -> None:
    labels = segment_labels(quota_bar(replace(PLAIN, borrowing_limit=4, reservation=40, borrowed=24)))
    assert [(label.words, label.x, label.is_over) for label in labels] == [
        ("16 own", "20%", False),
        ("4 within the limit", "45%", False),
        ("20 over", "75%", True),
    ]


def test_on_a_shared_scale_no_more_is_free_than_there_is() -> None:
    bar = quota_bar(replace(PLAIN, borrowing_limit=None, available=24), 100)
    assert [label.words for label in segment_labels(bar)] == ["12 own", "20 free to borrow now"]


def test_numbers_are_written_as_the_reader_writes_them() -> None:
    many = replace(PLAIN, nominal=1600, reservation=1200, borrowing_limit=2400)
    with override("pt-br"):
        bar = quota_bar(many)
        assert all("," not in label.x for label in segment_labels(bar))
        assert "1.600" in tick_words(bar)


@given(rows())
def test_what_may_be_used_at_most_is_told_exactly_once(amounts: Amounts) -> None:
    text = " ".join(at_both_ends(amounts))
    assert text.startswith(f"{amounts.nominal} guaranteed")
    limit = amounts.limit
    assert text.count("no limit" if limit is None else f"at most {limit}") == 1
    assert ("at most" in text) is (limit is not None)


@given(rows())
def test_what_is_not_known_is_not_told(amounts: Amounts) -> None:
    text = ", ".join(told(amounts))
    if amounts.lent_high is None:
        assert "lent" not in text
        assert " free," not in f"{text},"
    if amounts.available is None:
        assert "free to borrow" not in text


@given(st.integers(1, 10**6))
def test_marks_of_an_axis_are_few_round_and_within_it(scale: int) -> None:
    marks = axis_marks(scale)
    assert 2 <= len(marks) <= 7
    assert [mark.amount for mark in marks] == [n * marks[1].amount for n in range(len(marks))]
    assert str(marks[1].amount).rstrip("0") in ("1", "2", "4")
    assert marks[-1].amount <= scale
    assert all(float(mark.x[:-1]) <= 100 for mark in marks)


def test_the_marks_of_an_axis() -> None:
    assert [(mark.amount, mark.x, mark.anchor, mark.is_minor) for mark in axis_marks(40)] == [
        (0, "0%", "start", False),
        (10, "25%", "middle", True),
        (20, "50%", "middle", False),
        (30, "75%", "middle", True),
        (40, "100%", "end", False),
    ]
