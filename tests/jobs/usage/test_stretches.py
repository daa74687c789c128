"""Over which time use is added up."""

from datetime import UTC, datetime, timedelta

import pytest

from jobs.usage.stretches import Period, edges_of, read_stretch


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("period", "first", "last", "count"),
    [
        (Period.DAY, "2026-10-07T15:00", "2026-10-08T15:00", 24),
        (Period.WEEK, "2026-10-01T15:00", "2026-10-08T15:00", 56),
        (Period.MONTH, "2026-09-09T00:00", "2026-10-09T00:00", 30),
        (Period.YEAR, "2025-10-01T00:00", "2026-11-01T00:00", 13),
    ],
)
def test_buckets_end_with_the_one_that_goes_on(period: Period, first: str, last: str, count: int) -> None:
    edges = edges_of(period, at("2026-10-08T15:00"))
    assert (edges[0], edges[-1], len(edges)) == (at(first), at(last), count + 1)


@pytest.mark.parametrize(
    ("month", "until", "last", "days"),
    [
        ("2026-09", "2026-10-08T15:00", "2026-10-01T00:00", 30),
        ("2026-10", "2026-10-08T15:00", "2026-10-09T00:00", 8),
        ("2026-10", "2026-10-08T00:00", "2026-10-08T00:00", 7),
        ("2026-10", "2026-11-01T00:00", "2026-11-01T00:00", 31),
        ("2028-02", "2030-01-01T00:00", "2028-03-01T00:00", 29),
        ("2026-12", "2026-10-08T15:00", "2026-12-02T00:00", 1),
        ("2026-10", "2026-10-01T00:00", "2026-10-02T00:00", 1),
    ],
)
def test_a_month_goes_by_its_days_up_to_the_one_that_goes_on(month: str, until: str, last: str, days: int) -> None:
    edges = edges_of(read_stretch(month), at(until))
    assert (edges[0], edges[-1], len(edges)) == (at(f"{month}-01"), at(last), days + 1)


@pytest.mark.parametrize("asked", ["", "2026-13", "2026-00", "2026-1", "1999-10", "2026-10-08", "10-2026", "century"])
def test_what_is_no_period_is_a_week(asked: str) -> None:
    assert read_stretch(asked) == Period.WEEK


def test_a_whole_day_or_month_ends_with_itself() -> None:
    midnight = at("2026-11-01T00:00")
    assert edges_of(Period.MONTH, midnight)[-1] == midnight
    assert edges_of(Period.YEAR, midnight)[-1] == midnight
    assert edges_of(Period.WEEK, at("2026-10-08T16:00"))[-1] == at("2026-10-08T18:00")


def test_days_of_a_bucket_are_those_of_utc() -> None:
    edges = edges_of(Period.MONTH, at("2026-10-08T01:00"))
    assert {edge.hour for edge in edges} == {0}
    assert edges[-1] - edges[-2] == timedelta(days=1)
