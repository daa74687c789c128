"""Trouble is told once while it lasts, and again when it comes back."""

import pytest

from notices.kinds import Kind
from notices.lasting import Trouble, acknowledge, bring_up_to
from notices.models import Notice, Receipt
from notices.recipients import address
from portal.models import AuditEvent
from tests.people import People
from tests.stories import minute
from tests.worlds import World

pytestmark = pytest.mark.django_db

STOPPED = Trouble(Kind.QUEUE_STOPPED, "research-queue", "research-queue")
BELOW = Trouble(Kind.NODES_BELOW_QUOTAS, "ml.p5.48xlarge", "ml.p5.48xlarge", details={"missing": 16})


def lasting() -> set[tuple[str, str]]:
    return set(Notice.objects.filter(ended_at__isnull=True).values_list("kind", "subject"))


def test_told_when_it_begins_over_when_it_is_gone_told_again_when_it_is_back(world: World) -> None:
    bring_up_to(world.cluster, [STOPPED, BELOW], minute(0))
    bring_up_to(world.cluster, [STOPPED, BELOW], minute(1))
    assert Notice.objects.count() == 2
    bring_up_to(world.cluster, [BELOW], minute(2))
    assert lasting() == {(Kind.NODES_BELOW_QUOTAS, "ml.p5.48xlarge")}
    assert Notice.objects.get(kind=Kind.QUEUE_STOPPED).ended_at == minute(2)
    bring_up_to(world.cluster, [BELOW, STOPPED], minute(3))
    assert (Notice.objects.count(), len(lasting())) == (3, 2)


def test_figures_follow_while_it_lasts(world: World) -> None:
    bring_up_to(world.cluster, [BELOW], minute(0))
    bring_up_to(world.cluster, [Trouble(BELOW.kind, BELOW.subject, BELOW.title, details={"missing": 8})], minute(1))
    assert Notice.objects.get().details == {"missing": 8}


def test_other_kinds_stay_as_they_are(world: World) -> None:
    bring_up_to(world.cluster, [STOPPED], minute(0))
    bring_up_to(world.cluster, [Trouble(Kind.SYNC_STALLED)], minute(1), [Kind.SYNC_STALLED])
    assert len(lasting()) == 2


def test_the_first_who_looks_after_it_stays(world: World, people: People) -> None:
    bring_up_to(world.cluster, [STOPPED], minute(0))
    notice = Notice.objects.get()
    acknowledge(notice=notice, user=people.platform_admin, now=minute(1))
    acknowledge(notice=notice, user=people.member, now=minute(2))
    notice.refresh_from_db()
    assert (notice.acknowledged_by, notice.acknowledged_at) == (people.platform_admin, minute(1))
    assert AuditEvent.objects.filter(event="notice.acknowledged").count() == 1


def test_each_return_stands_in_the_inbox(world: World, people: People) -> None:
    for at in (0, 2):
        bring_up_to(world.cluster, [STOPPED], minute(at))
        bring_up_to(world.cluster, [], minute(at + 1))
        address(minute(at + 1))
    assert Receipt.objects.filter(user=people.platform_admin).count() == 2
