"""By which secrets an identity provider writes people and groups, or how its directory is read instead."""

from contextlib import suppress

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.forms import ScimSecretForm
from accounts.models import IdentityProvider, ScimCredential
from accounts.requests import Request
from accounts.saml.fresh import fresh_sign_in, is_fresh, way_to_fresh
from accounts.scim.credentials import AT_ONCE, TooMany, end_credential, make_credential
from portal.views.identity import endings
from teams.access import require_platform_permission
from teams.permissions import Permission


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@fresh_sign_in("identity-scim")
def identity_scim(request: Request, slug: str) -> HttpResponse:
    """A new secret stands in the answer to its form alone."""
    require_platform_permission(request, Permission.SET_UP)
    provider = get_object_or_404(IdentityProvider, slug=slug)
    now, secret = timezone.now(), ""
    form = ScimSecretForm(request.POST if request.method == "POST" else None)
    is_lasting = request.user.archived_at is None
    if is_lasting and form.is_valid():
        with suppress(TooMany):  # the page says so
            given = {**form.cleaned_data, "provider": provider, "by": request.user.username, "now": now}
            _, secret = make_credential(**given)
            form = ScimSecretForm()
    credentials = list(provider.scim_credentials.kept())
    context = {
        "provider": provider,
        "credentials": endings(credentials, now),
        "is_read": bool(provider.identity_store) and not any(each.expires_at > now for each in credentials),
        "has_room": sum(each.expires_at > now for each in credentials) < AT_ONCE,
        "is_lasting": is_lasting,
        "form": form,
        "anew": "" if is_fresh(request, now) else way_to_fresh(request, "identity-scim", slug=slug),
        "secret": secret,
        "address": f"{settings.PORTAL_ADDRESS}/scim/v2/",
        "now": now,
    }
    return render(request, "portal/identity_scim.html", context)


@require_POST
def identity_scim_end(request: Request, slug: str, credential: int) -> HttpResponse:
    require_platform_permission(request, Permission.SET_UP)
    found = get_object_or_404(ScimCredential.objects.kept(), provider__slug=slug, pk=credential)
    now = timezone.now()
    if not is_fresh(request, now):
        return redirect(way_to_fresh(request, "identity-scim", slug=slug))
    end_credential(credential=found, by=request.user.username, now=now)
    return redirect("identity-scim", slug)
