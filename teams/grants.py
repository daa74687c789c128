"""Roles that people gain or lose by what their identity provider says, in the audit trail."""

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any

from django.dispatch import receiver

from accounts.groups import regrouping
from accounts.models import IdentityProvider, User
from portal import audit
from teams.models import Team
from teams.roles import Grant, grants_of


@receiver(regrouping)
def record_grants(users: Collection[int], **kwargs: Any) -> Callable[..., None]:
    """Called before their groups change; what it returns is called after that."""
    before = grants_of(users)

    def after(*, provider: IdentityProvider, now: datetime) -> None:
        held = grants_of(users)
        acts = [("role.gained", grant) for grant in held - before] + [("role.lost", grant) for grant in before - held]
        _record(acts, provider, now)

    return after


def _record(acts: list[tuple[str, Grant]], provider: IdentityProvider, now: datetime) -> None:
    slugs = dict(Team.objects.filter(pk__in={grant.team for _, grant in acts}).values_list("pk", "slug"))
    names = dict(User.objects.filter(pk__in={grant.user for _, grant in acts}).values_list("pk", "username"))
    audit.record_all(
        (
            (event, f"person/{names[user]}", _details(role, slugs[team] if team else "", provider))
            for event, (user, team, role) in sorted(acts, key=str)
        ),
        by=f"identity_provider/{provider.slug}",
        now=now,
    )


def _details(role: str, team: str, provider: IdentityProvider) -> dict[str, Any]:
    return {"role": role, "team": team, "source": f"groups at {provider.slug}"}
