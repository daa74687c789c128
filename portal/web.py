"""The frame around every page, and around every file."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, StreamingHttpResponse
from django.utils import timezone


def chrome(request: HttpRequest) -> dict[str, Any]:
    """Context processor: the mode, and the moment the page was rendered."""
    return {"is_demo": settings.DEMO, "rendered_at": timezone.now()}


def csv_file(lines: Iterable[str], name: str) -> StreamingHttpResponse:
    """CSV text to be saved under that name, as it comes; kept nowhere on the way."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "private, no-store"}
    return StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8", headers=headers)
