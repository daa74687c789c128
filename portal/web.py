"""The frame around every page."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone


def chrome(request: HttpRequest) -> dict[str, Any]:
    """Context processor: the mode, and the moment the page was rendered."""
    return {"is_demo": settings.DEMO, "rendered_at": timezone.now()}
