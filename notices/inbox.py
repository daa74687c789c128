"""A person's inbox: each notice once, as long as they may see its team; what no team owns is for platform roles."""

from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import Any, Final

from django.contrib.auth.backends import ModelBackend
from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts.models import User
from notices.models import Receipt
from teams.models import Membership, PlatformRole
from teams.permissions import Permission, platform_roles_with, team_roles_with

MOST_COUNTED: Final = 100
"""So many unread notices, or more."""


def _visible() -> QuerySet[Receipt]:
    """Receipts of people who may see what they tell of, now."""
    in_team = Membership.objects.filter(
        user=OuterRef("user"), team=OuterRef("notice__team"), role__in=team_roles_with(Permission.SEE_TEAM)
    )
    everywhere = PlatformRole.objects.filter(
        user=OuterRef("user"), role__in=platform_roles_with(Permission.SEE_PLATFORM)
    )
    return Receipt.objects.filter(Q(Exists(in_team)) | Q(Exists(everywhere)))


def inbox_of(user: User) -> QuerySet[Receipt]:
    return _visible().filter(user=user)


_READER: Final = """
    SELECT reader.*, (SELECT COUNT(*) FROM (
        SELECT 1 FROM notices_receipt AS receipt JOIN notices_notice AS notice ON notice.id = receipt.notice_id
        WHERE receipt.user_id = reader.id AND receipt.read_at IS NULL AND (
            EXISTS (SELECT 1 FROM teams_membership AS held WHERE held.user_id = receipt.user_id
                    AND held.team_id = notice.team_id AND held.role IN {team_roles})
            OR EXISTS (SELECT 1 FROM teams_platformrole AS held WHERE held.user_id = receipt.user_id
                       AND held.role IN {platform_roles}))
        LIMIT {most}) AS counted) AS unread_notices
    FROM accounts_user AS reader WHERE reader.id = %(user)s
"""
"""What `inbox_of` counts. In SQL, since every request asks for it: the ORM needs many times as long to put it
together."""


class ReaderBackend(ModelBackend):
    """Reads the person of a request together with `unread_notices`, since every page shows that number: at most
    MOST_COUNTED."""

    def get_user(self, user_id: Any) -> User | None:
        found = User.objects.raw(_sql(), {"user": User._meta.pk.to_python(user_id)})
        user = next(iter(found), None)
        return user if user is not None and self.user_can_authenticate(user) else None


@cache
def _sql() -> str:
    return _READER.format(
        team_roles=_listed(team_roles_with(Permission.SEE_TEAM)),
        platform_roles=_listed(platform_roles_with(Permission.SEE_PLATFORM)),
        most=MOST_COUNTED,
    )


def _listed(roles: Iterable[str]) -> str:
    quoted = ", ".join(f"'{role!s}'" for role in roles)
    return f"({quoted})"


def mark_read(user: User, now: datetime) -> None:
    """All of it."""
    Receipt.objects.filter(user=user, read_at__isnull=True).update(read_at=now)
