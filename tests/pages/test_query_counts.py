"""A page asks the database as often for many rows as for few."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import User
from jobs.models import Eviction, Workload
from notices.recipients import address
from scheduling.messages import insufficient_unused, pod_set_message
from tests.factories import MembershipFactory
from tests.pages.reading import visit, words
from tests.people import People
from tests.pods import Pod, see_pods
from tests.stories import GPU, P5, Job, cluster_queue, groups, quota
from tests.worlds import World

pytestmark = pytest.mark.django_db


def count(user: User, url: str) -> int:
    client = Client()
    client.force_login(user)
    client.get(url)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(url).status_code == 200
    return len(queries)


@pytest.fixture
def fill(zoo: World) -> Callable[[int], None]:
    """More of everything: jobs of both teams that wait, run and borrow, flavors, evictions."""

    def more(number: int) -> None:
        for team in ("research", "zebra"):
            place = f"hyperpod-ns-{team}"
            for n in range(number):
                runs = Job(f"r-{team}-{number}-{n}", place, gpus=2).admit(-9)
                zoo.see(
                    Job(f"w-{team}-{number}-{n}", place).waits("no room for zebra-llm"),
                    runs,
                    Job(f"e-{team}-{number}-{n}", place).admit(-9).evict(-8).release(-7),
                )
                see_pods(zoo, Pod(runs, bound=-8).ends(-6, code=1), Pod(runs, bound=-5))
        flavors = [(P5, {GPU: quota(12)})] + [(f"flavor-{n}", {GPU: quota(1), "cpu": quota(4)}) for n in range(number)]
        address(zoo.now)
        zoo.queues(cluster_queue("research-queue", flavors=groups(*flavors)))

    return more


@pytest.mark.parametrize(
    ("role", "url", "most"),
    [
        ("member", "/teams/research/", 12),
        ("team_admin", "/teams/research/", 12),
        ("finops", "/teams/research/", 12),
        ("platform_admin", "/teams/research/", 12),
        ("member", "/teams/research/workloads/", 12),
        ("member", "/teams/research/workloads/?group=waiting&q=w&sort=job", 12),
        ("member", "/teams/research/workloads/?group=running", 12),
        ("member", "/teams/research/usage/?period=year", 12),
        ("platform_admin", "/teams/research/usage/", 12),
        ("member", "/teams/research/usage/?period=2026-10", 12),
        ("member", "/search/?q=e", 12),
        ("platform_admin", "/platform/workloads/", 12),
        ("platform_admin", "/platform/workloads/?group=waiting", 12),
        ("platform_admin", "/platform/workloads/?group=now&team=zebra&created=24h&per=100", 12),
        ("platform_admin", "/search/?q=e", 12),
        ("member", "/teams/research/evictions/", 12),
        ("member", "/teams/research/evictions/?sums=preemptor&by=research", 12),
        ("platform_admin", "/teams/research/evictions/", 12),
        ("platform_admin", "/platform/evictions/", 12),
        ("platform_admin", "/platform/evictions/?sums=team&team=zebra&q=e&time=24h", 12),
        ("member", "/teams/research/evictions/unseen/", 12),
        ("platform_admin", "/platform/evictions/unseen/", 12),
        ("platform_admin", "/platform/evictions/again/", 12),
        ("platform_admin", "/platform/lending/", 12),
        ("platform_admin", "/platform/clusters/gpu-one/", 12),
        ("member", "/teams/research/lost/", 12),
        ("member", "/clusters/gpu-one/nodes/node-1/", 12),
        ("platform_admin", "/clusters/gpu-one/nodes/node-1/", 12),
        ("member", "/search/?q=node", 12),
        ("platform_admin", "/platform/", 12),
        ("team_admin", "/", 12),
        ("stranger", "/", 12),
        ("member", "/inbox/", 12),
        ("platform_admin", "/inbox/", 12),
        ("member", "/me/tokens/", 12),
    ],
)
def test_as_many_queries_for_many_rows_as_for_few(
    fill: Callable[[int], None], people: People, role: str, url: str, most: int
) -> None:
    fill(1)
    few = count(getattr(people, role), url)
    fill(6)
    many = count(getattr(people, role), url)
    assert many == few <= most


def test_a_workload_page_with_many_holds(zoo: World, people: People) -> None:
    job = Job("restless")
    counts = []
    for round_ in range(4):
        zoo.see(job.admit(round_ * 10 - 100))
        zoo.see(job.evict(round_ * 10 - 95).release(round_ * 10 - 94, "no room"))
        counts.append(count(people.member, Workload.objects.get(uid=job.uid).get_absolute_url()))
    assert counts[1:] == counts[:1] * 3
    assert counts[0] <= 12


def test_a_workload_page_with_pods_whose_queue_may_borrow_no_more(zoo: World, people: People) -> None:
    zoo.queues(cluster_queue("research-queue", 12, 0))
    job = Job("restless", gpus=4).admit(-100)
    zoo.see(job, Job("runs", gpus=12).admit(-90))
    see_pods(zoo, Pod(job, bound=-99).ends(-95))
    short = pod_set_message("main", [insufficient_unused(GPU, P5, 4)])
    zoo.see(job.evict(-95).release(-94).waits(short, -93))
    address = Workload.objects.get(uid=job.uid).get_absolute_url()
    assert "own borrowing limit" in words(visit(people.member, address))
    assert count(people.member, address) <= 12


@pytest.mark.parametrize("role", ["member", "platform_admin"])
def test_an_eviction_page_with_many_evictions(zoo: World, people: People, role: str) -> None:
    job = Job("restless").admit(-200)
    counts = []
    for at in range(-200, -170, 10):
        zoo.see(job.evict(at + 1, message="Preempted by zebra-llm").release(at + 2).admit(at + 3))
        address = f"{Workload.objects.get(uid=job.uid).get_absolute_url()}evictions/{Eviction.objects.latest('pk').pk}/"
        counts.append(count(getattr(people, role), address))
    assert max(counts) <= 12


def test_the_sign_in_page_with_many_people(people: People) -> None:

    few = _anonymous(reverse("sign-in"))
    for _ in range(5):
        MembershipFactory(team=people.research)
    assert _anonymous(reverse("sign-in")) == few <= 6


def _anonymous(url: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        Client().get(url)
    return len(queries)
