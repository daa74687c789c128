"""Sending what is packed, outside any transaction: tried again with growing pauses, and given up as a dead letter.

Only one worker sends at a time (`may_go_on`). A message is marked as sent right after the channel took it: it is
doubled only if the worker dies in between, and then carries the same id. What comes late, since a channel or the worker
was away or a flood was held back, waits for the end of its reader's quiet hours like all else.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import structlog
from django.db.models import QuerySet

from gateways.errors import GatewayError
from gateways.letters import Letter
from notices.kinds import How
from notices.letters import WordsOf, letter_of
from notices.models import Channel, Message
from notices.packing import rhythm_of

log = structlog.get_logger(__name__)

MOST_ATTEMPTS: Final = 10
"""With the pauses between them, eight and a half hours."""

_FIRST_PAUSE: Final = timedelta(minutes=1)
_LONGEST_ERROR: Final = 300
_NO_END: Final = "no attempt came to an end"

Send = Callable[[Channel, Letter, datetime], None]
Clock = Callable[[], datetime]


def deliver(words_of: WordsOf, send: Send, clock: Clock, may_go_on: Callable[[], bool] = lambda: True) -> None:
    """Send what is due, oldest first. A channel that fails is left alone until the next time."""
    failed: set[int] = set()
    for message in _due(clock()).select_related("channel__user__habits"):
        if message.channel_id in failed:
            continue
        if not may_go_on():
            return
        if not _try(message, words_of, send, clock):
            failed.add(message.channel_id)


def _due(now: datetime) -> "QuerySet[Message]":
    waiting = Message.objects.filter(sent_at__isnull=True, dead_at__isnull=True, next_at__lte=now)
    return waiting.order_by("next_at", "made_at")


def _try(message: Message, words_of: WordsOf, send: Send, clock: Clock) -> bool:
    if _wait_for_the_morning(message, clock()) or not _begin(message, clock()):
        return True
    letter = letter_of(message, words_of) if message.channel.user.is_active else None
    if letter is None:
        message.delete()  # they may see nothing of it any more; the inbox says the same
        return True
    try:
        send(message.channel, letter, clock())
    except GatewayError as error:
        _fail(message, error, clock())
        return False
    Message.objects.filter(pk=message.pk).update(sent_at=clock(), last_error="")
    return True


def _wait_for_the_morning(message: Message, now: datetime) -> bool:
    due = rhythm_of(message.channel.user).due(How.AT_ONCE, now)
    if due > now:
        Message.objects.filter(pk=message.pk, attempts=message.attempts).update(next_at=due)
    return due > now


def _begin(message: Message, now: datetime) -> bool:
    """Count the attempt before it is made: a channel that outlasts the worker, or a notice that cannot be worded, is
    tried again after a pause, not at once and for ever. False if another worker has begun it."""
    message.attempts += 1
    unchanged = Message.objects.filter(pk=message.pk, attempts=message.attempts - 1, sent_at=None, dead_at=None)
    if message.attempts > MOST_ATTEMPTS:
        unchanged.update(dead_at=now, last_error=message.last_error or _NO_END)
        return False
    return unchanged.update(attempts=message.attempts, next_at=now + pause(message.attempts)) == 1


def _fail(message: Message, error: GatewayError, now: datetime) -> None:
    is_over = message.attempts >= MOST_ATTEMPTS or not error.retryable
    log.warning("message not taken", message=str(message.pk), channel=message.channel_id, attempts=message.attempts)
    Message.objects.filter(pk=message.pk).update(
        last_error=str(error)[:_LONGEST_ERROR], dead_at=now if is_over else None
    )


def pause(attempts: int) -> timedelta:
    """How long to wait after so many attempts: a minute, then twice as long each time."""
    return _FIRST_PAUSE * (1 << (attempts - 1))


def dead() -> "QuerySet[Message]":
    """Given up, newest first."""
    found = Message.objects.filter(dead_at__isnull=False).select_related("channel__user")
    return found.order_by("-dead_at", "pk")
