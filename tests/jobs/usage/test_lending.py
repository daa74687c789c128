from datetime import UTC, datetime, timedelta

import pytest

from jobs.usage.hours import close_hours
from jobs.usage.lending import Line, lending_of
from jobs.usage.stretches import Period, Stretch, read_stretch
from portal.models import Gap
from scheduling.hour_rows import HOUR
from teams.models import Cluster, NamespaceBinding
from tests.stories import G6, GPU, P5, START, Job, cluster_queue, groups, minute, quota
from tests.worlds import World

pytestmark = pytest.mark.django_db


def close(world: World, hours: int) -> None:
    world.is_read(at=minute(hours * 60 + 5))
    close_hours(world.cluster, minute(hours * 60 + 5))


def lines(period: Stretch = Period.DAY) -> list[tuple[str | None, Line]]:
    """In order, each with its root."""
    found = lending_of(Cluster.objects.select_related("closed_hours").get(), period)
    return [(tree.root, line) for tree in found.trees for gpu in tree.gpu_types for line in gpu.lines]


def sums(period: Stretch = Period.DAY) -> dict[str, tuple[int, int, int]]:
    """Lent at least and at most, and borrowed, by ClusterQueue."""
    hours = {line.key.cluster_queue: line.hours for _, line in lines(period)}
    return {name: (each.lent_low, each.lent_high, each.borrowed) for name, each in hours.items() if each}


@pytest.fixture
def lent(shared: World) -> World:
    """Vision borrows 2 of research for half an hour and 4 of it from then on."""
    first = Job("a", "hyperpod-ns-vision", queue="vision-queue", gpus=10)
    shared.see(first.admit(0), Job("b", "hyperpod-ns-vision", queue="vision-queue", gpus=2, created=1).admit(30))
    return shared


def test_what_one_lends_another_borrows(lent: World) -> None:
    close(lent, 2)
    assert sums() == {"research-queue": (7 * HOUR, 7 * HOUR, 0), "vision-queue": (0, 0, 7 * HOUR)}
    (root, first), (_, second) = lines()
    assert (root, first.key) == ("shared", ("research-queue", P5, GPU))
    assert first.now is not None
    assert second.now is not None
    assert (first.now.lent_low, first.now.lent_high, second.now.borrowed) == (4, 4, 4)


def test_months_add_up_to_all_that_was_lent(lent: World) -> None:
    close(lent, 24 * 30)
    months = [sums(read_stretch(month))["research-queue"] for month in ("2026-10", "2026-11")]
    assert all(low > 0 for low, _, _ in months)
    assert sum(low for low, _, _ in months) == (24 * 30 * 4 - 1) * HOUR


@pytest.mark.parametrize(
    ("month", "start", "until"),
    [
        ("2026-10", "2026-10-01", "2026-11-01"),
        ("2026-11", "2026-11-01", "2026-11-07T12"),
        ("2026-12", "2026-12-01", "2026-12-01"),
    ],
)
def test_of_a_month_the_hours_that_are_over(lent: World, month: str, start: str, until: str) -> None:
    close(lent, 24 * 30)
    found = lending_of(Cluster.objects.select_related("closed_hours").get(), read_stretch(month))
    assert (found.start, found.until) == tuple(
        datetime.fromisoformat(each).replace(tzinfo=UTC) for each in (start, until)
    )


def test_of_two_that_could_have_lent_neither_did_for_certain(lent: World) -> None:
    lent.queues(cluster_queue("third-queue", 12))
    close(lent, 1)
    assert {name: each for name, each in sums().items() if name != "vision-queue"} == {
        "research-queue": (0, 3 * HOUR, 0),
        "third-queue": (0, 3 * HOUR, 0),
    }


def test_who_borrowed_is_told_by_team(lent: World) -> None:
    lent.see(Job("stray", "of-nobody", queue="vision-queue", gpus=3, created=1).admit(60))
    close(lent, 2)
    (line,) = [line for _, line in lines() if line.hours and line.hours.borrowed]
    assert line.by_team == {"Vision": 7 * HOUR, "": 3 * HOUR}
    assert line.tells_teams


def test_the_only_team_of_a_queue_is_the_one_that_borrowed(lent: World) -> None:
    close(lent, 1)
    assert not any(line.tells_teams for _, line in lines() if line.by_team)


def test_only_hours_of_the_period_count(lent: World) -> None:
    close(lent, 50)
    assert sums(Period.DAY)["vision-queue"] == (0, 0, 24 * 4 * HOUR)
    assert sums(Period.WEEK)["vision-queue"] == (0, 0, 199 * HOUR)


def test_what_was_not_seen_is_said(lent: World) -> None:
    Gap.objects.create(source="workloads", cluster="gpu-one", start=minute(60), end=minute(90), cause="unreachable")
    close(lent, 2)
    for _, line in lines():
        assert line.hours is not None
        assert line.hours.unknown - 22 * HOUR == HOUR // 2


def test_before_the_first_hour_only_what_holds_now_is_known(lent: World) -> None:
    found = lending_of(lent.cluster, Period.DAY)
    assert (found.start, found.until) == (None, None)
    assert [(line.hours, line.now is not None) for _, line in lines()] == [(None, True)] * 2


def test_a_queue_that_is_gone_keeps_its_hours(lent: World) -> None:
    close(lent, 1)
    lent.now = minute(61)
    lent.queues_gone("research-queue")
    NamespaceBinding.objects.filter(team__slug="research").update(valid_to=minute(61))
    assert lines()[-1][0] is None
    root, line = lines()[-1]
    assert (root, line.key.cluster_queue, line.now, line.teams) == (None, "research-queue", None, ())
    assert sums()["research-queue"] == (3 * HOUR, 3 * HOUR, 0)


def test_types_stand_apart_the_most_borrowed_first(lent: World) -> None:
    both = groups((G6, {GPU: quota(2)}), (P5, {GPU: quota(12)}))
    lent.queues(cluster_queue("research-queue", flavors=both))
    close(lent, 1)
    (tree,) = lending_of(Cluster.objects.select_related("closed_hours").get(), Period.DAY).trees
    assert [(each.flavor, each.borrowed) for each in tree.gpu_types] == [(P5, 3 * HOUR), (G6, 0)]


def test_the_stretch_is_told(lent: World) -> None:
    close(lent, 1)
    found = lending_of(Cluster.objects.select_related("closed_hours").get(), Period.DAY)
    assert (found.start, found.until) == (START - timedelta(hours=23), START + timedelta(hours=1))
