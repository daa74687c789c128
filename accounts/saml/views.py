"""The addresses of one identity provider: to it, back from it, its logout, and what it must know of us."""

from collections.abc import Callable
from datetime import datetime
from functools import partial, wraps
from typing import Final

import structlog
from allauth.socialaccount.helpers import complete_social_login
from django.contrib.auth import logout as end_session
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe
from onelogin.saml2.settings import OneLogin_Saml2_Settings as Settings

from accounts.limits import Limit, is_beyond, too_many
from accounts.models import IdentityProvider
from accounts.saml.adapter import SESSION_KEY, app_of
from accounts.saml.arrivals import hand_over, take_over, use_once
from accounts.saml.checks import DRIFT, claims_in
from accounts.saml.config import as_received, config_of, our_address, sp_config
from accounts.saml.fresh import ASK_ANEW
from accounts.saml.logout import end_elsewhere, read_logout
from accounts.saml.provider import SINCE, PortalSAMLProvider
from accounts.saml.refusals import Reason, Refused
from accounts.saml.trials import end_trial, trial_answered

log = structlog.get_logger(__name__)

View = Callable[..., HttpResponse]
_MOST: Final = 300
"""A minute: a whole office comes from one address; fifty sign-ins at once are a normal Monday."""


def _guarded(view: View, *, while_tried: bool = False) -> View:
    """A refusal becomes a page that says why, and a line in the log; too many requests are not looked at. Only enabled
    providers have these addresses, and `while_tried` those that an admin tries out."""

    limit = Limit(view.__name__, _MOST)

    @login_not_required
    @never_cache
    @wraps(view)
    def guarded(request: HttpRequest, slug: str) -> HttpResponse:
        now = timezone.now()
        provider = get_object_or_404(IdentityProvider, slug=slug)
        if not provider.enabled and not (while_tried and provider.trials.open(now).exists()):
            raise Http404
        if is_beyond(request, limit, now):
            return too_many(limit, now)
        try:
            return view(request, provider)
        except Refused as refused:
            log.warning("sign-in refused", provider=slug, reason=str(refused.reason), detail=refused.detail)
            return _refusal(request, provider, refused, now)

    return guarded


def _refusal(request: HttpRequest, provider: IdentityProvider, refused: Refused, now: datetime) -> HttpResponse:
    """What was found, what to do about it, and what to quote, by which its line in the log is found."""
    found = f"{refused.reason}: {refused.detail}" if refused.detail else str(refused.reason)
    request_id = structlog.contextvars.get_contextvars().get("request_id", "")
    told = {
        "refused": refused,
        "provider": provider,
        "tile": our_address("saml-login", provider.slug) if refused.reason is Reason.UNSOLICITED else "",
        "quote": ", ".join((provider.name, f"{now:%Y-%m-%d %H:%M:%S} UTC", found, request_id)),
    }
    return render(request, "portal/sign_in_refused.html", told, status=403)


@_guarded
@require_safe
def saml_login(request: HttpRequest, provider: IdentityProvider) -> HttpResponse:
    """To the identity provider, which asks for credentials anew if the address says so; afterwards to `next`."""
    target = request.GET.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure())
    ours = target if is_ours else reverse("home")
    saml = PortalSAMLProvider(request, app_of(provider))
    return saml.send_to(request, provider, ours, anew=ASK_ANEW in request.GET, now=timezone.now())


@csrf_exempt
@partial(_guarded, while_tried=True)
@require_POST
def saml_acs(request: HttpRequest, provider: IdentityProvider) -> HttpResponse:
    """What the identity provider says, by way of the browser: checked here, used at the next address, unless it ends a
    trial."""
    now, sent = timezone.now(), request.POST.get("SAMLResponse", "")
    trial = trial_answered(provider, sent, now)
    if trial is not None:
        end_trial(trial=trial, sent=sent, now=now)
        return redirect("identity-trial", trial.pk)
    if not provider.enabled:
        raise Http404
    received = as_received("saml-acs", provider.slug, get_data={}, post_data={})
    claims = claims_in(sent, config_of(provider, now), received)
    return hand_over(claims, provider.slug, reverse("saml-finish", args=[provider.slug]))


@_guarded
@require_safe
def saml_finish(request: HttpRequest, provider: IdentityProvider) -> HttpResponse:
    """The sign-in itself, in the session that asked for it."""
    now = timezone.now()
    claims = take_over(request, provider.slug)
    saml = PortalSAMLProvider(request, app_of(provider))
    try:
        state = saml.unstash_redirect_state(request, claims.answers)
    except PermissionDenied as error:
        raise Refused(Reason.UNKNOWN_REQUEST) from error
    if SINCE in state and claims.authenticated_at < datetime.fromisoformat(state[SINCE]) - DRIFT:
        raise Refused(Reason.NOT_ANEW)
    use_once(claims.assertion_id, provider.slug, claims.valid_until, now)
    request.arrival = (claims, provider, now)  # type: ignore[attr-defined]
    login = saml.sociallogin_from_response(request, claims)
    login.state = state
    with transaction.atomic():
        response: HttpResponse = complete_social_login(request, login)
    return response


@_guarded
@require_safe
def saml_logout(request: HttpRequest, provider: IdentityProvider) -> HttpResponse:
    """The identity provider ends sessions that it began.

    Browsers send no cookie of ours to a frame of the provider's page, so that these are found without it. Where none is
    left the answer is the same: else the provider's own logout would stop at the portal, and what it began elsewhere
    would live on.
    """
    session = request.session.get(SESSION_KEY, {})
    is_its = session.get("provider") == provider.slug
    now = timezone.now()
    logout = read_logout(request, provider, now)
    if is_its and not logout.is_of_all and not logout.is_of(session):
        raise Refused(Reason.LOGOUT, "of another session")
    end_elsewhere(provider, logout, now)
    if is_its and logout.is_of(session):
        end_session(request)
    return redirect(logout.answer or "sign-in")


@require_safe
@login_not_required
def saml_metadata(request: HttpRequest, slug: str) -> HttpResponse:
    """What the identity provider must know of us: there before anything is known of it."""
    get_object_or_404(IdentityProvider, slug=slug)
    library = Settings(sp_config(slug), sp_validation_only=True)
    return HttpResponse(library.get_sp_metadata(), content_type="application/samlmetadata+xml")
