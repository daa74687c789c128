"""Break-glass access as everybody sees it on every page while there is any."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from accounts.models import BreakGlass


def broken_glass(request: HttpRequest) -> dict[str, Callable[[], list[BreakGlass]]]:
    """Context processor. Asked for of a person whom the sign-in read, it costs nothing as long as there is none."""
    user: Any = getattr(request, "user", None)
    return {"broken_glass": in_force if getattr(user, "glass_is_broken", True) else list}


def in_force() -> list[BreakGlass]:
    return list(BreakGlass.objects.in_force(timezone.now()).select_related("user"))
