"""Template tags of the menu: which of its entries is the page, or has the page under it."""

from typing import Any, Final

from django import template
from django.utils.safestring import SafeString

register = template.Library()

_OF_A_JOB: Final = {
    "workload": "workloads",
    "workload-pods": "workloads",
    "workload-events": "workloads",
    "workload-manifest": "workloads",
    "eviction": "evictions",
}
_PARENTS: Final = {
    "cluster": "overview",
    "node": "overview",
    "victims": "all-evictions",
    "borrowers": "all-evictions",
    "all-unseen-evictions": "all-evictions",
    "team-lost": "team-evictions",
    "team-unseen-evictions": "team-evictions",
    "identity-connect": "identity",
    "identity-provider": "identity",
    "identity-scim": "identity",
    "identity-trial": "identity",
    "my-notices": "me",
    "my-channels": "me",
    "my-tokens": "me",
}


@register.simple_tag(takes_context=True)
def current(context: dict[str, Any], entry: str) -> SafeString:
    """What marks the entry of this name: as the page itself, as what the page stands under, or not at all."""
    at = getattr(context["request"].resolver_match, "url_name", "")  # an address that nothing answers has none
    if at == entry:
        return SafeString(' aria-current="page"')
    return SafeString(' aria-current="true"' if entry == _parent(at, of_team=bool(context.get("team"))) else "")


def _parent(page: str, *, of_team: bool) -> str:
    """A job's pages stand under its team's lists, or where no team owns it under those of all."""
    if page in _OF_A_JOB:
        return f"{'team' if of_team else 'all'}-{_OF_A_JOB[page]}"
    return _PARENTS.get(page, "")


@register.simple_tag(takes_context=True)
def visited_team(context: dict[str, Any]) -> Any:
    """The team whose page this is, where it is none of the reader's own."""
    team = context.get("team")
    return team if team and team.slug not in {own.slug for own in context["my_teams"]} else None
