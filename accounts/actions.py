"""Writes to people and identity providers: keyword-only, in one transaction, audited."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, Final

from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from accounts.bearer import digest, new_secret
from accounts.claims import ENTRA_GROUPS, Claims
from accounts.granting import granted
from accounts.groups import keep_groups, regrouped
from accounts.models import ApiToken, BreakGlass, IdentityProvider, ProviderSession, Scope, User
from portal import audit
from portal.nudges import nudge

_PREFIX: Final = "hpp"
_GLASS_PREFIX: Final = "hpb"
_LOCAL: Final = "break-glass"
"""Followed by a blank, which no identity provider's slug holds: none of their people can be called so."""
_SOURCE: Final = "break-glass access"
_LONGEST_ADDRESS: Final = 254


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
    """What their identity provider says of a person who signs in becomes what the portal knows of them: groups before
    the person, in the order in which SCIM writes them."""
    with regrouped([user.pk], provider, now):
        keep_groups(user, provider, claims.groups(provider.groups_attribute), now)
    describe(user=user, name=claims.name, email=claims.email)
    audit.record("person.signed_in", target=f"person/{user.username}", by=user.username, now=now, via=provider.slug)


@transaction.atomic
def end_access(*, user: User, by: str, now: datetime) -> None:
    """Ends every token of the person, and every session at its next request. To archive them is the caller's."""
    _end_sessions(user)
    ApiToken.objects.kept().filter(user=user).update(ended_at=now)
    audit.record("access.ended", target=f"person/{user.username}", by=by, now=now)


@transaction.atomic
def end_sessions(*, user: User, by: str, now: datetime) -> None:
    """Ends every session of the person at its next request; they may sign in again at once."""
    _end_sessions(user)
    audit.record("sessions.ended", target=f"person/{user.username}", by=by, now=now)


def note_session(*, key: str, user: User, provider: IdentityProvider, index: str, ends_at: datetime) -> None:
    """That this session of ours came from that one of the provider. Not audited: the sign-in is."""
    known = {"provider": provider, "user": user, "index": digest(index), "ends_at": ends_at}
    ProviderSession.objects.update_or_create(session_key=key, defaults=known)


@transaction.atomic
def end_sessions_from(*, provider: IdentityProvider, user: User, indexes: Collection[str], now: datetime) -> None:
    """Ends at once those of the person's sessions that came from these of the provider."""
    of_these = ProviderSession.objects.filter(provider=provider, user=user, index__in=map(digest, indexes))
    if Session.objects.filter(pk__in=of_these.values("pk")).delete()[0]:
        by = f"identity_provider/{provider.slug}"
        audit.record("sessions.ended", target=f"person/{user.username}", by=by, now=now)
    of_these.delete()


def _end_sessions(user: User) -> None:
    user.set_unusable_password()  # a new one each time; sessions hold a digest of it
    user.save(update_fields=["password"])


@transaction.atomic
def archive(*, user: User, by: str, now: datetime) -> None:
    """They are nobody here until they are restored; what was begun before stays ended even then."""
    with granted([user.pk], by=by, source="archived", now=now):
        user.archived_at = now
        user.save(update_fields=["archived_at"])
    audit.record("person.archived", target=f"person/{user.username}", by=by, now=now)
    end_access(user=user, by=by, now=now)


@transaction.atomic
def restore(*, user: User, by: str, now: datetime) -> None:
    """Somebody who was archived may sign in again."""
    with granted([user.pk], by=by, source="restored", now=now):
        user.archived_at = None
        user.save(update_fields=["archived_at"])
    audit.record("person.restored", target=f"person/{user.username}", by=by, now=now)


@transaction.atomic
def make_token(*, user: User, name: str, scopes: Collection[Scope], days: int, now: datetime) -> str:
    """A token that expires in so many days; gives its secret, which nobody can read again."""
    secret = new_secret(_PREFIX)
    given = {"name": name, "scopes": sorted(scopes), "expires_at": now + timedelta(days=days)}
    token = ApiToken.objects.create(user=user, digest=digest(secret), made_at=now, **given)
    _record("token.made", token, now, scopes=sorted(scopes), days=days)
    return secret


@transaction.atomic
def end_token(*, token: ApiToken, now: datetime) -> None:
    """By its person."""
    ApiToken.objects.filter(pk=token.pk).update(ended_at=now)
    _record("token.ended", token, now)


