"""What was told and sent long ago goes, in small transactions; what still waits or lasts stays."""

from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from notices import pruning
from notices.actions import send_again
from notices.inbox import inbox_of
from notices.kinds import SEVERITY, How, Kind
from notices.models import Channel, Delivery, Message, Notice, Receipt
from notices.outbox import post
from notices.pruning import prune_notices
from teams.models import Cluster
from tests.people import People
from tests.stories import START
from tests.worlds import World

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
NOW = START + 1000 * DAY


@pytest.fixture
def cluster(world: World) -> Cluster:
    return world.cluster


@pytest.fixture
def channel(people: People) -> Channel:
    return Channel.objects.create(user=people.member, kind=Channel.Kind.EMAIL, name="mine", added_at=START)


def told(
    people: People, cluster: Cluster, at: datetime, kind: Kind = Kind.EVICTED, ended_at: datetime | None = None
) -> Receipt:
    notice = Notice.objects.create(
        id=uuid4(),
        kind=kind,
        severity=SEVERITY[kind],
        cluster=cluster,
        team=people.research,
        subject=str(at),
        at=at,
        addressed_at=at,
        ended_at=ended_at,
    )
    return Receipt.objects.create(notice=notice, user=people.member, how=How.AT_ONCE, at=at)


def message(receipt: Receipt, channel: Channel, **ends: datetime) -> Message:
    made = Message.objects.create(id=uuid4(), channel=channel, made_at=receipt.at, next_at=receipt.at, **ends)
    Delivery.objects.create(receipt=receipt, channel=channel, due_at=receipt.at, message=made)
    return made


def test_what_was_sent_goes_after_a_month_and_stays_in_the_inbox(
    people: People, cluster: Cluster, channel: Channel
) -> None:
    young, old = (NOW - days * DAY for days in (29, 31))
    for at in (young, old):
        message(told(people, cluster, at), channel, sent_at=at)
    assert prune_notices(NOW) == 1
    assert [each.sent_at for each in Message.objects.all()] == [young]
    assert Delivery.objects.count() == 1
    assert inbox_of(people.member).count() == 2


def test_what_no_channel_took_can_be_sent_again_for_three_months(
    people: People, cluster: Cluster, channel: Channel
) -> None:
    young, old = (NOW - days * DAY for days in (89, 91))
    for at in (young, old):
        message(told(people, cluster, at), channel, dead_at=at)
    assert prune_notices(NOW) == 1
    send_again(message=Message.objects.get(), user=people.platform_admin, now=NOW)
    assert prune_notices(NOW + 300 * DAY) == 0


def test_what_waits_never_goes(people: People, cluster: Cluster, channel: Channel) -> None:
    receipt = told(people, cluster, NOW - 399 * DAY)
    message(receipt, channel)
    Delivery.objects.create(
        receipt=told(people, cluster, NOW - 398 * DAY), channel=channel, due_at=NOW - 398 * DAY, message=None
    )
    Notice.objects.filter(pk=receipt.notice_id).update(at=START)
    post([Notice(id=uuid4(), kind=Kind.FAILED, severity="warning", cluster=cluster, at=START)])
    assert prune_notices(NOW) == 0
    assert (Message.objects.count(), Delivery.objects.count(), Notice.objects.count()) == (1, 2, 3)


def test_a_notice_leaves_the_inboxes_after_thirteen_months(people: People, cluster: Cluster) -> None:
    kept = told(people, cluster, NOW - 399 * DAY)
    told(people, cluster, NOW - 401 * DAY)
    assert prune_notices(NOW) == 1
    assert list(inbox_of(people.member)) == [kept]


def test_what_lasts_stays_until_it_is_over_and_as_long_again(people: People, cluster: Cluster) -> None:
    long_ago = NOW - 900 * DAY
    told(people, cluster, long_ago, Kind.SYNC_STALLED)
    told(people, cluster, long_ago, Kind.QUEUE_STOPPED, ended_at=NOW - 399 * DAY)
    told(people, cluster, long_ago, Kind.LOOPING, ended_at=NOW - 401 * DAY)
    assert prune_notices(NOW) == 1
    assert set(Notice.objects.values_list("kind", flat=True)) == {Kind.SYNC_STALLED, Kind.QUEUE_STOPPED}


def test_many_go_in_small_transactions(people: People, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "BATCH", 2)
    taken: list[int] = []
    delete = pruning._delete
    monkeypatch.setattr(pruning, "_delete", lambda old, keys: taken.append(len(keys)) or delete(old, keys))
    for number in range(5):
        told(people, cluster, START + number * DAY)
    assert prune_notices(NOW) == 5
    assert taken == [2, 2, 1]
    assert prune_notices(NOW) == 0
