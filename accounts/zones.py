"""Times are stored in UTC and shown in the reader's zone."""

from collections.abc import Callable
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts.forms import zones

ZONE_COOKIE = "zone"
"""What the browser told of its own zone, by script."""


def show_in_readers_zone(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """The zone the person chose, else the browser's, else UTC."""

    def middleware(request: HttpRequest) -> HttpResponse:
        chosen = request.user.time_zone if request.user.is_authenticated else ""
        name = chosen or request.COOKIES.get(ZONE_COOKIE, "")
        with timezone.override(ZoneInfo(name) if name in zones() else None):
            return get_response(request)

    return middleware
