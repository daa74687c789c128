"""Roles that people gain or lose, in the audit trail: computed from those before and after, whatever changed them."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.dispatch import receiver

from accounts.actions import switching
from accounts.groups import regrouping
from accounts.models import IdentityProvider, User
from portal import audit
from teams.models import CostCentre, Team
from teams.roles import Grant, grants_of


@contextmanager
def grants_recorded(users: Collection[int] | None, *, by: str, source: str, now: datetime) -> Iterator[None]:
    """Around a change of what gives these people roles, or everybody, in its transaction."""
    before = grants_of(users)
    yield
    _record(before, grants_of(users), by=by, source=source, now=now)


@receiver(regrouping)
def record_regrouping(users: Collection[int], **kwargs: Any) -> Callable[..., None]:
    """Called before their groups change; what it returns is called after that."""
    before = grants_of(users)

    def after(*, provider: IdentityProvider, now: datetime) -> None:
        by, source = f"identity_provider/{provider.slug}", f"groups at {provider.slug}"
        _record(before, grants_of(users), by=by, source=source, now=now)

    return after


@receiver(switching)
def record_switch(provider: IdentityProvider, **kwargs: Any) -> Callable[..., None]:
    """The same, around the switch of a provider, whose groups give something only while it is on."""
    before = grants_of(None)

    def after(*, by: str, now: datetime) -> None:
        _record(before, grants_of(None), by=by, source=f"switch of {provider.slug}", now=now)

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
