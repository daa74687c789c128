"""Around every request: an id for logs and errors, and the demo's loopback."""

import uuid
from collections.abc import Callable
from ipaddress import ip_address

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden

GetResponse = Callable[[HttpRequest], HttpResponse]


def request_context(get_response: GetResponse) -> GetResponse:
    """Binds a request id to the log lines of the request and sends it with the answer."""

    def middleware(request: HttpRequest) -> HttpResponse:
        request_id = uuid.uuid4().hex[:12]
        structlog.contextvars.bind_contextvars(request_id=request_id)
        try:
            response = get_response(request)
        finally:
            structlog.contextvars.unbind_contextvars("request_id")
        response["X-Request-Id"] = request_id
        return response

    return middleware


def loopback_only_in_demo(get_response: GetResponse) -> GetResponse:
    """Whatever address a server was told to listen on, the demo answers this machine alone."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if settings.DEMO and not _is_loopback(request.META.get("REMOTE_ADDR", "")):
            return HttpResponseForbidden("The demo answers on loopback only.", content_type="text/plain")
        return get_response(request)

    return middleware


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return not address  # a Unix socket has no address
