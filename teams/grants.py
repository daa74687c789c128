"""Roles that people gain or lose, in the audit trail: computed from those before and after, whatever changed them."""

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any

from django.dispatch import receiver

from accounts.granting import granting
from accounts.models import User
from portal import audit
from teams.models import CostCentre, Team
from teams.roles import Grant, grants_of


@receiver(granting)
def record_grants(users: Collection[int] | None, **kwargs: Any) -> Callable[..., None]:
    """Called before the change; what it returns is called after that."""
    before = grants_of(users)

    def after(*, by: str, source: str, now: datetime) -> None:
        _record(before, grants_of(users), by=by, source=source, now=now)

    return after


def _record(before: set[Grant], after: set[Grant], *, by: str, source: str, now: datetime) -> None:
    acts = [("role.gained", grant) for grant in after - before] + [("role.lost", grant) for grant in before - after]
    names = dict(User.objects.filter(pk__in={grant.user for _, grant in acts}).values_list("pk", "username"))
    slugs = dict(Team.objects.filter(pk__in={grant.team for _, grant in acts}).values_list("pk", "slug"))
    codes = dict(CostCentre.objects.filter(pk__in={grant.cost_centre for _, grant in acts}).values_list("pk", "code"))
    told = (
        (event, f"person/{names[grant.user]}", _details(grant, slugs, codes, source))
        for event, grant in sorted(acts, key=str)
    )
    audit.record_all(told, by=by, now=now)


def _details(grant: Grant, slugs: dict[int, str], codes: dict[int, str], source: str) -> dict[str, Any]:
    details = {"role": grant.role, "team": slugs[grant.team] if grant.team else "", "source": source}
    return {**details, "cost_centre": codes[grant.cost_centre]} if grant.cost_centre else details
