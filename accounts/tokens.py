"""Requests of programs: a personal token instead of a session, at addresses that give data, and only to read."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, TypeVar

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import Resolver404, resolve
from django.utils import timezone

from accounts.bearer import digest, note_use, shown_secret
from accounts.limits import Limit, address_of, is_beyond, is_beyond_by
from accounts.models import ApiToken, Scope
from accounts.sessions import SessionStore

View = TypeVar("View", bound=Callable[..., Any])
GetResponse = Callable[[HttpRequest], HttpResponse]

_WRONG: Final = Limit("token", 30)
_RIGHT: Final = Limit("token_right", 600)
"""Of one token."""
_METHODS: Final = ("GET", "HEAD")
_KEPT: Final = ("Allow", "Retry-After")


def answers_tokens(scope: Scope) -> Callable[[View], View]:
    """For views that give data: a token with the scope may ask, and is given what its person would be given."""

    def decorate(view: View) -> View:
        view.token_scope = scope  # type: ignore[attr-defined]
        return view

    return decorate


def no_pages_for_programs(get_response: GetResponse) -> GetResponse:
    """Middleware: whoever shows a secret is told of errors without a page around them, also of those that middleware
    below it meets."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        return _without_page(response) if shown_secret(request) else response

    return middleware


def sign_in_by_token(get_response: GetResponse) -> GetResponse:
    """Middleware: whoever shows a secret is asked for it wherever a sign-in is needed, whatever cookies came along."""

    def middleware(request: HttpRequest) -> HttpResponse:
        secret = shown_secret(request)
        return _answer(request, secret, get_response) if secret else get_response(request)

    return middleware


def _answer(request: HttpRequest, secret: str, get_response: GetResponse) -> HttpResponse:
    view = _view_of(request)
    if view is None or not getattr(view, "login_required", True):
        return get_response(request)
    refused = _sign_in(request, secret, getattr(view, "token_scope", None), timezone.now())
    return refused or _without_session(request, get_response)


def _view_of(request: HttpRequest) -> Callable[..., Any] | None:
    try:
        return resolve(request.path_info).func
    except Resolver404:
        return None


def _sign_in(request: HttpRequest, secret: str, scope: Scope | None, now: datetime) -> HttpResponse | None:
    """As the token's person, without a session; or why not."""
    token = ApiToken.objects.valid(now).select_related("user").filter(digest=digest(secret)).first()
    if token is None:
        return _too_many(_WRONG, now) if is_beyond(request, _WRONG, now) else _refusal(401, "invalid_token")
    if is_beyond_by(token.pk, _RIGHT, now):
        return _too_many(_RIGHT, now)
    if request.method not in _METHODS:
        return _error(405, "A token only reads.", {"Allow": ", ".join(_METHODS)})
    if scope not in token.scopes:
        return _refusal(403, "insufficient_scope")
    note_use(token, address_of(request), now)
    request.user = request._cached_user = token.user  # type: ignore[attr-defined]
    return None


def _refusal(status: int, error: str) -> HttpResponse:
    """As RFC 6750 words it."""
    return _error(status, error, {"WWW-Authenticate": f'Bearer realm="portal", error="{error}"'})


def _too_many(limit: Limit, now: datetime) -> HttpResponse:
    return _error(429, "Too Many Requests", {"Retry-After": str(limit.seconds_left(now))})


def _error(status: int, error: str, headers: Mapping[str, str] | None = None) -> HttpResponse:
    return JsonResponse({"error": error}, status=status, headers=headers)


def _without_session(request: HttpRequest, get_response: GetResponse) -> HttpResponse:
    """That of a cookie is not read, and is left to the browser as it was."""
    left, request.session = request.session, SessionStore()
    try:
        return get_response(request)
    finally:
        request.session = left


def _without_page(response: HttpResponse) -> HttpResponse:
    """Errors as JSON. What is none was an answer to programs from the beginning."""
    if response.status_code < 400 or not response.headers.get("Content-Type", "").startswith("text/"):
        return response
    kept = {name: response.headers[name] for name in _KEPT if name in response.headers}
    return _error(response.status_code, response.reason_phrase, kept)
