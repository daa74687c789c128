"""Hours are closed when everything of them was read, and opened again by facts that come late."""

from datetime import datetime
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F, Sum
from django.db.models.functions import Coalesce
from hypothesis import given
from hypothesis import strategies as st

from jobs.ledger.late import HOUR
from jobs.models import ClosedHours, Eviction, PendingHour, QueueHour, ReopenedHours, TeamHour
from jobs.sync.sources import LIVE
from jobs.usage import hours
from jobs.usage.hours import _roll_up, close_hours, rebuild_hours
from portal.models import Gap
from scheduling.hour_rows import HOUR as MICROS
from scheduling.names import CHECKPOINT_INTERVAL_ANNOTATION
from teams.models import Cluster, NamespaceBinding, Team
from tests.jobs.sync.test_owners import Answers, answers, says
from tests.jobs.sync.test_told_by_events import event, learn
from tests.jobs.test_histories import A_FEW, VERBS, lives, step, undone
from tests.people import People
from tests.stories import GPU, P5, START, Job, cluster_queue, minute, stamp
from tests.worlds import World

__all__ = ["answers"]
pytestmark = pytest.mark.django_db

MINUTE = MICROS // 60


def close(world: World, at: float) -> int:
    """Everything was read just now."""
    world.is_read(at=minute(at))
    return close_hours(world.cluster, minute(at))


