"""What the menu offers a person."""

from typing import Any

from django.http import HttpRequest

from accounts.models import User
from teams.permissions import Permission
from teams.roles import roles_of


def menu(request: HttpRequest) -> dict[str, Any]:
    """Context processor: the person's own teams, and whether the platform's pages are for them, and its care."""
    if not isinstance(getattr(request, "user", None), User) or not request.user.is_authenticated:
        return {}
    return {
        "my_teams": roles_of(request.user).active_teams,
        "sees_platform": roles_of(request.user).everywhere(Permission.SEE_PLATFORM),
        "looks_after": roles_of(request.user).everywhere(Permission.LOOK_AFTER),
    }
