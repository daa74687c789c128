"""The inbox: who finds what in it, in which words, and what counts as unread."""

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from notices.inbox import ReaderBackend, inbox_of
from notices.kinds import Kind
from notices.lasting import Trouble, bring_up_to
from notices.models import Notice, Receipt
from notices.recipients import address
from teams.models import Membership, PlatformRole
from teams.permissions import GlobalRole
from tests.pages.conftest import PREEMPTED
from tests.pages.reading import visit
from tests.people import People
from tests.stories import START, Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db

INBOX = "/inbox/"


def unread(user: User) -> int:
    found = re.search(r'<span class="count">(\d+)', visit(user, "/me/").text)
    return int(found[1]) if found else 0


@pytest.fixture
def evicted(zoo: World) -> Job:
    """Taken by a job of zebra, with all names in the message."""
    job = Job("evicted", gpus=8, created=-60).admit(-40)
    theirs = Job("zebra-llm", "hyperpod-ns-zebra", queue="zebra-cq", gpus=4, uid="22222222-2222-4222-8222-222222222222")
    zoo.see(job, theirs.admit(-30))
    zoo.see(job.evict(-20, message=PREEMPTED).release(-19, PREEMPTED))
    address(START)
    return job


def test_the_people_of_the_team_find_it_with_its_reason_and_a_link(evicted: Job, people: People) -> None:
    page = visit(people.member, INBOX).text
    assert "evicted was evicted: Lender took it back" in page
    assert "a workload of another team" in page
    assert re.search(rf'href="/clusters/gpu-one/workloads/{evicted.uid}/evictions/\d+/"', page)


def test_no_other_team_is_named_but_to_platform_roles(zoo: World, evicted: Job, people: People) -> None:
    Receipt.objects.update_or_create(
        notice=Receipt.objects.all()[0].notice, user=people.platform_admin, defaults={"how": "at_once", "at": START}
    )
    for user in (people.member, people.viewer, people.team_admin):
        assert "zebra" not in visit(user, INBOX).text.lower()
    assert "zebra-llm" in visit(people.platform_admin, INBOX).text


def test_others_find_nothing(evicted: Job, people: People) -> None:
    for user in (people.neighbour, people.stranger, people.finops, people.auditor):
        page = visit(user, INBOX).text
        assert "evicted was" not in page
        assert "No notices yet" in page
        assert unread(user) == 0


def test_who_left_the_team_finds_it_no_more(evicted: Job, people: People) -> None:
    assert unread(people.member) == 1
    Membership.objects.filter(user=people.member).delete()
    assert unread(User.objects.get(pk=people.member.pk)) == 0
    assert "evicted was" not in visit(User.objects.get(pk=people.member.pk), INBOX).text


def test_what_is_counted_is_what_the_inbox_holds(zoo: World, evicted: Job, people: People) -> None:
    bring_up_to(zoo.cluster, [Trouble(Kind.QUEUE_STOPPED, "zebra-cq", "zebra-cq")], START)
    address(START)
    for notice in Notice.objects.all():
        everybody = (Receipt(notice=notice, user=user, how="at_once", at=START) for user in User.objects.all())
        Receipt.objects.bulk_create(everybody, ignore_conflicts=True)
    counted = {user.username: ReaderBackend().get_user(user.pk).unread_notices for user in User.objects.all()}
    assert counted == {user.username: inbox_of(user).count() for user in User.objects.all()}
    assert len(set(counted.values())) == 3


def test_unread_until_it_is_marked(evicted: Job, people: People) -> None:
    client = Client()
    client.force_login(people.member)
    assert unread(people.member) == 1
    response = client.post(reverse("inbox-read"))
    assert (response.status_code, response.headers["Location"]) == (302, INBOX)
    assert unread(people.member) == 0
    assert unread(people.viewer) == 1
    assert "evicted was evicted" in visit(people.member, INBOX).text
    assert Receipt.objects.get(user=people.member).read_at == timezone.now()


def test_pages_of_many(zoo: World, people: People) -> None:
    jobs = [Job(f"many-{n}", created=-60).admit(-40) for n in range(120)]
    zoo.see(*jobs)
    zoo.see(*(job.evict(-20) for job in jobs))
    address(minute(1))
    assert "1 to 50 of 120" in visit(people.member, INBOX).text
    last = visit(people.member, INBOX + "?page=99").text
    assert "101 to 120 of 120" in last
    assert 'href="?page=2"' in last
    assert "1 to 50 of 120" in visit(people.member, INBOX + "?page=two").text


@pytest.fixture
def trouble(zoo: World) -> Notice:
    bring_up_to(zoo.cluster, [Trouble(Kind.QUEUE_STOPPED, "zebra-cq", "zebra-cq")], START)
    address(START)
    return Notice.objects.get()


def test_a_platform_admin_says_that_they_look_after_it(trouble: Notice, people: People) -> None:
    client = Client()
    client.force_login(people.platform_admin)
    page = client.get(INBOX).text
    assert "The queue zebra-cq is stopped" in page
    assert "I look after it" in page
    assert client.post(f"{INBOX}{trouble.pk}/acknowledge/").status_code == 302
    page = client.get(INBOX).text
    assert f"{people.platform_admin.name} looks after it." in page
    assert "I look after it" not in page


def test_what_is_over_needs_nobody(zoo: World, trouble: Notice, people: People) -> None:
    bring_up_to(zoo.cluster, [], minute(5))
    page = visit(people.platform_admin, INBOX).text
    assert "Over since" in page
    assert "I look after it" not in page


@pytest.mark.parametrize(("role", "status"), [("member", 403), ("finops", 403), ("auditor", 403)])
def test_nobody_else_can(trouble: Notice, people: People, role: str, status: int) -> None:
    client = Client()
    client.force_login(getattr(people, role))
    assert client.post(f"{INBOX}{trouble.pk}/acknowledge/").status_code == status
    assert "zebra-cq" not in client.get(INBOX).text


def test_what_does_not_last_cannot_be_acknowledged(evicted: Job, people: People) -> None:
    PlatformRole.objects.create(user=people.member, role=GlobalRole.PLATFORM_ADMIN)
    client = Client()
    client.force_login(people.member)
    notice = Receipt.objects.get(user=people.member, notice__kind=Kind.EVICTED).notice
    assert client.post(f"{INBOX}{notice.pk}/acknowledge/").status_code == 404


@pytest.mark.parametrize("role", ["member", "finops"])
def test_from_the_inbox_it_is_one_step_to_choose_what_one_is_told(role: str, evicted: Job, people: People) -> None:
    page = visit(getattr(people, role), INBOX).text
    assert 'href="/me/notices/">Choose what you are told' in page
