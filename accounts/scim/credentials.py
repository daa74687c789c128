"""The secrets that identity providers write with: two in force at once, so that one can take over from the other."""

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import F

from accounts.bearer import digest, new_secret
from accounts.models import IdentityProvider, ScimCredential
from portal import audit

_PREFIX: Final = "scim"
AT_ONCE: Final = 2


class TooMany(Exception):
    """As many as may be in force at once are."""


@transaction.atomic
def make_credential(
    *, provider: IdentityProvider, scope: ScimCredential.Scope, valid: timedelta, by: str, now: datetime
) -> tuple[ScimCredential, str]:
    """A new one and its secret, which is told this once. Raises TooMany."""
    IdentityProvider.objects.select_for_update().get(pk=provider.pk)
    if provider.scim_credentials.in_force(now).count() >= AT_ONCE:
        raise TooMany
    secret = new_secret(_PREFIX)
    made: ScimCredential = provider.scim_credentials.create(
        digest=digest(secret), scope=scope, created_at=now, made_by=by, expires_at=now + valid
    )
    audit.record("scim_credential.made", target=_target(made), by=by, now=now, scope=scope)
    return made, secret


@transaction.atomic
def end_credential(*, credential: ScimCredential, by: str, now: datetime) -> None:
    """Nothing is written with it any more."""
    credential.ended_at = now
    credential.save(update_fields=["ended_at"])
    audit.record("scim_credential.ended", target=_target(credential), by=by, now=now)


def credential_of(secret: str, now: datetime) -> ScimCredential | None:
    """The one in force that the secret is of."""
    in_force = ScimCredential.objects.in_force(now).select_related("provider").defer("provider__metadata")
    found: ScimCredential | None = in_force.filter(digest=digest(secret)).first() if secret else None
    return found


def running_out(now: datetime) -> list[ScimCredential]:
    """Those with which enabled providers write and that end within sixty days or have ended, of each provider the one
    that was used last: another one may be made already and not yet be pasted there. One query."""
    kept = ScimCredential.objects.kept().filter(scope=ScimCredential.Scope.WRITE, provider__enabled=True)
    in_order = kept.order_by("provider__slug", F("last_used_at").asc(nulls_first=True), "expires_at")
    last = {each.provider_id: each for each in in_order.select_related("provider").defer("provider__metadata")}
    return [each for each in last.values() if each.warned(now) is not None]


def _target(credential: ScimCredential) -> str:
    return f"scim_credential/{credential.provider.slug}/{credential.pk}"
