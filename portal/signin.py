"""Signing in: by an identity provider, or in PORTAL_MODE=demo, which answers on loopback alone, as a picked person."""

from typing import Final
from urllib.parse import urlencode

import structlog
from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.actions import use_glass
from accounts.bearer import digest
from accounts.limits import Limit, address_of, is_beyond, too_many
from accounts.models import BreakGlass, IdentityProvider, User
from accounts.saml.adapter import SESSION_KEY
from accounts.sessions import session_end

log = structlog.get_logger(__name__)

_GLASS_LIMIT: Final = Limit("break-glass", 10)
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


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def break_glass(request: HttpRequest) -> HttpResponse:
    """By the password of `manage.py break_glass`, while there is one. No identity provider is asked."""
    now = timezone.now()
    glasses = BreakGlass.objects.in_force(now)
    if not glasses.exists():
        raise Http404("Nobody is let in here now.")
    if request.method == "POST" and is_beyond(request, _GLASS_LIMIT, now):
        return too_many(_GLASS_LIMIT, now)
    glass = glasses.filter(digest=digest(request.POST.get("password", "").strip())).first()
    if glass and use_glass(glass=glass, address=address_of(request), now=now):
        login(request, glass.user, backend=_BACKEND)
        request.session.set_expiry(session_end(glass.ends_at, now))
        return redirect("home")
    is_wrong = request.method == "POST"
    if is_wrong:
        log.warning("sign-in refused", reason="break-glass password")
    return render(request, "portal/break_glass.html", {"is_wrong": is_wrong}, status=403 if is_wrong else 200)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """Ends the session here; the identity provider's own lives on, which the page then says."""
    provider = request.session.get(SESSION_KEY, {}).get("provider")
    logout(request)
    return redirect(f"{reverse('sign-in')}?left={provider}" if provider else "sign-in")
