"""Writes to people: keyword-only, in one transaction, audited."""

from datetime import datetime

from django.db import transaction

from accounts.models import User
from portal import audit


def remember_team(*, user: User, slug: str) -> None:
    """Their first page is this team's from now on. Not audited: nobody chose anything."""
    if user.last_team != slug:
        User.objects.filter(pk=user.pk).update(last_team=slug)


@transaction.atomic
def set_preferences(*, user: User, time_zone: str, has_keys: bool, now: datetime) -> None:
    """What a person chose for themselves: the zone that times are shown in (empty: the browser's), and whether single
    keys are shortcuts."""
    User.objects.filter(pk=user.pk).update(time_zone=time_zone, has_keys=has_keys)
    target = f"person/{user.username}"
    audit.record("preferences.set", target=target, by=user.username, now=now, time_zone=time_zone, has_keys=has_keys)
