"""A person's inbox: each notice once, as long as they may see its team; what no team owns is for platform roles."""

from datetime import datetime
from typing import Any, Final

from django.contrib.auth.backends import ModelBackend
from django.db.models import Exists, IntegerField, OuterRef, Q, QuerySet, Subquery

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


class _Count(Subquery):
    template = "(SELECT COUNT(*) FROM (%(subquery)s) AS counted)"
    output_field = IntegerField()


class ReaderBackend(ModelBackend):
    """Reads the person of a request together with `unread_notices`, since every page shows that number: at most
    MOST_COUNTED."""

    def get_user(self, user_id: Any) -> User | None:
        unread = _visible().filter(user=OuterRef("pk"), read_at__isnull=True).values("pk")[:MOST_COUNTED]
        user = User.objects.annotate(unread_notices=_Count(unread)).filter(pk=user_id).first()
        return user if user is not None and self.user_can_authenticate(user) else None


def mark_read(user: User, now: datetime) -> None:
    """All of it."""
    Receipt.objects.filter(user=user, read_at__isnull=True).update(read_at=now)
