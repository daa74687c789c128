"""What is shown when a view broke."""

import structlog
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string


def server_error(request: HttpRequest) -> HttpResponse:
    """Stands alone: no session, person or database, each of which may be what broke. Its id finds the log lines."""
    request_id = structlog.contextvars.get_contextvars().get("request_id", "")
    return HttpResponse(render_to_string("500.html", {"request_id": request_id}), status=500)
