"""By which identity providers people come in, and what is amiss with them, for platform admins."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final, NamedTuple

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.models import GroupClaim, IdentityProvider, ScimCredential
from accounts.requests import Request
from accounts.saml.expiry import SigningCertificate, signing_certificates
from accounts.scim.credentials import running_out
from teams.access import require_platform_permission
from teams.models import GroupMapping, groups_of_nothing
from teams.permissions import Permission

_MOST: Final = 100


class Ending(NamedTuple):
    """`warned`: within how many days it ends, if that is soon. `days` are those that are left."""

    it: SigningCertificate | ScimCredential
    warned: int | None
    days: int


class Shown(NamedTuple):
    provider: IdentityProvider
    certificates: list[Ending]


def endings(found: Iterable[SigningCertificate | ScimCredential], now: datetime) -> list[Ending]:
    return [Ending(each, each.warned(now), each.days_left(now)) for each in found]


def shown(provider: IdentityProvider, now: datetime) -> Shown:
    """The provider with its certificates, the one that lasts longest first."""
    return Shown(provider, endings(signing_certificates(provider), now))


@require_safe
def identity(request: Request) -> HttpResponse:
    require_platform_permission(request, Permission.SET_UP)
    now = timezone.now()
    mappings = GroupMapping.objects.select_related("group__provider", "team", "cost_centre")
    context = {
        "shown": [shown(provider, now) for provider in IdentityProvider.objects.all()],
        "groups": groups_of_nothing()[:_MOST],
        "mappings": mappings.counted()[:_MOST],
        "incomplete": GroupClaim.objects.filter(is_complete=False, user__archived_at__isnull=True)
        .select_related("user", "provider")
        .order_by("-at")[:_MOST],
        "secrets": running_out(now),
        "most": _MOST,
        "now": now,
    }
    return render(request, "portal/identity.html", context)
