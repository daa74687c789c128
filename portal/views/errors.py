"""What is shown when a view broke."""

import sys

import structlog
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from portal.outages import AGAIN_SECONDS, is_of_the_database


def server_error(request: HttpRequest) -> HttpResponse:
    """Stands alone: no session, person or database, each of which may be what broke. Its id finds the log lines."""
    request_id = structlog.contextvars.get_contextvars().get("request_id", "")
    no_database = is_of_the_database(sys.exception())
    page = render_to_string("500.html", {"request_id": request_id, "no_database": no_database})
    if no_database:
        return HttpResponse(page, status=503, headers={"Retry-After": str(AGAIN_SECONDS)})
    return HttpResponse(page, status=500)
