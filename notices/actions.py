"""Writes about notices that people make: each in one transaction, audited."""

import json
from collections.abc import Collection, Mapping
from datetime import datetime, time

from django.db import transaction

from accounts.models import User
from notices.kinds import How, Kind
from notices.models import Channel, Choice, Delivery, Habits, Message, Unfollowed
from notices.sealing import seal
from portal import audit


@transaction.atomic
def choose(
    *,
    user: User,
    hows: Mapping[Kind, How],
    unfollowed: Collection[int],
    language: str,
    quiet_from: time | None,
    quiet_to: time | None,
    digest_at: time,
    wait_hours: int | None,
    loss_gpu_hours: int | None,
    now: datetime,
) -> None:
    """How a person hears of which kinds, of which of their teams (by key) they do not, and when they may be disturbed.
    Kinds that `hows` leaves out stay as they were. What waits of a kind that they want to hear of no more stays in the
    inbox alone."""
    for kind, how in hows.items():
        Choice.objects.update_or_create(user=user, kind=kind, defaults={"how": how})
    unwanted = [kind for kind, how in hows.items() if how == How.NEVER]
    Delivery.objects.filter(message=None, receipt__user=user, receipt__notice__kind__in=unwanted).delete()
    Unfollowed.objects.filter(user=user).exclude(team__in=unfollowed).delete()
    Unfollowed.objects.bulk_create((Unfollowed(user=user, team_id=team) for team in unfollowed), ignore_conflicts=True)
    times = {"quiet_from": quiet_from, "quiet_to": quiet_to, "digest_at": digest_at}
    limits = {"wait_hours": wait_hours, "loss_gpu_hours": loss_gpu_hours}
    Habits.objects.update_or_create(user=user, defaults={"language": language, **times, **limits})
    texts = {name: value.isoformat() if value else None for name, value in times.items()}
    chosen = {str(kind): str(how) for kind, how in hows.items()}
    target = f"person/{user.username}"
    audit.record(
        "notices.chosen", target=target, by=user.username, now=now, **texts, **limits, language=language, kinds=chosen
    )


@transaction.atomic
def add_channel(*, user: User, kind: str, name: str, secret: Mapping[str, str], now: datetime) -> Channel:
    """`secret`: what opens it, sealed before it is stored; empty for e-mail. Raises ConfigurationError without keys."""
    sealed = seal(json.dumps(secret)) if secret else ""
    channel = Channel.objects.create(user=user, kind=kind, name=name, secret=sealed, added_at=now)
    _record("channel.added", channel, user, now)
    return channel


@transaction.atomic
def remove_channel(*, user: User, channel: Channel, now: datetime) -> None:
    """With what was still to be sent through it."""
    _record("channel.removed", channel, user, now)
    channel.delete()


def _record(event: str, channel: Channel, user: User, now: datetime) -> None:
    audit.record(event, target=f"channel/{channel.pk}", by=user.username, now=now, kind=channel.kind, name=channel.name)


@transaction.atomic
def send_again(*, message: Message, user: User, now: datetime) -> None:
    """A dead letter gets all its attempts anew."""
    Message.objects.filter(pk=message.pk).update(dead_at=None, attempts=0, next_at=now)
    audit.record("message.sent_again", target=f"message/{message.pk}", by=user.username, now=now)
