"""Requests of programs: a personal token instead of a session, at addresses that give data, and only to read."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, TypeVar

from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve
from django.utils import timezone

from accounts.actions import note_use
from accounts.bearer import digest, shown_secret
from accounts.limits import Limit, address_of, is_beyond, too_many
from accounts.models import ApiToken, Scope
from accounts.sessions import SessionStore

View = TypeVar("View", bound=Callable[..., Any])
GetResponse = Callable[[HttpRequest], HttpResponse]

_WRONG: Final = Limit("token", 30)
_METHODS: Final = ("GET", "HEAD")


def answers_tokens(scope: Scope) -> Callable[[View], View]:
    """For views that give data: a token with the scope may ask, and is given what its person would be given."""

    def decorate(view: View) -> View:
        view.token_scope = scope  # type: ignore[attr-defined]
        return view

    return decorate


def sign_in_by_token(get_response: GetResponse) -> GetResponse:
    """Middleware: whoever shows a secret is asked for it wherever a sign-in is needed, whatever cookies came along."""

    def middleware(request: HttpRequest) -> HttpResponse:
        secret = shown_secret(request)
        view = _view_of(request) if secret else None
        if view is None or not getattr(view, "login_required", True):
            return get_response(request)
        refused = _sign_in(request, secret, getattr(view, "token_scope", None), timezone.now())
        return refused or _without_session(request, get_response)

    return middleware


def _view_of(request: HttpRequest) -> Callable[..., Any] | None:
    try:
        return resolve(request.path_info).func
    except Resolver404:
        return None


def _sign_in(request: HttpRequest, secret: str, scope: Scope | None, now: datetime) -> HttpResponse | None:
    """As the token's person, without a session; or why not."""
    token = ApiToken.objects.valid(now).select_related("user").filter(digest=digest(secret)).first()
    if token is None:
        return too_many(_WRONG) if is_beyond(request, _WRONG, now) else _refusal(401, "invalid_token")
    if request.method not in _METHODS:
        return HttpResponse("A token only reads.", status=405, headers={"Allow": ", ".join(_METHODS)})
    if scope not in token.scopes:
        return _refusal(403, "insufficient_scope")
    note_use(token=token, address=address_of(request), now=now)
    request.user = request._cached_user = token.user  # type: ignore[attr-defined]
    return None


def _refusal(status: int, error: str) -> HttpResponse:
    """As RFC 6750 words it."""
    headers = {"WWW-Authenticate": f'Bearer realm="portal", error="{error}"'}
    return HttpResponse(f"{error}\n", status=status, content_type="text/plain", headers=headers)


def _without_session(request: HttpRequest, get_response: GetResponse) -> HttpResponse:
    """That of a cookie is not read, and is left to the browser as it was."""
    left, request.session = request.session, SessionStore()
    try:
        return _in_words(get_response(request))
    finally:
        request.session = left


def _in_words(response: HttpResponse) -> HttpResponse:
    """Errors without the page around them."""
    if response.status_code < 400:
        return response
    return HttpResponse(f"{response.reason_phrase}\n", status=response.status_code, content_type="text/plain")
