from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.rules.lost_work import (
    MOST,
    Basis,
    CheckpointIgnored,
    Checkpoints,
    Held,
    Ignored,
    Loss,
    Total,
    Work,
    gpu_seconds,
    loss,
    read_checkpoint,
    read_interval,
)
from tests.stories import START, minute

HOUR = 3600
HALF_HOUR = timedelta(minutes=30)

moments = st.datetimes(START.replace(tzinfo=None), datetime(2027, 1, 1)).map(lambda t: t.replace(tzinfo=START.tzinfo))
intervals = st.timedeltas(timedelta(seconds=1), timedelta(days=30))
gpus = st.integers(0, 4096)


def sixteen(start: float = 0) -> list[Held]:
    return [Held(16, minute(start), None)]


def test_sixteen_gpus_with_a_checkpoint_every_half_hour_lose_four_gpu_hours_on_average_and_at_most_eight() -> None:
    found = loss(Work.TRAINING, sixteen(), minute(0), minute(600), Checkpoints(HALF_HOUR))
    assert found == Loss(Basis.EXPECTED, 0, 4 * HOUR, 8 * HOUR)


def test_evicted_twice_a_day_that_is_240_gpu_hours_a_month() -> None:
    one = loss(Work.TRAINING, sixteen(), minute(0), minute(600), Checkpoints(HALF_HOUR))
    month = sum((Total(one.low, one.expected, one.high) for _ in range(2 * 30)), Total())
    assert month.expected == 240 * HOUR
    assert month.is_range


def test_since_the_last_checkpoint_the_loss_is_exact() -> None:
    found = loss(Work.TRAINING, sixteen(), minute(0), minute(600), Checkpoints(HALF_HOUR, minute(585)))
    assert found == Loss(Basis.EXACT, 4 * HOUR, 4 * HOUR, 4 * HOUR)


def test_a_checkpoint_of_a_former_run_saves_nothing_of_this_one() -> None:
    found = loss(Work.TRAINING, sixteen(60), minute(60), minute(90), Checkpoints(None, minute(30)))
    assert found == Loss(Basis.EXACT, 8 * HOUR, 8 * HOUR, 8 * HOUR)


def test_without_checkpoints_the_whole_run_is_lost() -> None:
    found = loss(Work.TRAINING, sixteen(), minute(0), minute(60), Checkpoints())
    assert found == Loss(Basis.WHOLE, 16 * HOUR, 16 * HOUR, 16 * HOUR)


def test_a_run_shorter_than_its_interval_loses_at_most_itself() -> None:
    found = loss(Work.TRAINING, sixteen(), minute(0), minute(10), Checkpoints(HALF_HOUR))
    assert (found.expected, found.high) == (16 * 600, 16 * 600)
    found = loss(Work.TRAINING, sixteen(), minute(0), minute(20), Checkpoints(HALF_HOUR))
    assert (found.expected, found.high) == (16 * 900, 16 * 1200)


@pytest.mark.parametrize(("work", "basis"), [(Work.ENDPOINT, Basis.AVAILABILITY), (Work.SPACE, Basis.SESSION)])
def test_what_does_not_compute_towards_an_end_loses_no_gpu_hours(work: Work, basis: Basis) -> None:
    assert loss(work, sixteen(), minute(0), minute(60), Checkpoints(HALF_HOUR)) == Loss(basis)


@pytest.mark.parametrize("admitted", [None, minute(60), minute(61)])
def test_what_had_not_begun_loses_nothing(admitted: datetime | None) -> None:
    assert loss(Work.TRAINING, sixteen(), admitted, minute(60), Checkpoints()) == Loss(Basis.NOTHING)


def test_pods_that_were_done_are_not_lost() -> None:
    held = [Held(16, minute(0), minute(30)), Held(4, minute(30), None)]
    found = loss(Work.TRAINING, held, minute(0), minute(60), Checkpoints())
    assert found.high == 16 * 1800 + 4 * 1800


