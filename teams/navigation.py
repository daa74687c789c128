"""What the menu offers a person."""

from typing import Any

from django.http import HttpRequest

from accounts.models import User
from teams.permissions import Permission
from teams.roles import roles_of


def menu(request: HttpRequest) -> dict[str, Any]:
    """Context processor: the person's own teams, and whether the platform's pages are for them, its care, set-up."""
    if not isinstance(getattr(request, "user", None), User) or not request.user.is_authenticated:
        return {}
    roles = roles_of(request.user)
    return {
        "my_teams": roles.active_teams,
        "sees_platform": roles.everywhere(Permission.SEE_PLATFORM),
        "looks_after": roles.everywhere(Permission.LOOK_AFTER),
        "sets_up": roles.everywhere(Permission.SET_UP),
    }
