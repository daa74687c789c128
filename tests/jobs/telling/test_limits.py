"""What passed a person's own limits, told once."""

from typing import Any

import pytest

from accounts.models import User
from jobs.models import Eviction
from jobs.telling.limits import tell_beyond
from notices.kinds import Kind
from notices.models import Habits, Notice, Receipt, Unfollowed
from notices.recipients import address
from scheduling import names
from teams.permissions import TeamRole
from tests.notices.test_recipients import in_group
from tests.people import People
from tests.stories import Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db

HOURS = 60
DAY = 24 * HOURS


def limit(user: User, **limits: int) -> None:
    Habits.objects.create(user=user, language="en", **limits)


def told(at: float, kind: Kind) -> list[tuple[str, str]]:
    """Whom, of what."""
    tell_beyond(minute(at))
    address(minute(at))
    rows = Receipt.objects.filter(notice__kind=kind).order_by("notice__at", "user__username")
    return list(rows.values_list("user__username", "notice__title"))


def named(name: str, *, by: str = "", **more: Any) -> Job:
    job = Job(name, **more)
    job.obj["spec"]["podSets"][0]["template"]["metadata"] = {"annotations": {names.SUBMITTED_BY_ANNOTATION: by}}
    return job


def test_a_job_that_waits_for_too_long(shared: World, people: People) -> None:
    limit(people.member, wait_hours=2)
    shared.see(Job("waits").waits("no room"), Job("runs").admit(1), Job("their", "hyperpod-ns-vision").waits("no room"))
    assert told(2 * HOURS, Kind.WAITS_LONG) == []
    assert told(2 * HOURS + 1, Kind.WAITS_LONG) == [("member", "waits")]
    assert told(5 * HOURS, Kind.WAITS_LONG) == [("member", "waits")]


def test_each_wait_of_a_job_anew(shared: World, people: People) -> None:
    limit(people.member, wait_hours=2)
    job = Job("waits").waits("no room")
    shared.see(job)
    told(3 * HOURS, Kind.WAITS_LONG)
    shared.see(job.admit(4 * HOURS), now=minute(4 * HOURS))
    shared.see(job.evict(5 * HOURS), now=minute(5 * HOURS))
    shared.see(job.release(5 * HOURS), now=minute(5 * HOURS))
    assert len(told(6 * HOURS, Kind.WAITS_LONG)) == 1
    assert len(told(8 * HOURS, Kind.WAITS_LONG)) == 2


def test_of_jobs_that_name_somebody_only_that_one(shared: World, people: People) -> None:
    limit(people.member, wait_hours=1)
    limit(people.viewer, wait_hours=1)
    shared.see(named("mine", by="member").waits("no room"), named("stray", by="nobody").waits("no room"))
    assert told(2 * HOURS, Kind.WAITS_LONG) == [("member", "mine"), ("member", "stray"), ("viewer", "stray")]


def test_a_team_that_is_not_followed_only_with_the_own_jobs(shared: World, people: People) -> None:
    limit(people.member, wait_hours=1, loss_gpu_hours=1)
    Unfollowed.objects.create(user=people.member, team=people.research)
    shared.see(named("mine", by="member").waits("no room"), Job("other").waits("no room"))
    shared.see(Job("lost", gpus=8).admit(0), now=minute(1))
    shared.see(Job("lost", gpus=8).admit(0).evict(DAY), now=minute(DAY))
    assert told(DAY, Kind.WAITS_LONG) == [("member", "mine")]
    assert told(DAY, Kind.TEAM_LOSS) == []


def test_a_team_that_lost_too_much_is_told_once_a_week(shared: World, people: People) -> None:
    """The stories begin on a Thursday: four days later it is the next week."""
    limit(people.member, loss_gpu_hours=7)
    job = Job(gpus=4).admit(0)
    shared.see(job)
    shared.see(job.evict(1 * HOURS), now=minute(1 * HOURS))
    assert told(HOURS, Kind.TEAM_LOSS) == []
    shared.see(job.release(1 * HOURS), now=minute(1 * HOURS))
    shared.see(job.admit(2 * HOURS), now=minute(2 * HOURS))
    shared.see(job.evict(3 * HOURS), now=minute(3 * HOURS))
    assert sum(each.lost_expected or 0 for each in Eviction.objects.all()) == 8 * 3600
    for at in (3 * HOURS, DAY, 4 * DAY):
        assert told(at, Kind.TEAM_LOSS) == [("member", "Research")]
    assert Notice.objects.get(kind=Kind.TEAM_LOSS).details == {"lost": 8 * 3600, "limit": 7}


def test_an_eviction_that_is_dated_in_the_future_counts_for_nothing_yet(shared: World, people: People) -> None:
    limit(people.member, loss_gpu_hours=1)
    job = Job("ahead", gpus=8).admit(0)
    shared.see(job)
    shared.see(job.evict(20 * HOURS), now=minute(5))
    assert told(10, Kind.TEAM_LOSS) == []
    assert told(20 * HOURS, Kind.TEAM_LOSS) == [("member", "Research")]


def test_without_limits_nobody_is_told(shared: World, people: People) -> None:
    limit(people.member)
    shared.see(Job("waits").waits("no room"))
    assert told(100 * DAY, Kind.WAITS_LONG) == []


def test_who_is_of_the_team_by_a_group_of_an_identity_provider_is_told_too(shared: World, people: People) -> None:
    limit(people.stranger, wait_hours=1, loss_gpu_hours=1)
    shared.see(Job("waits").waits("no room"))
    shared.see(job := Job("lost", gpus=8).admit(0), now=minute(1))
    shared.see(job.evict(DAY), now=minute(DAY))
    assert told(DAY, Kind.WAITS_LONG) == told(DAY, Kind.TEAM_LOSS) == []
    membership = in_group(people.stranger, TeamRole.MEMBER, people.research)
    assert told(DAY, Kind.WAITS_LONG) == [("stranger", "waits")]
    assert told(DAY, Kind.TEAM_LOSS) == [("stranger", "Research")]
    membership.delete()
    shared.see(Job("later", created=DAY).waits("no room", at=DAY), now=minute(DAY))
    assert told(DAY + 2 * HOURS, Kind.WAITS_LONG) == [("stranger", "waits")]
