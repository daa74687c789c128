"""Quiet hours and digests, by any clock."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from notices.kinds import How
from notices.rhythm import Rhythm

SAO_PAULO, BERLIN, UTC_ZONE = ZoneInfo("America/Sao_Paulo"), ZoneInfo("Europe/Berlin"), ZoneInfo("UTC")
NIGHT = Rhythm(SAO_PAULO, time(9), time(22), time(7))

zones = st.sampled_from([SAO_PAULO, BERLIN, UTC_ZONE, ZoneInfo("Asia/Kathmandu"), ZoneInfo("Australia/Lord_Howe")])
walls = st.integers(0, 24 * 60 - 1).map(lambda minutes: time(minutes // 60, minutes % 60))
moments = st.integers(0, 3 * 365 * 24 * 60).map(lambda n: datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=n))
rhythms = st.tuples(zones, walls, walls, walls).map(lambda parts: Rhythm(*parts))


@pytest.mark.parametrize(
    ("hour", "sent"),
    [(12, (8, 12)), (0, (8, 0)), (1, (8, 10)), (5, (8, 10)), (9, (8, 10)), (10, (8, 10))],
)
def test_nothing_between_22_and_7_in_sao_paulo(hour: int, sent: tuple[int, int]) -> None:
    """Three hours behind UTC: quiet from 1 to 10."""
    at = datetime(2026, 10, 8, hour, tzinfo=UTC)
    assert NIGHT.due(How.AT_ONCE, at) == datetime(2026, 10, *sent, tzinfo=UTC)


def test_quiet_hours_within_a_day() -> None:
    rhythm = Rhythm(UTC_ZONE, time(9), time(12), time(13, 30))
    noon = datetime(2026, 10, 8, 12, tzinfo=UTC)
    assert rhythm.due(How.AT_ONCE, noon) == noon + timedelta(minutes=90)
    assert rhythm.due(How.AT_ONCE, noon - timedelta(seconds=1)) == noon - timedelta(seconds=1)


def test_the_digest_comes_once_a_day_and_not_in_quiet_hours() -> None:
    nine = datetime(2026, 10, 8, 12, tzinfo=UTC)
    assert NIGHT.due(How.DIGEST, nine - timedelta(minutes=1)) == nine
    assert NIGHT.due(How.DIGEST, nine) == nine + timedelta(days=1)
    early = Rhythm(SAO_PAULO, time(6), time(22), time(7))
    assert early.due(How.DIGEST, nine) == nine + timedelta(hours=22)


def test_clocks_that_change() -> None:
    """In Berlin 2:30 did not exist on 2026-03-29, and came twice on 2026-10-25."""
    rhythm = Rhythm(BERLIN, time(2, 30))
    spring, autumn = datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 24, 12, tzinfo=UTC)
    assert rhythm.due(How.DIGEST, spring) == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert rhythm.due(How.DIGEST, autumn) == first
    assert rhythm.due(How.DIGEST, first) == datetime(2026, 10, 26, 1, 30, tzinfo=UTC)


def test_an_hour_that_comes_twice_is_quiet_twice_and_no_longer() -> None:
    night = Rhythm(BERLIN, time(9), time(22), time(2, 30))
    first, second = datetime(2026, 10, 25, 0, 30, tzinfo=UTC), datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    assert night.due(How.AT_ONCE, first - timedelta(minutes=15)) == first
    assert night.due(How.AT_ONCE, second - timedelta(minutes=15)) == second


@given(rhythms, moments)
@example(Rhythm(BERLIN, time(9), time(22), time(2, 30)), datetime(2026, 10, 25, 1, 15, tzinfo=UTC))
def test_nothing_waits_longer_than_quiet_hours_last(rhythm: Rhythm, at: datetime) -> None:
    assert rhythm.quiet_from is not None and rhythm.quiet_to is not None
    begin, end = (timedelta(hours=wall.hour, minutes=wall.minute) for wall in (rhythm.quiet_from, rhythm.quiet_to))
    assert rhythm.due(How.AT_ONCE, at) - at <= (end - begin) % timedelta(days=1) + timedelta(hours=1)


@given(rhythms, moments, st.sampled_from([How.AT_ONCE, How.DIGEST]))
def test_never_before_it_is_told_never_in_quiet_hours_never_two_days_late(
    rhythm: Rhythm, at: datetime, how: How
) -> None:
    due = rhythm.due(how, at)
    assert at <= due <= at + timedelta(hours=51)
    assert not rhythm.is_quiet(due)
    assert rhythm.due(How.AT_ONCE, due) == due


@given(rhythms, moments, st.timedeltas(timedelta(0), timedelta(days=2)), st.sampled_from([How.AT_ONCE, How.DIGEST]))
def test_what_is_told_later_is_not_sent_earlier(rhythm: Rhythm, at: datetime, later: timedelta, how: How) -> None:
    assert rhythm.due(how, at) <= rhythm.due(how, at + later)


@given(zones, walls, moments)
def test_without_quiet_hours_at_once_is_at_once_and_the_digest_within_a_day(
    zone: ZoneInfo, wall: time, at: datetime
) -> None:
    rhythm = Rhythm(zone, wall)
    assert rhythm.due(How.AT_ONCE, at) == at
    assert timedelta(0) < rhythm.due(How.DIGEST, at) - at <= timedelta(hours=25)
