"""A sign-in that an admin tries out before anybody can sign in by the provider."""

from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.actions import switch_provider
from accounts.models import IdentityProvider, IdpGroup, SignInTrial
from accounts.names import username_of
from accounts.requests import Request
from accounts.saml.advice import todo, warnings
from accounts.saml.findings import Findings
from accounts.saml.fresh import fresh_sign_in, is_fresh
from accounts.saml.refusals import Reason, Refused
from accounts.saml.trials import begin_trial
from teams.access import require_platform_permission
from teams.models import GroupMapping
from teams.permissions import Permission


class GroupShown(NamedTuple):
    """A group that arrived, by the name under which it is known, and what it would give."""

    value: str
    name: str
    mappings: list[GroupMapping]


@never_cache
@require_safe
def identity_try(request: Request, slug: str) -> HttpResponse:
    """To the provider, whether it is switched on or not."""
    require_platform_permission(request, Permission.SET_UP)
    provider = get_object_or_404(IdentityProvider, slug=slug)
    try:
        address = begin_trial(provider=provider, user=request.user, now=timezone.now())
    except Refused as refused:
        findings = Findings(str(refused.reason), refused.detail)
        return render(request, "portal/identity_trial.html", _refused(provider, findings))
    return HttpResponseRedirect(address)


@require_safe
def identity_trial(request: Request, trial: UUID) -> HttpResponse:
    """What came back, for the admin alone who was sent."""
    found = _trial_or_404(request, trial)
    findings, provider, now = Findings(**found.findings), found.provider, timezone.now()
    context = {
        **_refused(provider, findings),
        "trial": found,
        "username": username_of(provider.slug, findings.name_id),
        "attributes": sorted(findings.attributes.items()),
        "groups": _groups(provider, findings.attributes.get(provider.groups_attribute, [])),
        "warnings": list(warnings(provider, findings, now)),
        "is_fresh": is_fresh(request, now),
    }
    return render(request, "portal/identity_trial.html", context)


@require_POST
@fresh_sign_in("identity-trial")
def identity_switch_on(request: Request, trial: UUID) -> HttpResponse:
    """Only what was tried out, and as it was tried out, is switched on."""
    found = _trial_or_404(request, trial)
    if not found.passed:
        raise Http404("This trial did not pass.")
    switch_provider(provider=found.provider, on=True, by=request.user, now=timezone.now())
    return redirect("identity-provider", found.provider.slug)


def _trial_or_404(request: Request, trial: UUID) -> SignInTrial:
    require_platform_permission(request, Permission.SET_UP)
    ended = SignInTrial.objects.filter(user=request.user, ended_at__isnull=False).select_related("provider")
    return get_object_or_404(ended, pk=trial)


def _refused(provider: IdentityProvider, findings: Findings) -> dict[str, object]:
    told: dict[str, object] = {"provider": provider, "findings": findings}
    if findings.reason:
        told |= {"refused": Refused(Reason(findings.reason)), "todo": todo(provider, findings)}
    return told


def _groups(provider: IdentityProvider, values: Iterable[str]) -> list[GroupShown]:
    """Those that give something first."""
    given: dict[str, list[GroupMapping]] = {}
    mappings = GroupMapping.objects.filter(group__provider=provider)
    for mapping in mappings.select_related("group", "team", "cost_centre"):
        given.setdefault(mapping.group.value, []).append(mapping)
    names = dict(IdpGroup.objects.filter(provider=provider).exclude(name="").values_list("value", "name"))
    found = [GroupShown(value, names.get(value, ""), given.get(value, [])) for value in sorted(set(values))]
    return sorted(found, key=lambda group: not group.mappings)
