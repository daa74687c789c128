"""A thousand evictions within a minute, as a watch would bring them, while people are told and look at pages. For
`bench.evictions`; needs Django's settings.

The worker's task runs in a process of its own (`bench.teller`); so does the reader, whose waits are measured. Half the
victims give their quota back, too. What the flood rule holds back is sent afterwards, by a clock put forward.
"""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from multiprocessing import get_context
from typing import Final

from django.utils import timezone

from accounts.models import User
from bench import crowd
from bench.page_visits import cookie, team_page
from bench.visitor import visit
from bench.web import Web
from jobs.models import Eviction
from jobs.telling.words import words_of
from notices.delivery import deliver
from notices.inbox import inbox_of
from notices.kinds import Kind
from notices.models import Channel, Message, Notice
from notices.packing import pack
from notices.parcels import FLOOD_WITHIN
from notices.recipients import address
from notices.sending import send
from teams.models import Membership, Team
from teams.permissions import TeamRole
from tests.stories import START, Job
from tests.worlds import World

COUNT, TEAMS = 1_000, range(20, 30)
PEOPLE = [crowd.member(team) for team in (*TEAMS, TEAMS[-1] + 1)]
_EACH_SECONDS: Final = 1
"""How often the watch brings a batch."""


@dataclass(frozen=True, slots=True)
class Storm:
    """`waits`: of the pages meanwhile, in seconds. `took`: from the first eviction to the last."""

    waits: list[float]
    took: float
    evictions: int


def quiet(web: Web, seconds: float) -> list[float]:
    """How long a team's page took, asked steadily while nothing is evicted."""
    with _visitor() as visitor:
        return visitor.submit(visit, *_asked(web), seconds).result()


def storm(web: Web, world: World, seconds: int) -> Storm:
    """Evict a hundred jobs of each of ten teams, so evenly that it takes that long."""
    jobs = _running(world)
    _listen()
    with _told(), _visitor() as visitor:
        waits = visitor.submit(visit, *_asked(web), seconds)
        took = _evict(world, jobs, seconds)
        found = waits.result()
    return Storm(found, took, Eviction.objects.filter(workload__uid__in=[job.uid for job in jobs]).count())


def _asked(web: Web) -> tuple[str, dict[str, str]]:
    page = team_page(TEAMS[0])
    return web.address + page.path, cookie(page.username)


@contextmanager
def _visitor() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        pool.submit(time.monotonic).result()  # it has started
        yield pool


@contextmanager
def _told() -> Iterator[None]:
    """The worker's task runs over and over, and once more at the end."""
    teller = subprocess.Popen([sys.executable, "-m", "bench.teller"], stdin=subprocess.PIPE)
    try:
        yield
    finally:
        teller.communicate()
    assert teller.returncode == 0


def _running(world: World) -> list[Job]:
    """A hundred small jobs of each team, admitted a while ago."""
    now = timezone.now()
    jobs = [
        Job(f"storm-{number}", crowd.namespace(team), queue=crowd.queue_name(team), gpus=1, created=_at(now) - 90)
        for team in TEAMS
        for number in range(COUNT // len(TEAMS))
    ]
    world.see(*(job.admit(_at(now) - 60) for job in jobs), now=now)
    return jobs


def _listen() -> None:
    """Two people follow each team, each with e-mail."""
    people = User.objects.in_bulk(PEOPLE, field_name="username")
    teams = Team.objects.in_bulk([f"team-{team:03}" for team in TEAMS], field_name="slug")
    for team in TEAMS:
        second = people[crowd.member(team + 1)]
        Membership.objects.create(user=second, team=teams[f"team-{team:03}"], role=TeamRole.MEMBER)
    for user in people.values():
        User.objects.filter(pk=user.pk).update(email=f"{user.username}@example.com")
        Channel.objects.create(user=user, kind=Channel.Kind.EMAIL, name="mail", added_at=START)


def _evict(world: World, jobs: list[Job], seconds: int) -> float:
    """At a steady pace; returns how many seconds it took."""
    begun = time.monotonic()
    for second in range(0, seconds, _EACH_SECONDS):
        some = jobs[len(jobs) * second // seconds : len(jobs) * (second + _EACH_SECONDS) // seconds]
        now = timezone.now()
        world.see(*(job.evict(_at(now), message=MESSAGE) for job in some), now=now)
        world.see(*(job.release(_at(now)) for job in some[::2]), now=timezone.now())
        time.sleep(max(0, begun + second + _EACH_SECONDS - time.monotonic()))
    return time.monotonic() - begun


def _at(now: datetime) -> float:
    return (now - START) / timedelta(minutes=1)


MESSAGE: Final = "Preempted to accommodate a workload (UID: other, JobUID: other) due to reclamation within the cohort"


def send_the_rest() -> None:
    """What waits for the flood's end."""
    later = timezone.now() + FLOOD_WITHIN + timedelta(minutes=1)
    address(later)
    pack(later)
    deliver(words_of, send, lambda: later)


def amiss() -> dict[str, int]:
    """How many of each kind of mistake there are, each of which must be none."""
    evictions = set(Eviction.objects.filter(workload__owner_name__startswith="storm-").values_list("pk", flat=True))
    notices = Notice.objects.filter(kind=Kind.EVICTED, title__startswith="storm-")
    told = Counter(details["eviction"] for details in notices.values_list("details", flat=True))
    inboxes = [_inbox_amiss(username) for username in PEOPLE]
    return {
        "evictions without exactly one notice": sum(told[each] != 1 for each in evictions),
        "notices of no eviction": len(told.keys() - evictions),
        "notices that stand in an inbox not exactly once": sum(inboxes),
        "messages not sent": Message.objects.filter(sent_at__isnull=True).count(),
    }


def _inbox_amiss(username: str) -> int:
    """Of one person: notices of their teams that are not in the inbox, or not in exactly one message."""
    user = User.objects.get(username=username)
    mine = Notice.objects.filter(kind=Kind.EVICTED, title__startswith="storm-", team__memberships__user=user)
    there = inbox_of(user).filter(notice__in=mine, deliveries__message__sent_at__isnull=False)
    found = Counter(there.values_list("notice", flat=True))
    return sum(found[each] != 1 for each in mine.values_list("pk", flat=True))
