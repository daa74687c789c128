"""What the menu offers a person."""

from typing import Any

from django.http import HttpRequest

from accounts.models import User
from teams.access import has_platform_permission
from teams.models import Team
from teams.permissions import Permission


def menu(request: HttpRequest) -> dict[str, Any]:
    """Context processor: the person's own teams, and whether the platform's pages are for them."""
    if not isinstance(getattr(request, "user", None), User) or not request.user.is_authenticated:
        return {}
    return {
        "my_teams": Team.objects.active().filter(memberships__user=request.user),
        "sees_platform": has_platform_permission(request.user, Permission.SEE_PLATFORM),
    }
