"""Signing in to the demo: a page to pick a role, in PORTAL_MODE=demo only, which answers on loopback alone."""

from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.models import User

_BACKEND = "notices.inbox.ReaderBackend"


@login_not_required
@never_cache
@require_safe
def sign_in(request: HttpRequest) -> HttpResponse:
    """Whom to sign in as. Outside the demo it says that no identity provider is connected."""
    people = (
        User.objects.filter(archived_at__isnull=True)
        .prefetch_related("memberships__team", "platform_roles")
        .order_by("pk")
        if settings.DEMO
        else User.objects.none()
    )
    return render(request, "portal/sign_in.html", {"people": people, "next": request.GET.get("next", "")})


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
    logout(request)
    return redirect("sign-in")
