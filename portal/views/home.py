"""The first page, by role."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from accounts.requests import Request
from teams.models import Team
from teams.permissions import Permission
from teams.roles import roles_of


@require_safe
def home(request: Request) -> HttpResponse:
    """One team: its page. Several: the choice. A platform role: the overview. None: whom to ask."""
    teams = Team.objects.active().filter(pk__in=roles_of(request.user).teams)
    if len(teams) == 1:
        return redirect(teams[0])
    if not teams and roles_of(request.user).everywhere(Permission.SEE_PLATFORM):
        return redirect("overview")
    return render(request, "portal/home.html", {"teams": teams})
