"""From the identity provider's POST, which no cookie of ours comes with, to a page of ours, where they do."""

from datetime import datetime
from hashlib import sha256
from typing import Final

from django.conf import settings
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from accounts.claims import Claims
from accounts.models import UsedAssertion
from accounts.saml.refusals import Reason, Refused
from accounts.sessions import SessionStore

_SECONDS: Final = 300


def hand_over(claims: Claims, slug: str, address: str) -> HttpResponse:
    """To the address, for which checked claims wait under a key that this browser alone knows."""
    store = SessionStore()
    store["claims"], store["provider"] = claims.as_json(), slug
    store.set_expiry(_SECONDS)
    store.create()
    response = HttpResponseRedirect(address)
    response.set_cookie(
        settings.SAML_ARRIVAL_COOKIE_NAME,
        store.session_key or "",
        max_age=_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


def take_over(request: HttpRequest, slug: str) -> Claims:
    """What waits for this browser, once. Raises Refused."""
    store = SessionStore(request.COOKIES.get(settings.SAML_ARRIVAL_COOKIE_NAME) or None)
    kept = store.get("claims") if store.get("provider") == slug else None
    store.delete()
    if kept is None:
        raise Refused(Reason.NO_ARRIVAL)
    return Claims.from_json(kept)


def use_once(name: str, slug: str, valid_until: datetime, now: datetime) -> None:
    """Of the provider's assertion or request of this name. Raises Refused if it was used before."""
    if valid_until <= now:
        raise Refused(Reason.TIMES)
    digest = sha256(f"{slug} {name}".encode()).hexdigest()
    try:
        with transaction.atomic():
            UsedAssertion.objects.create(digest=digest, valid_until=valid_until)
    except IntegrityError as error:
        raise Refused(Reason.REPLAYED) from error
