"""Hours added up to buckets."""

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs.models import PendingHour, QueueHour
from jobs.usage.chart import Bucket, Usage, usage_of
from jobs.usage.hours import close_hours
from jobs.usage.stretches import Period, Stretch, read_stretch
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


def test_months_add_up_to_what_the_year_tells_of_them(shared: World, people: People) -> None:
    shared.see(Job("runs", gpus=14).admit(0))
    close(shared, 24 * 25)
    year = only(people, Period.YEAR)
    for month in ("2026-10", "2026-11"):
        whole, told = only(people, read_stretch(month)).total, bucket(year, at(f"{month}-01"))
        sums = (whole.own, whole.borrowed, whole.guaranteed, whole.counted, whole.unknown)
        assert sums == (told.own, told.borrowed, told.guaranteed, told.counted, told.unknown)
        assert whole.own > 0


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


def test_absurd_amounts_are_added_up_too(shared: World, people: People) -> None:
    shared.see(Job(gpus=1).admit(0))
    close(shared, 3)
    QueueHour.objects.update(guaranteed=2**63 - 1)
    assert only(people).total.guaranteed == 3 * (2**63 - 1)
