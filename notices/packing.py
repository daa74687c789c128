"""From receipts to deliveries that are due, and from those to messages."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final
from uuid import UUID, uuid5
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import Count, Q

from accounts.models import User
from notices.kinds import How
from notices.models import Channel, Delivery, Habits, Message, Receipt
from notices.parcels import FLOOD_WITHIN, parcels
from notices.rhythm import Rhythm

_SPACE: Final = UUID("9c0f6c5e-0d0b-5f0e-8a55-6f1f0a9d2b11")
_AT_ONCE: Final = Q(deliveries__receipt__how=How.AT_ONCE)


def schedule(receipts: Iterable[Receipt], now: datetime) -> None:
    """One delivery per receipt and channel of its person. In the transaction that writes the receipts."""
    listed = list(receipts)
    channels: dict[int, list[Channel]] = defaultdict(list)
    for channel in Channel.objects.filter(user__in={receipt.user_id for receipt in listed}):
        channels[channel.user_id].append(channel)
    rhythms = _rhythms(channels)
    rows = (
        Delivery(receipt=receipt, channel=channel, due_at=rhythms[receipt.user_id].due(How(receipt.how), now))
        for receipt in listed
        for channel in channels.get(receipt.user_id, ())
    )
    Delivery.objects.bulk_create(rows, ignore_conflicts=True)


def _rhythms(users: Iterable[int]) -> dict[int, Rhythm]:
    people = User.objects.filter(pk__in=users).select_related("habits")
    return {user.pk: rhythm_of(user) for user in people}


def rhythm_of(user: User) -> Rhythm:
    """Of a person read with their habits."""
    chosen = getattr(user, "habits", None) or Habits()
    return Rhythm(ZoneInfo(user.time_zone or "UTC"), chosen.digest_at, chosen.quiet_from, chosen.quiet_to)


def pack(now: datetime) -> None:
    """Put what is due into messages, channel by channel."""
    due = Delivery.objects.filter(message__isnull=True, due_at__lte=now)
    for channel in due.values_list("channel", flat=True).distinct():
        with transaction.atomic():
            _pack(channel, now)


def _pack(channel: int, now: datetime) -> None:
    due = Delivery.objects.filter(message__isnull=True, due_at__lte=now, channel=channel).select_related("receipt")
    ready = list(due.order_by("receipt__at", "pk"))
    at_once = [each for each in ready if each.receipt.how == How.AT_ONCE]
    digest = [each for each in ready if each.receipt.how != How.AT_ONCE]
    for parcel in parcels(at_once, digest, list(_sent(channel, now)), now):
        message = Message(id=_id(channel, parcel), channel_id=channel, made_at=now, next_at=now)
        message.save(force_insert=True)
        Delivery.objects.filter(pk__in=[each.pk for each in parcel]).update(message=message)


def _sent(channel: int, now: datetime) -> Iterator[tuple[datetime, int]]:
    recent = Message.objects.filter(channel=channel, made_at__gt=now - FLOOD_WITHIN)
    counted = recent.annotate(size=Count("deliveries", filter=_AT_ONCE))
    yield from counted.values_list("made_at", "size")


def _id(channel: int, parcel: Iterable[Delivery]) -> UUID:
    return uuid5(_SPACE, "\n".join([str(channel), *sorted(str(each.receipt.notice_id) for each in parcel)]))