def used(queue: str = "research-queue") -> dict[datetime, int]:
    """Minutes by hour."""
    rows = QueueHour.objects.filter(cluster_queue=queue).order_by("hour")
    return {row.hour: row.used // MINUTE for row in rows}


def test_an_hour_is_rolled_up_once_everything_of_it_was_read(shared: World) -> None:
    shared.see(Job(gpus=4).admit(10), now=minute(10))
    shared.is_read(at=minute(59))
    assert close_hours(shared.cluster, minute(70)) == 0
    shared.is_read(at=minute(61))
    assert close_hours(shared.cluster, minute(61)) == 0  # what happened just before may be on its way
    close_hours(shared.cluster, minute(62))
    assert used() == {START: 200}
    assert ClosedHours.objects.get().until == START + HOUR


def test_nothing_is_closed_while_a_source_was_never_read(shared: World) -> None:
    assert close_hours(shared.cluster, minute(200)) == 0
    assert not ClosedHours.objects.filter(until__gt=START).exists()


def test_a_cluster_of_which_nothing_was_read(world: World) -> None:
    assert close_hours(world.cluster, minute(200)) == 0
    assert rebuild_hours(world.cluster) == 0


@pytest.mark.django_db
def test_the_command_says_when_there_is_no_cluster() -> None:
    with pytest.raises(CommandError, match="no cluster yet"):
        call_command("rebuild_hours")


def test_queue_team_and_pending_hours(shared: World, people: People) -> None:
    shared.see(Job("a", gpus=12).admit(0), now=minute(0))
    shared.see(Job("b", gpus=4, created=15).waits("", 15), now=minute(15))
    shared.see(Job("b", gpus=4, created=15).admit(30), now=minute(30))
    close(shared, 65)
    research, vision = QueueHour.objects.order_by("cluster_queue")
    assert (research.guaranteed, research.used, research.borrowed) == (12 * MICROS, 14 * MICROS, 2 * MICROS)
    assert (vision.guaranteed, vision.lent_low, vision.lent_high) == (8 * MICROS, 2 * MICROS, 2 * MICROS)
    team = TeamHour.objects.get()
    assert (team.team, team.own, team.borrowed, team.flavor) == (people.research, 12 * MICROS, 2 * MICROS, P5)
    pending = PendingHour.objects.get()
    assert (pending.team, pending.cluster_queue, pending.resource) == (people.research, "research-queue", GPU)
    assert pending.waiting == 4 * 15 * MINUTE


def test_a_quota_cut_within_the_hour(shared: World) -> None:
    shared.see(Job(gpus=8).admit(0), now=minute(0))
    shared.now = minute(45)
    shared.queues(cluster_queue("research-queue", 4))
    close(shared, 65)
    row = QueueHour.objects.get(cluster_queue="research-queue")
    assert (row.guaranteed // MINUTE, row.borrowed // MINUTE) == (12 * 45 + 4 * 15, 4 * 15)


@pytest.mark.parametrize("is_over", [False, True])
def test_a_hold_that_is_told_of_another_queue_counts_there_from_its_beginning(shared: World, is_over: bool) -> None:
    shared.see(job := Job(gpus=4).admit(10), now=minute(10))
    close(shared, 65)
    assert used() == {START: 200}
    job.obj["status"]["admission"]["clusterQueue"] = "vision-queue"
    job.finish(70) if is_over else job.touch()
    shared.see(job, now=minute(70))
    close(shared, 71)
    assert (used(), used("vision-queue")) == ({START: 0}, {START: 200})
    assert rebuild_hours(shared.cluster) == 0


def test_a_namespace_that_changes_hands_within_the_hour(shared: World, people: People) -> None:
    shared.see(Job(gpus=4).admit(0), now=minute(0))
    NamespaceBinding.objects.filter(team=people.research).update(valid_to=minute(20))
    shared.now = minute(50)
    shared.bind(people.vision, "hyperpod-ns-research")
    close(shared, 65)
    found = {row.team and row.team.slug: row.own // MINUTE for row in TeamHour.objects.select_related("team")}
    assert found == {"research": 80, None: 120, "vision": 40}


def test_what_was_not_seen_is_kept_apart(shared: World, people: People) -> None:
    shared.see(job := Job(gpus=4).admit(0), now=minute(0))
    Gap.objects.create(source="workloads", cluster="gpu-one", start=minute(20), end=minute(30), cause="not_running")
    shared.lose(job, now=minute(45), after=minute(40))
    close(shared, 65)
    row = QueueHour.objects.get(cluster_queue="research-queue")
    assert (row.used // MINUTE, row.unknown // MINUTE) == (160, 15)
    of_vision = TeamHour.objects.get(team=people.vision)
    assert (of_vision.own, of_vision.unknown // MINUTE) == (0, 10)


def test_the_time_before_the_first_read_is_unknown(shared: World) -> None:
    begun = minute(-30)
    shared.cluster.spec_versions.update(valid_from=begun)
    shared.see(Job(gpus=1).admit(-45), now=minute(0))
    close(shared, 5)
    row = QueueHour.objects.get(cluster_queue="research-queue")
    assert (row.hour, row.unknown // MINUTE, row.used // MINUTE) == (START - HOUR, 30, 30)


def test_an_hour_that_is_closed_twice_is_the_same(shared: World) -> None:
    shared.see(Job().admit(10), now=minute(10))
    assert close(shared, 190) == 10  # 3 of each queue and of the team, 1 of what waited
    ClosedHours.objects.update(until=START)
    assert close(shared, 190) == 0


# Late facts


def test_a_late_fact_opens_only_the_hours_it_touches(shared: World) -> None:
    shared.see(job := Job(gpus=2).admit(10), now=minute(10))
    close(shared, 245)
    before = dict(QueueHour.objects.values_list("hour", "pk").filter(cluster_queue="research-queue"))
    shared.see(job.finish(130), now=minute(246), last_seen=minute(245))
    reopened = ReopenedHours.objects.get()
    assert (reopened.start, reopened.end) == (minute(120), minute(240))
    close(shared, 247)
    after = dict(QueueHour.objects.values_list("hour", "pk").filter(cluster_queue="research-queue"))
    assert {hour for hour in after if before[hour] != after[hour]} == {minute(120), minute(180)}
    assert used() == {minute(0): 100, minute(60): 120, minute(120): 20, minute(180): 0}
    assert not ReopenedHours.objects.exists()
    assert rebuild_hours(shared.cluster) == 0


def test_a_hold_of_which_only_the_end_was_seen_opens_the_hours_in_between(shared: World) -> None:
    close(shared, 365)
    shared.see(Job(created=70).admit(70).finish(100), now=minute(366), last_seen=minute(365))
    assert {(row.start, row.end) for row in ReopenedHours.objects.all()} >= {(minute(60), minute(120))}
    close(shared, 367)
    assert used()[minute(60)] == 120
    assert rebuild_hours(shared.cluster) == 0


def test_news_of_the_hour_that_goes_on_open_nothing(shared: World) -> None:
    close(shared, 65)
    shared.see(Job(created=66).admit(67), now=minute(70))
    assert not ReopenedHours.objects.exists()


def test_a_workload_that_comes_back_never_went(shared: World) -> None:
    shared.see(job := Job(gpus=2).admit(10), now=minute(10))
    shared.lose(job, now=minute(50), after=minute(49))
    close(shared, 125)
    assert used()[minute(60)] == 0
    shared.see(job.touch(), now=minute(126), as_of=10**9)
    close(shared, 127)
    assert used() == {minute(0): 100, minute(60): 120}
    assert rebuild_hours(shared.cluster) == 0


def test_who_is_interrupted_goes_on_where_it_stopped(shared: World, monkeypatch: pytest.MonkeyPatch) -> None:
    close(shared, 60 * 24 * 3 + 5)
    shared.see(Job(gpus=2, created=5).admit(10), now=minute(60 * 24 * 3 + 6), last_seen=minute(60 * 24 * 3 + 5))
    days: list[datetime] = []

    def roll_up(cluster: Cluster, begun_at: datetime, start: datetime, end: datetime) -> int:
        days.append(start)
        if len(days) == 2:
            raise TimeoutError
        return _roll_up(cluster, begun_at, start, end)

    monkeypatch.setattr(hours, "_roll_up", roll_up)
    with pytest.raises(TimeoutError):
        close(shared, 60 * 24 * 3 + 7)
    assert {row.start for row in ReopenedHours.objects.all()} == {START + 24 * HOUR}
    close(shared, 60 * 24 * 3 + 8)
    assert days == [START + number * 24 * HOUR for number in (0, 1, 1, 2)]
    assert not ReopenedHours.objects.exists()
    assert rebuild_hours(shared.cluster) == 0


# Whatever happens

DEEDS = ("see", "see", "see", "miss", "lose", "quota", "hand over", "close", "save", "event")


@given(st.data())
@A_FEW
def test_hours_closed_as_time_went_by_are_those_rebuilt_in_the_end(
    shared: World, people: People, answers: Answers, data: st.DataObject
) -> None:
    with undone():
        jobs = data.draw(lives())
        for job in jobs:
            every = data.draw(st.sampled_from(("", "30m", "2h")))
            annotations = {CHECKPOINT_INTERVAL_ANNOTATION: every} if every else {}
            job.obj["spec"]["podSets"][0]["template"]["metadata"] = {"annotations": annotations}
        for number in range(data.draw(st.integers(5, 25))):
            now = 13 * number
            job, verb = data.draw(st.sampled_from(jobs)), data.draw(st.sampled_from(VERBS))
            step(job, verb, now - data.draw(st.sampled_from((0, 0, 5, 90))))
            deed = data.draw(st.sampled_from(DEEDS))
            if deed == "save":
                says(answers, job, saved=stamp(now - data.draw(st.sampled_from((1, 20, 70)))))
                answers.read(shared, minute(now))
            else:
                tell(shared, people, deed, job, now)
        close(shared, 400)
        close(shared, 401)
        assert rebuild_hours(shared.cluster) == 0
        add_up()
        add_up_losses()


def tell(world: World, people: People, deed: str, job: Job, now: float) -> None:
    world.now = minute(now)
    if deed == "see":
        world.see(job, now=minute(now), last_seen=minute(now - 2))
    elif deed == "lose":
        world.lose(job, now=minute(now), after=minute(now - 2))
    elif deed == "quota":
        world.queues(cluster_queue("research-queue", now % 11, cohort=None if now % 2 else "shared"))
    elif deed == "event":
        learn(world, [event(job, now - 13 * (now % 3))], now=minute(now))
    elif deed == "hand over":
        hand_over(world, people.vision if now % 2 else people.research)
    elif deed == "close":
        close(world, now)


def hand_over(world: World, team: Team) -> None:
    namespace = "hyperpod-ns-research"
    line = NamespaceBinding.objects.filter(namespace=namespace)
    if not line.filter(valid_from__gte=world.now).exists():
        line.filter(valid_to=None).update(valid_to=world.now)
        world.bind(team, namespace)


def add_up() -> None:
    for row in QueueHour.objects.all():
        teams = TeamHour.objects.filter(
            hour=row.hour, cluster_queue=row.cluster_queue, flavor=row.flavor, resource=row.resource
        )
        assert row.used == sum(each.own + each.borrowed for each in teams)
        assert row.borrowed == sum(each.borrowed for each in teams)


def add_up_losses() -> None:
    """Those of work that was done since the first read are in the hours, whole."""
    figures = {f"lost_{name}": Coalesce(Sum(f"lost_{name}"), 0) for name in ("low", "expected", "high")}
    in_hours = TeamHour.objects.aggregate(**figures)
    evictions = {name: 10**6 * amount for name, amount in Eviction.objects.aggregate(**figures).items()}
    assert all(in_hours[name] <= evictions[name] for name in figures)
    assert in_hours == evictions or Eviction.objects.filter(lost_since__lt=START).exists()
    unknown = Eviction.objects.filter(lost_expected=None, workload__gpus__gt=0)
    counted = TeamHour.objects.aggregate(count=Coalesce(Sum("lost_unknown"), 0))["count"]
    assert counted == unknown.count()
    assert not TeamHour.objects.exclude(lost_low__lte=F("lost_expected"), lost_expected__lte=F("lost_high")).exists()


def test_the_command_tells_what_differed_and_mends_it(shared: World) -> None:
    shared.see(Job().admit(10), now=minute(10))
    close(shared, 65)
    QueueHour.objects.update(used=1)
    for expected in ("gpu-one: 2 rows differed", "gpu-one: 0 rows differed"):
        out = StringIO()
        call_command("rebuild_hours", stdout=out)
        assert out.getvalue().strip() == expected


def test_sources_are_those_that_are_watched(shared: World) -> None:
    """A gap of what is pulled for other pages leaves nothing unknown here."""
    Gap.objects.create(source="nodes", cluster="gpu-one", start=minute(20), end=minute(30), cause="not_running")
    assert "nodes" not in LIVE
    shared.see(Job().admit(10), now=minute(10))
    close(shared, 65)
    assert not QueueHour.objects.filter(unknown__gt=0).exists()