@pytest.mark.parametrize(
    ("text", "seconds"), [("30m", 1800), ("1h30m", 5400), (" 90s ", 90), ("2d", 172_800), ("30d", 2_592_000)]
)
def test_durations(text: str, seconds: int) -> None:
    assert read_interval(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("soon", Ignored.UNREADABLE),
        ("", Ignored.UNREADABLE),
        ("30", Ignored.UNREADABLE),
        ("10y", Ignored.UNREADABLE),
        ("1.5h", Ignored.UNREADABLE),
        ("٣m", Ignored.UNREADABLE),
        ("-5m", Ignored.NOT_POSITIVE),
        ("0s", Ignored.NOT_POSITIVE),
        ("31d", Ignored.TOO_LONG),
        ("999999999d999999999d", Ignored.TOO_LONG),
    ],
)
def test_what_is_no_interval_is_ignored_with_a_reason(text: str, why: Ignored) -> None:
    with pytest.raises(CheckpointIgnored) as told:
        read_interval(text)
    assert told.value.why == why


@given(gpus, moments, moments, moments)
def test_a_window_split_anywhere_adds_up_to_a_second(
    count: int, first: datetime, middle: datetime, end: datetime
) -> None:
    start, middle, end = sorted((first, middle, end))
    held = [Held(count, start, None)]
    parts = gpu_seconds(held, start, middle) + gpu_seconds(held, middle, end)
    assert abs(parts - gpu_seconds(held, start, end)) <= 1


@given(gpus, moments, moments, intervals, moments)
def test_no_loss_is_more_than_the_run_and_its_bounds_are_in_order(
    count: int, admitted: datetime, decided: datetime, interval: timedelta, last: datetime
) -> None:
    held = [Held(count, admitted, None)]
    run = gpu_seconds(held, admitted, decided)
    known = [Checkpoints(), Checkpoints(interval), Checkpoints(interval, min(last, decided))]
    for checkpoints in known:
        found = loss(Work.TRAINING, held, admitted, decided, checkpoints)
        assert 0 <= found.low <= found.expected <= found.high <= run


@given(gpus, intervals, st.integers(1, 10))
def test_a_long_run_loses_half_of_its_interval_on_average(count: int, interval: timedelta, times: int) -> None:
    decided = START + interval * times
    found = loss(Work.TRAINING, [Held(count, START, None)], START, decided, Checkpoints(interval))
    assert abs(found.high - 2 * found.expected) <= 1


@given(st.lists(st.tuples(gpus, moments, moments), max_size=5), moments)
def test_an_exact_loss_grows_with_the_distance_from_the_checkpoint(
    parts: list[tuple[int, datetime, datetime]], decided: datetime
) -> None:
    held = [Held(count, *sorted((a, b))) for count, a, b in parts]
    losses = [
        loss(Work.TRAINING, held, START, decided, Checkpoints(None, decided - timedelta(hours=hours))).high
        for hours in range(4)
    ]
    assert losses == sorted(losses)


def test_amounts_that_nobody_can_have_stay_within_what_a_database_adds_up() -> None:
    held = [Held(2**63 - 1, START, None), Held(-4, START, None)]
    found = loss(Work.TRAINING, held, START, minute(60), Checkpoints())
    assert found.high == MOST


def test_a_total_is_a_range_once_one_of_its_losses_is_only_expected() -> None:
    exact, expected = Total(5, 5, 5, stopping=1), Total(0, 4, 8, unknown=1)
    assert not exact.is_range
    assert exact + expected == Total(5, 9, 13, 1, 1)
    assert (exact + expected).is_range


def test_the_time_of_the_last_checkpoint() -> None:
    assert read_checkpoint("2026-10-08T12:01:00Z", minute(5)) == minute(1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", Ignored.NO_TIME),
        ("soon", Ignored.NO_TIME),
        ("0001-01-01T00:00:00+23:59", Ignored.NO_TIME),
        ("0001-01-01T00:00:00Z", Ignored.NO_TIME),
        ("1969-12-31T23:59:59Z", Ignored.NO_TIME),
        ("2026-10-08T12:06:00Z", Ignored.IN_THE_FUTURE),
        ("9999-12-31T23:59:59-23:59", Ignored.NO_TIME),
    ],
)
def test_what_is_no_checkpoint_is_ignored_with_a_reason(text: str, why: Ignored) -> None:
    with pytest.raises(CheckpointIgnored) as told:
        read_checkpoint(text, minute(5))
    assert told.value.why == why
