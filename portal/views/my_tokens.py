"""A person's API tokens: by which programs read what the person may see."""

import re
from functools import cache
from typing import NamedTuple

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import get_resolver
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.actions import end_token, make_token
from accounts.forms import TokenForm
from accounts.models import ApiToken, Scope
from accounts.requests import Request
from accounts.saml.fresh import fresh_sign_in, is_fresh, way_to_fresh


class Opened(NamedTuple):
    """The addresses that answer a token of a scope today."""

    scope: Scope
    addresses: tuple[str, ...]


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@fresh_sign_in("my-tokens")
def my_tokens(request: Request) -> HttpResponse:
    """A new token's secret stands in the answer to its form alone."""
    now = timezone.now()
    form = TokenForm(request.POST if request.method == "POST" else None)
    secret = ""
    may_make = request.user.archived_at is None
    if may_make and form.is_valid():
        secret = make_token(user=request.user, now=now, **form.cleaned_data)
        form = TokenForm()
    tokens = ApiToken.objects.kept().filter(user=request.user)
    anew = "" if is_fresh(request, now) else way_to_fresh(request, "my-tokens")
    context = {"form": form, "may_make": may_make, "anew": anew, "secret": secret, "tokens": tokens, "now": now}
    told = {**context, "opened": opened(), "portal": settings.PORTAL_ADDRESS}
    return render(request, "portal/my_tokens.html", told)


@require_POST
def token_end(request: Request, token: int) -> HttpResponse:
    found = ApiToken.objects.kept().filter(user=request.user, pk=token).first()
    if found is None:
        raise Http404("You have no such token.")
    end_token(token=found, now=timezone.now())
    return redirect("my-tokens")


@cache
def opened() -> tuple[Opened, ...]:
    """Read from the addresses themselves, so that the page promises nothing that is not there."""
    views = {str(each.pattern): getattr(each, "callback", None) for each in get_resolver().url_patterns}
    scopes = {path: getattr(view, "token_scope", None) for path, view in views.items()}
    return tuple(
        Opened(scope, tuple(f"/{re.sub('<[^>]+>', '…', path)}" for path, of in scopes.items() if of == scope))
        for scope in Scope
    )
