"""Roles that a person gains or loses by what their identity provider says, in the audit trail."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.dispatch import receiver

from accounts.actions import arriving
from accounts.models import IdentityProvider, User
from portal import audit
from teams.models import Team
from teams.roles import Roles, read_roles


@receiver(arriving)
def record_grants(user: User, **kwargs: Any) -> Callable[..., None]:
    """Called before their groups change; what it returns is called after that."""
    before = read_roles(user)

    def after(*, provider: IdentityProvider, now: datetime) -> None:
        now_held = read_roles(user)
        gained, lost = _held(now_held) - _held(before), _held(before) - _held(now_held)
        slugs = dict(Team.objects.filter(pk__in={team for team, _ in gained | lost}).values_list("pk", "slug"))
        for event, roles in (("role.gained", gained), ("role.lost", lost)):
            for team, role in sorted(roles, key=str):
                details = {"role": role, "team": slugs[team] if team else "", "source": f"groups at {provider.slug}"}
                target = f"person/{user.username}"
                audit.record(event, target=target, by=f"identity_provider/{provider.slug}", now=now, **details)

    return after


def _held(roles: Roles) -> set[tuple[int | None, str]]:
    return {(team, str(role)) for team, role in roles.teams.items()} | {(None, str(role)) for role in roles.platform}
