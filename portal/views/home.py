"""The first page, by role."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from accounts.models import GroupClaim
from accounts.requests import Request
from teams.models import Team
from teams.permissions import Permission
from teams.roles import roles_of


@require_safe
def home(request: Request) -> HttpResponse:
    """One team: its page. Several: that opened last, or else the choice. A platform role: the overview. None: whom to
    ask."""
    roles = roles_of(request.user)
    slugs = [team.slug for team in roles.active_teams]
    if len(slugs) == 1 or request.user.last_team in slugs:
        return redirect("team", request.user.last_team if request.user.last_team in slugs else slugs[0])
    if not slugs and roles.everywhere(Permission.SEE_PLATFORM):
        return redirect("overview")
    untold = GroupClaim.objects.filter(user=request.user, is_complete=False, provider__enabled=True)
    teams = Team.objects.filter(slug__in=slugs).select_related("cost_centre")
    return render(request, "portal/home.html", {"teams": teams, "untold": untold.select_related("provider").first()})
