"""Acts that outlive a session: whoever does one has just shown their identity provider that it is them."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import wraps
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from accounts.saml.adapter import SESSION_KEY

FRESH: Final = timedelta(minutes=15)
ASK_ANEW: Final = "anew"
"""In the address of a provider's sign-in: it has to ask for credentials, whatever session of its own there is."""

View = Callable[..., HttpResponse]


def is_fresh(request: HttpRequest, now: datetime) -> bool:
    """Whether the person's provider asked them for credentials lately. Without a provider there is none to ask."""
    session = request.session.get(SESSION_KEY)
    if session is None:
        return True
    told = session.get("authenticated_at")
    return told is not None and now - datetime.fromisoformat(told) < FRESH


def way_to_fresh(request: HttpRequest, page: str, **url: Any) -> str:
    """The address at which their provider asks them anew; from there to our page of this name."""
    query = urlencode({ASK_ANEW: 1, "next": reverse(page, kwargs=url)})
    return f"{reverse('saml-login', args=[request.session[SESSION_KEY]['provider']])}?{query}"


def fresh_sign_in(page: str) -> Callable[[View], View]:
    """For views that do something of weight when posted to: who signed in long ago does it anew afterwards, on the page
    of this name, whose address holds what the view's own does."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, **url: Any) -> HttpResponse:
            if request.method == "POST" and not is_fresh(request, timezone.now()):
                return redirect(way_to_fresh(request, page, **url))
            return view(request, **url)

        return guarded

    return decorate
