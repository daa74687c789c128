"""How many messages become of what is due on one channel: a flood becomes one digest. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, TypeVar

FLOOD_FROM: Final = 5
"""So many messages of one notice each may go to one channel within `FLOOD_WITHIN`; what comes on top waits and goes as
one."""

FLOOD_WITHIN: Final = timedelta(minutes=10)

Item = TypeVar("Item")


def parcels(
    at_once: Sequence[Item], digest: Sequence[Item], sent: Sequence[tuple[datetime, int]], now: datetime
) -> list[list[Item]]:
    """What goes into which message now; nothing while a flood is held back. `sent`: when the channel's latest messages
    were made, and of how many notices told at once each."""
    recent = [(at, size) for at, size in sent if now - at < FLOOD_WITHIN]
    room = 0 if any(size > 1 for _, size in recent) else FLOOD_FROM - len(recent)
    found = [list(digest)] if digest else []
    if len(at_once) <= room:
        return found + [[item] for item in at_once]
    if room > 0:
        return [[*digest, *at_once]]
    return found
