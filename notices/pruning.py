"""What nobody needs any more goes, a little at a time: what was sent, what was given up, what stood in inboxes."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from notices.kinds import OF_PLATFORM
from notices.models import Message, Notice
from portal.write_path import BATCH

KEEP_SENT: Final = timedelta(days=30)
"""Messages that a channel took."""

KEEP_DEAD: Final = timedelta(days=90)
"""Messages that no channel took: until then they can be sent again."""

KEEP_NOTICES: Final = timedelta(days=400)
"""Notices in the inboxes, since they were told. What lasts stays until it is over and then as long."""


def prune_notices(now: datetime) -> int:
    """Returns how many messages and notices went. What waits to be sent or told never does."""
    messages = Q(sent_at__lt=now - KEEP_SENT) | Q(dead_at__lt=now - KEEP_DEAD)
    told = Notice.objects.filter(addressed_at__lt=now - KEEP_NOTICES)
    over = told.exclude(kind__in=OF_PLATFORM) | told.filter(ended_at__lt=now - KEEP_NOTICES)
    return _prune(Message.objects.filter(messages)) + _prune(over)


def _prune(old: "QuerySet[Message] | QuerySet[Notice]") -> int:
    """With all that hangs on them."""
    pruned = 0
    while keys := list(old.values_list("pk", flat=True)[:BATCH]):
        pruned += _delete(old, keys)
    return pruned


@transaction.atomic
def _delete(old: "QuerySet[Message] | QuerySet[Notice]", keys: Collection[UUID]) -> int:
    found = old.filter(pk__in=keys)  # what was sent again in the meantime is not old any more
    count = found.count()
    found.delete()
    return count
