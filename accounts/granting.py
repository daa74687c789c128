"""Around whatever changes who holds which role: those who know of roles are asked before and told after."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.dispatch import Signal

from accounts.models import User

granting = Signal()
"""Sent with the keys of `users`, or None for everybody, before the change; receivers return what is called after it,
with `by`, `source` and `now`."""


@contextmanager
def granted(users: Collection[int] | None, *, by: str, source: str, now: datetime) -> Iterator[None]:
    """Around the change, in its transaction. `source`: what gives or takes the roles, in words."""
    after: list[Any] = [receive for _, receive in granting.send(User, users=users)]
    yield
    for receive in after:
        receive(by=by, source=source, now=now)
