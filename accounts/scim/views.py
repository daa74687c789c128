"""SCIM over HTTP: who asks is decided here, what is asked by the SCIM server."""

import json
from http import HTTPStatus
from typing import Final

import structlog
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.http.request import UnreadablePostError
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from scim2_models import (
    ForbiddenException,
    InvalidValueException,
    PayloadTooLargeException,
    SCIMException,
    UnauthorizedException,
)
from scim2_server.requests import ScimRequest
from scim2_server.responses import ScimResponse

from accounts.bearer import shown_secret
from accounts.limits import Limit, is_beyond
from accounts.models import ScimCredential
from accounts.scim.credentials import credential_of
from accounts.scim.schemas import SERVICE
from accounts.scim.storage import Handler, Storage

log = structlog.get_logger(__name__)

_WRONG: Final = Limit("scim_wrong", 30)
_READS: Final = ("GET", "HEAD")
_NULL: Final = b"\\u0000"


class _TooMany(SCIMException):
    status = HTTPStatus.TOO_MANY_REQUESTS
    _default_detail = "Too many requests with a wrong secret"


@csrf_exempt
@login_not_required
def scim(request: HttpRequest, path: str = "") -> HttpResponse:
    """Every address under /scim/v2/. Whatever happens is told in SCIM's way."""
    try:
        answer = _answer(request, path)
    except SCIMException as error:
        answer = SERVICE.error_response(error)
    except RecursionError:
        answer = SERVICE.error_response(InvalidValueException(detail="It is nested too deeply"))
    except PermissionDenied:  # nobody knows where it comes from
        answer = SERVICE.error_response(ForbiddenException())
    except Exception as error:  # told to programs, which read no page
        log.exception("scim failed")
        answer = SERVICE.error_response(error)
    return _response(answer)


def _answer(request: HttpRequest, path: str) -> ScimResponse:
    now = timezone.now()
    credential = credential_of(shown_secret(request), now)
    if credential is None:
        raise _TooMany if is_beyond(request, _WRONG, now) else UnauthorizedException
    is_write = request.method not in _READS and not path.endswith(".search")
    if is_write and credential.scope != ScimCredential.Scope.WRITE:
        raise ForbiddenException(detail="This secret is for reading")
    storage = Storage(credential.provider, now, is_write=is_write)
    return Handler(SERVICE, storage).handle(_asked(request, path))


def _asked(request: HttpRequest, path: str) -> ScimRequest:
    return ScimRequest(
        method=str(request.method),
        base_url=f"{settings.PORTAL_ADDRESS}/scim/v2",
        path=f"/{path}",
        query=request.GET.dict(),
        headers=dict(request.headers),
        body=_body(request),
    )


def _body(request: HttpRequest) -> bytes:
    """Raises SCIM's exceptions; PostgreSQL takes no null character in a text."""
    try:
        body = request.body
    except RequestDataTooBig as error:
        raise PayloadTooLargeException from error
    except UnreadablePostError as error:
        raise InvalidValueException(detail="The request ended too early") from error
    if _NULL in body:
        raise InvalidValueException(detail="A text has a null character")
    return body


def _response(answer: ScimResponse) -> HttpResponse:
    body = b"" if answer.body is None else json.dumps(answer.body).encode()
    return HttpResponse(body, status=answer.status, headers=answer.headers)
