"""An identity provider is connected, step by step: what to paste there, what to say of it here."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from accounts.actions import connect_provider, set_provider, switch_provider
from accounts.models import IdentityProvider
from accounts.requests import Request
from accounts.saml.config import facts_of, our_address
from accounts.saml.forms import ConnectForm, ProviderForm
from accounts.saml.fresh import fresh_sign_in, is_fresh, way_to_fresh
from accounts.saml.metadata import Facts
from accounts.saml.refusals import Refused
from portal.views.identity import endings, shown
from teams.access import require_platform_permission
from teams.permissions import Permission


@require_http_methods(["GET", "HEAD", "POST"])
def identity_connect(request: Request) -> HttpResponse:
    """The first step: what it is called. From then on our side can be told there."""
    require_platform_permission(request, Permission.SET_UP)
    form = ConnectForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        provider = connect_provider(**form.cleaned_data, by=request.user, now=timezone.now())
        return redirect("identity-provider", provider.slug)
    return render(request, "portal/identity_connect.html", {"form": form})


@require_http_methods(["GET", "HEAD", "POST"])
@fresh_sign_in("identity-provider")
def identity_provider(request: Request, slug: str) -> HttpResponse:
    """The other steps. Whoever gives another certificate decides who everybody is."""
    require_platform_permission(request, Permission.SET_UP)
    provider = get_object_or_404(IdentityProvider, slug=slug)
    form = ProviderForm(provider, request.POST if request.method == "POST" else None)
    if form.is_valid():
        set_provider(provider=provider, **form.cleaned_data, by=request.user, now=timezone.now())
        return redirect("identity-provider", slug)
    now = timezone.now()
    context = {
        "provider": provider,
        "each": shown(provider, now),
        "facts": _facts(provider),
        "form": form,
        "anew": "" if is_fresh(request, now) else way_to_fresh(request, "identity-provider", slug=slug),
        "credentials": endings(provider.scim_credentials.kept(), now),
        "ours": {view: our_address(f"saml-{view}", slug) for view in ("metadata", "acs", "login", "logout")},
        "last_trial": provider.trials.filter(user=request.user, ended_at__isnull=False).order_by("-begun_at").first(),
        "now": now,
    }
    return render(request, "portal/identity_provider.html", context)


def _facts(provider: IdentityProvider) -> Facts | None:
    """What its metadata says of it; None while there is none."""
    try:
        return facts_of(provider)
    except Refused:
        return None


@require_POST
def identity_switch_off(request: Request, slug: str) -> HttpResponse:
    require_platform_permission(request, Permission.SET_UP)
    provider = get_object_or_404(IdentityProvider, slug=slug, enabled=True)
    switch_provider(provider=provider, on=False, by=request.user, now=timezone.now())
    return redirect("identity-provider", slug)
