"""Writes to people: keyword-only, in one transaction, audited."""

from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.dispatch import Signal

from accounts.claims import Claims
from accounts.groups import keep_groups
from accounts.models import IdentityProvider, User
from portal import audit

arriving = Signal()
"""Sent with `user` before their groups change; receivers return what is called with `provider` and `now` after it."""


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


@transaction.atomic
def arrive(*, user: User, provider: IdentityProvider, claims: Claims, now: datetime) -> None:
    """What their identity provider says of a person who signs in becomes what the portal knows of them."""
    after: list[Any] = [receive for _, receive in arriving.send(User, user=user)]
    _describe(user, claims)
    keep_groups(user, provider, claims.groups(provider.groups_attribute), now)
    for receive in after:
        receive(provider=provider, now=now)
    audit.record("person.signed_in", target=f"person/{user.username}", by=user.username, now=now, via=provider.slug)


@transaction.atomic
def end_access(*, user: User, by: str, now: datetime) -> None:
    """Ends every session of the person, at its next request. To archive them is the caller's."""
    user.set_unusable_password()  # a new one each time; sessions hold a digest of it
    user.save(update_fields=["password"])
    audit.record("access.ended", target=f"person/{user.username}", by=by, now=now)


def _describe(user: User, claims: Claims) -> None:
    """Their name and address, as far as something was said of them."""
    name, email = claims.name[:200] or user.name, _address(claims.email) or user.email
    if (name, email) != (user.name, user.email):
        user.name, user.email = name, email
        user.save(update_fields=["name", "email"])


def _address(text: str) -> str:
    try:
        validate_email(text)
    except ValidationError:
        return ""
    return text
