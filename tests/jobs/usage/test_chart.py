"""Hours added up to buckets."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs.models import PendingHour, QueueHour
from jobs.usage.chart import Bucket, Period, Stretch, Usage, edges_of, read_stretch, usage_of
from jobs.usage.hours import close_hours
from scheduling.hour_rows import HOUR as MICROS
from teams.models import SpecVersion
from tests.people import People
from tests.stories import START, Job, cluster_queue, local_queue, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def close(world: World, hours: int) -> None:
    world.is_read(at=minute(hours * 60 + 5))
    close_hours(world.cluster, minute(hours * 60 + 5))


def only(people: People, period: Stretch = Period.DAY, queue: str = "research-queue") -> Usage:
    (section,) = usage_of(people.research, period)
    (usage,) = [each for each in section.usages if each.cluster_queue == queue]
    return usage


def bucket(usage: Usage, start: datetime) -> Bucket:
    return next(each for each in usage.buckets if each.start == start)


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


def test_months_add_up_to_what_the_year_tells_of_them(shared: World, people: People) -> None:
    shared.see(Job("runs", gpus=14).admit(0))
    close(shared, 24 * 25)
    year = only(people, Period.YEAR)
    for month in ("2026-10", "2026-11"):
        whole, told = only(people, read_stretch(month)).total, bucket(year, at(f"{month}-01"))
        sums = (whole.own, whole.borrowed, whole.guaranteed, whole.counted, whole.unknown)
        assert sums == (told.own, told.borrowed, told.guaranteed, told.counted, told.unknown)
        assert whole.own > 0


def test_a_whole_day_or_month_ends_with_itself() -> None:
    midnight = at("2026-11-01T00:00")
    assert edges_of(Period.MONTH, midnight)[-1] == midnight
    assert edges_of(Period.YEAR, midnight)[-1] == midnight
    assert edges_of(Period.WEEK, at("2026-10-08T16:00"))[-1] == at("2026-10-08T18:00")


def test_a_team_sees_its_part_and_what_its_queue_lent(shared: World, people: People) -> None:
    shared.see(Job("a", gpus=4).admit(0), Job("b", "hyperpod-ns-vision", queue="vision-queue", gpus=10).admit(30))
    close(shared, 2)
    usage = only(people)
    first = bucket(usage, START)
    assert (first.own, first.borrowed, first.guaranteed) == (4 * MICROS, 0, 12 * MICROS)
    assert (first.lent_low, first.lent_high) == (MICROS, MICROS)
    assert usage.total.own == 8 * MICROS
    assert not usage.is_shared


def test_what_waits_is_told_of_each_flavor_of_the_queue(shared: World, people: People) -> None:
    shared.see(Job("a", gpus=5, created=0).waits())
    close(shared, 1)
    assert bucket(only(people), START).waiting == 5 * MICROS
    assert PendingHour.objects.count() == 1


def test_what_another_team_does_in_the_same_queue_is_not_ours(shared: World, people: People) -> None:
    shared.queues(local_queue("hyperpod-ns-vision", "research-queue", name="second"))
    shared.see(Job("a", "hyperpod-ns-vision", gpus=4).admit(0))
    close(shared, 1)
    usage = only(people)
    assert usage.is_shared
    assert bucket(usage, START).own == 0


def test_time_before_the_first_read_is_unknown_and_time_to_come_is_not_counted(shared: World, people: People) -> None:
    close(shared, 2)
    buckets = only(people).buckets
    assert {each.is_known for each in buckets[:-2]} == {False}
    assert [(each.past, each.counted, each.unknown) for each in buckets[-2:]] == [(MICROS, MICROS, 0)] * 2
    running = only(people, Period.MONTH).buckets[-1]
    assert (running.start, running.past, running.counted) == (at("2026-10-08"), 14 * MICROS, 2 * MICROS)
    assert running.unknown == 12 * MICROS


def test_before_the_first_hour_is_over_nothing_is_known(shared: World, people: People) -> None:
    (section,) = usage_of(people.research, Period.DAY)
    assert (section.until, section.usages) == (None, [])
    close(shared, 0)
    assert usage_of(people.research, Period.DAY)[0].until is None


def test_a_queue_that_the_team_left_stays_in_its_past(shared: World, people: People) -> None:
    shared.see(Job(gpus=4).admit(0))
    shared.now = minute(30)
    shared.queues_gone("hyperpod-ns-research/main-queue", kind=SpecVersion.Kind.LOCAL_QUEUE)
    close(shared, 1)
    assert only(people).total.own == 4 * MICROS


def test_a_queue_of_others_is_told_of_only_in_the_hours_in_which_the_team_used_it(
    shared: World, people: People
) -> None:
    shared.see(Job("away", queue="vision-queue", gpus=2).admit(5).finish(50))
    close(shared, 3)
    visited = only(people, queue="vision-queue")
    assert bucket(visited, START).guaranteed == 8 * MICROS
    assert {each.guaranteed + each.lent_high for each in visited.buckets if each.start > START} == {0}


def test_buckets_of_every_period_hold_the_same_in_all(shared: World, people: People) -> None:
    shared.see(job := Job(gpus=3).admit(20))
    shared.now = minute(100)
    shared.queues(cluster_queue("research-queue", 2))
    shared.see(job.finish(400), now=minute(401))
    close(shared, 8)
    totals = {(total.own, total.borrowed) for total in (only(people, period).total for period in Period)}
    assert totals == {(3 * MICROS * 80 // 60 + 2 * MICROS * 300 // 60, MICROS * 300 // 60)}


def test_many_hours_cost_as_many_queries_as_few(shared: World, people: People) -> None:
    shared.see(Job(gpus=3).admit(20))
    counts = []
    for hours in (1, 30):
        close(shared, hours)
        usage_of(people.research, Period.MONTH)
        with CaptureQueriesContext(connection) as queries:
            usage_of(people.research, Period.MONTH)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 4


def test_days_of_a_bucket_are_those_of_utc() -> None:
    edges = edges_of(Period.MONTH, at("2026-10-08T01:00"))
    assert {edge.hour for edge in edges} == {0}
    assert edges[-1] - edges[-2] == timedelta(days=1)


def test_absurd_amounts_are_added_up_too(shared: World, people: People) -> None:
    shared.see(Job(gpus=1).admit(0))
    close(shared, 3)
    QueueHour.objects.update(guaranteed=2**63 - 1)
    assert only(people).total.guaranteed == 3 * (2**63 - 1)