@transaction.atomic
def break_glass(*, name: str, hours: int, reason: str, by: str, now: datetime) -> tuple[BreakGlass, str]:
    """A platform admin for so many hours and the password that signs them in once. Ends what they had before."""
    username, ends_at = f"{_LOCAL} {name}", now + timedelta(hours=hours)
    for before in BreakGlass.objects.filter(user__username=username, ended_at__isnull=True):
        end_glass(glass=before, by=by, now=now)
    given: dict[str, Any] = {"name": name, "archived_at": ends_at}
    user, _ = User.objects.update_or_create(
        username=username, defaults=given, create_defaults={**given, "created_at": now}
    )
    secret = new_secret(_GLASS_PREFIX)
    with granted([user.pk], by=by, source=_SOURCE, now=now):
        glass = BreakGlass.objects.create(user=user, reason=reason, digest=digest(secret), made_at=now, ends_at=ends_at)
    _record_glass("break_glass.made", glass, by, now, reason=reason, ends_at=ends_at.isoformat())
    return glass, secret


@transaction.atomic
def use_glass(*, glass: BreakGlass, address: str, now: datetime) -> bool:
    """Whether they may sign in: once."""
    is_first = BreakGlass.objects.in_force(now).filter(pk=glass.pk, used_at__isnull=True).update(used_at=now) == 1
    if is_first:
        _record_glass("break_glass.signed_in", glass, glass.user.username, now, address=address)
    return is_first


@transaction.atomic
def end_glass(*, glass: BreakGlass, by: str, now: datetime) -> None:
    with granted([glass.user_id], by=by, source=_SOURCE, now=now):
        BreakGlass.objects.filter(pk=glass.pk).update(ended_at=min(now, glass.ends_at))
        User.objects.filter(pk=glass.user_id).update(archived_at=min(now, glass.ends_at))
    end_access(user=glass.user, by=by, now=now)
    _record_glass("break_glass.ended", glass, by, now)


@transaction.atomic
def connect_provider(*, slug: str, name: str, kind: str, by: User, now: datetime) -> IdentityProvider:
    """A provider that is switched off, of which nothing is known yet, but that can be told of us."""
    groups = ENTRA_GROUPS if kind == IdentityProvider.Kind.ENTRA else "groups"
    provider = IdentityProvider.objects.create(
        slug=slug, name=name, kind=kind, groups_attribute=groups, signs_response=True, enabled=False
    )
    audit.record(
        "identity_provider.connected", target=f"identity_provider/{slug}", by=by.username, now=now, name=name, kind=kind
    )
    return provider


@transaction.atomic
def set_provider(
    *,
    provider: IdentityProvider,
    name: str,
    metadata_url: str,
    metadata: str,
    groups_attribute: str,
    signs_response: bool,
    by: User,
    now: datetime,
) -> None:
    """What an admin says of it. What was tried out before counts no more; a worker reads the address at once."""
    wanted = {
        "name": name,
        "metadata_url": metadata_url,
        "metadata": metadata,
        "groups_attribute": groups_attribute,
        "signs_response": signs_response,
    }
    changed = {field: value for field, value in wanted.items() if getattr(provider, field) != value}
    if not changed:
        return
    IdentityProvider.objects.filter(pk=provider.pk).update(error="", **changed)
    provider.trials.all().delete()
    told = {field: str(value)[:200] for field, value in changed.items()}
    audit.record("identity_provider.set", target=f"identity_provider/{provider.slug}", by=by.username, now=now, **told)
    if metadata_url:
        nudge("accounts.read_metadata_of", provider.pk)


@transaction.atomic
def switch_provider(*, provider: IdentityProvider, on: bool, by: User, now: datetime) -> None:
    """People sign in by it from now on, and its groups give what is mapped to them, or neither."""
    with granted(None, by=by.username, source=f"switch of {provider.slug}", now=now):
        IdentityProvider.objects.filter(pk=provider.pk).update(enabled=on)
    event = f"identity_provider.switched_{'on' if on else 'off'}"
    audit.record(event, target=f"identity_provider/{provider.slug}", by=by.username, now=now)


def _record_glass(event: str, glass: BreakGlass, by: str, now: datetime, **details: Any) -> None:
    audit.record(event, target=f"person/{glass.user.username}", by=by, now=now, **details)


def _record(event: str, token: ApiToken, now: datetime, **details: Any) -> None:
    audit.record(event, target=f"token/{token.pk}", by=token.user.username, now=now, name=token.name, **details)


def describe(*, user: User, name: str, email: str) -> None:
    """Their name and address, as far as their identity provider says something of them."""
    name, email = name[:200] or user.name, _address(email) or user.email
    if (name, email) != (user.name, user.email):
        user.name, user.email = name, email
        user.save(update_fields=["name", "email"])


def _address(text: str) -> str:
    try:
        validate_email(text)
    except ValidationError:
        return ""
    return text if len(text) <= _LONGEST_ADDRESS else ""
