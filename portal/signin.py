"""Signing in: by an identity provider, or in PORTAL_MODE=demo, which answers on loopback alone, as a picked person."""

from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.models import IdentityProvider, User
from accounts.saml.adapter import SESSION_KEY

_BACKEND = "notices.inbox.ReaderBackend"


@login_not_required
@never_cache
@require_safe
def sign_in(request: HttpRequest) -> HttpResponse:
    """With which identity provider, and in the demo as whom. The only way there is is gone at once, unless somebody
    just came from there."""
    providers = list(IdentityProvider.objects.filter(enabled=True).exclude(metadata=""))
    query = urlencode({"next": request.GET.get("next", "")})
    if len(providers) == 1 and not settings.DEMO and not {"left", "choose"} & request.GET.keys():
        return redirect(f"{reverse('saml-login', args=[providers[0].slug])}?{query}")
    left = next((each for each in providers if each.slug == request.GET.get("left")), None)
    people = (
        User.objects.filter(archived_at__isnull=True)
        .prefetch_related("memberships__team", "platform_roles")
        .order_by("pk")
        if settings.DEMO
        else User.objects.none()
    )
    told = {"people": people, "next": request.GET.get("next", ""), "providers": providers, "left": left}
    return render(request, "portal/sign_in.html", {**told, "next_query": query})


@login_not_required
@require_POST
def sign_in_as(request: HttpRequest) -> HttpResponse:
    """Signs in as the picked person. Routed in the demo only."""
    person = get_object_or_404(
        User, username=request.POST.get("username", "").replace("\0", ""), archived_at__isnull=True
    )
    login(request, person, backend=_BACKEND)
    target = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure())
    return redirect(target if is_ours else "home")


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """Ends the session here; the identity provider's own lives on, which the page then says."""
    provider = request.session.get(SESSION_KEY, {}).get("provider")
    logout(request)
    return redirect(f"{reverse('sign-in')}?left={provider}" if provider else "sign-in")
