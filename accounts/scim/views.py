"""SCIM over HTTP: who asks is decided here, what is asked by the SCIM server."""

import json
from datetime import datetime
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

from accounts.bearer import note_use, shown_secret
from accounts.limits import Limit, address_of, is_beyond, is_beyond_by
from accounts.models import ScimCredential
from accounts.scim.credentials import credential_of
from accounts.scim.schemas import SERVICE
from accounts.scim.storage import Handler, Storage
from portal.outages import AGAIN_SECONDS, is_of_the_database

log = structlog.get_logger(__name__)

_WRONG: Final = Limit("scim_wrong", 30)
_RIGHT: Final = Limit("scim", 1000, seconds=10)
"""Of one secret. Entra ID sends 25 a second."""
_READS: Final = ("GET", "HEAD")
_NULL: Final = b"\\u0000"


class _Later(SCIMException):
    """`wait`: seconds after which it is worth asking again."""

    def __init__(self, wait: int) -> None:
        super().__init__()
        self.wait = wait


class _TooMany(_Later):
    status = HTTPStatus.TOO_MANY_REQUESTS
    _default_detail = "Too many requests. Try again later."


class _NoDatabase(_Later):
    status = HTTPStatus.SERVICE_UNAVAILABLE
    _default_detail = "The portal cannot use its database. Try again later."


@csrf_exempt
@login_not_required
def scim(request: HttpRequest, path: str = "") -> HttpResponse:
    """Every address under /scim/v2/. Whatever happens is told in SCIM's way."""
    try:
        answer = _answer(request, path)
    except _Later as error:
        answer = _later(error)
    except SCIMException as error:
        answer = SERVICE.error_response(error)
    except RecursionError:
        answer = SERVICE.error_response(InvalidValueException(detail="It is nested too deeply"))
    except PermissionDenied:  # nobody knows where it comes from
        answer = SERVICE.error_response(ForbiddenException())
    except Exception as error:  # told to programs, which read no page
        log.exception("scim failed")
        is_out = is_of_the_database(error)
        answer = _later(_NoDatabase(AGAIN_SECONDS)) if is_out else SERVICE.error_response(error)
    return _response(answer)


def _later(error: _Later) -> ScimResponse:
    answer = SERVICE.error_response(error)
    answer.headers["Retry-After"] = str(error.wait)
    return answer


def _answer(request: HttpRequest, path: str) -> ScimResponse:
    now = timezone.now()
    credential = _credential(request, now)
    is_write = request.method not in _READS and not path.endswith(".search")
    if is_write and credential.scope != ScimCredential.Scope.WRITE:
        raise ForbiddenException(detail="This secret is for reading")
    storage = Storage(credential.provider, now, is_write=is_write)
    return Handler(SERVICE, storage).handle(_asked(request, path))


def _credential(request: HttpRequest, now: datetime) -> ScimCredential:
    """Raises SCIM's exceptions for a wrong secret, and for one that is shown too often."""
    found = credential_of(shown_secret(request), now)
    if found is None:
        raise _TooMany(_WRONG.seconds_left(now)) if is_beyond(request, _WRONG, now) else UnauthorizedException
    if is_beyond_by(found.pk, _RIGHT, now):
        raise _TooMany(_RIGHT.seconds_left(now))
    note_use(found, address_of(request), now)
    return found


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
