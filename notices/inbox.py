"""A person's inbox: each notice once, as long as they may see its team; what no team owns is for platform roles."""

from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import Any, Final

from django.contrib.auth.backends import ModelBackend
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from accounts.models import User
from notices.models import Receipt
from teams.permissions import Permission, platform_roles_with, team_roles_with
from teams.roles import HOLDERS

MOST_COUNTED: Final = 100
"""So many unread notices, or more."""


_SEEN: Final = """
    FROM notices_receipt AS receipt JOIN notices_notice AS notice ON notice.id = receipt.notice_id
    WHERE receipt.user_id = {user} AND EXISTS (SELECT 1 FROM ({holders}) AS held WHERE
        (held.team_id = notice.team_id AND held.role IN {team_roles})
        OR (held.team_id IS NULL AND held.role IN {platform_roles}))
"""
"""The person's receipts of what they may see now."""

_READER: Final = """
    SELECT reader.*, (SELECT COUNT(*) FROM (
        SELECT 1 {seen} AND receipt.read_at IS NULL
        LIMIT {most}) AS counted) AS unread_notices,
        EXISTS (SELECT 1 FROM accounts_breakglass WHERE ended_at IS NULL) AS glass_is_broken
    FROM accounts_user AS reader WHERE reader.id = %(user)s
"""
"""What `inbox_of` counts, and whether there may be break-glass access, which every page tells. In SQL, since every
request asks for it: the ORM needs many times as long to put it together."""


def inbox_of(user: User) -> QuerySet[Receipt]:
    seen = _seen("%s")
    return Receipt.objects.filter(
        pk__in=RawSQL(f"SELECT receipt.id {seen}", [user.pk] * seen.count("%s"))  # noqa: S608, S611
    )


class ReaderBackend(ModelBackend):
    """Reads the person of a request together with what every page shows: `unread_notices`, at most MOST_COUNTED, and
    `glass_is_broken`."""

    def get_user(self, user_id: Any) -> User | None:
        found = User.objects.raw(_sql(), {"user": User._meta.pk.to_python(user_id)})
        user = next(iter(found), None)
        return user if user is not None and self.user_can_authenticate(user) else None


@cache
def _sql() -> str:
    return _READER.format(seen=_seen("%(user)s"), most=MOST_COUNTED)


@cache
def _seen(user: str) -> str:
    """`user`: how the person's key is passed."""
    return _SEEN.format(
        user=user,
        holders=HOLDERS.format(whose=f"= {user}"),
        team_roles=_listed(team_roles_with(Permission.SEE_TEAM)),
        platform_roles=_listed(platform_roles_with(Permission.SEE_PLATFORM)),
    )


def _listed(roles: Iterable[str]) -> str:
    quoted = ", ".join(f"'{role!s}'" for role in roles)
    return f"({quoted})"


def mark_read(user: User, now: datetime) -> None:
    """All of it."""
    Receipt.objects.filter(user=user, read_at__isnull=True).update(read_at=now)
