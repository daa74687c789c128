"""Around every request: an id for logs and errors, the demo's loopback, and one line and one measurement."""

import time
import uuid
from collections.abc import Callable
from ipaddress import ip_address
from urllib.parse import urlsplit, urlunsplit

import structlog
from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden, QueryDict, StreamingHttpResponse

from portal.request_times import REQUEST_SECONDS

log = structlog.get_logger(__name__)

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


def no_body_for_head(get_response: GetResponse) -> GetResponse:
    """Who asks for the head alone gets no body, of which Gunicorn would write a warning each time."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if request.method == "HEAD" and isinstance(response, StreamingHttpResponse):
            response.streaming_content = ()
        elif request.method == "HEAD":
            response.headers.setdefault("Content-Length", str(len(response.content)))
            response.content = b""
        return response

    return middleware


def loopback_only_in_demo(get_response: GetResponse) -> GetResponse:
    """Whatever address a server was told to listen on, the demo answers this machine alone."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if settings.DEMO and not is_loopback(request.META.get("REMOTE_ADDR", "")):
            return HttpResponseForbidden("The demo answers on loopback only.", content_type="text/plain")
        return get_response(request)

    return middleware


def no_null_characters(get_response: GetResponse) -> GetResponse:
    """PostgreSQL takes none in a text, so an address or a cookie with one is nobody's honest request."""

    def middleware(request: HttpRequest) -> HttpResponse:
        texts = (request.path_info, *request.COOKIES.values())
        if "%00" in request.META.get("QUERY_STRING", "") or any("\0" in text for text in texts):
            raise SuspiciousOperation("a null character in the address or a cookie")
        return get_response(request)

    return middleware


def utf_8_only(get_response: GetResponse) -> GetResponse:
    """No page sends a form in another encoding, and Django fails at some of them even where it tells of the failure."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if (request.content_params or {}).get("charset", "utf-8").lower() not in ("utf-8", "utf8", "us-ascii"):
            return HttpResponse("Only UTF-8 is understood.", status=415, content_type="text/plain")
        return get_response(request)

    return middleware


def private_by_default(get_response: GetResponse) -> GetResponse:
    """What one person was shown is kept by no cache on the way, and asked for anew each time."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-cache")
        return response

    return middleware


def sign_in_for_parts(get_response: GetResponse) -> GetResponse:
    """A page whose sign-in ended goes to sign-in as a whole: its live part must not swallow the sign-in page."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if response.status_code == 302 and request.headers.get("HX-Request") == "true":
            return HttpResponse(status=204, headers={"HX-Redirect": _back_to_the_page(request, response["Location"])})
        return response

    return middleware


def _back_to_the_page(request: HttpRequest, location: str) -> str:
    """The way to sign-in, and from there to the page on which the part stands. Sign-in checks where `next` leads."""
    page, way = urlsplit(request.headers.get("HX-Current-URL", "")), urlsplit(location)
    query = QueryDict(way.query, mutable=True)
    if page.path and "next" in query:
        query["next"] = urlunsplit(("", "", page.path, page.query, ""))
    return way._replace(query=query.urlencode(safe="/")).geturl()


def request_line(get_response: GetResponse) -> GetResponse:
    """One line and one measurement per request. They name the view, never the address: that holds names."""

    def middleware(request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        response = get_response(request)
        seconds = time.perf_counter() - began
        view = request.resolver_match.view_name if request.resolver_match else "none"
        REQUEST_SECONDS.labels(view, response.status_code).observe(seconds)
        line = {"method": request.method, "view": view, "status": response.status_code, "ms": round(seconds * 1000)}
        log.info("request", **line, **_user(request))
        return response

    return middleware


def _user(request: HttpRequest) -> dict[str, int]:
    """The signed-in person's id, if the request asked who it is: finding out for the log alone would cost a query."""
    user = getattr(request, "_cached_user", None)
    return {"user": user.pk} if user is not None and user.is_authenticated else {}


def is_loopback(address: str) -> bool:
    """Whether REMOTE_ADDR is this machine."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return not address  # a Unix socket has no address
