"""The loaders that fetch and authorise in one call. Strangers get 404, as if the thing did not exist."""

from django.core.exceptions import PermissionDenied
from django.http import Http404

from accounts.models import User
from accounts.requests import Request
from teams.models import Cluster, Team
from teams.permissions import Permission
from teams.roles import roles_of


def get_team_or_404(request: Request, slug: str, permission: Permission = Permission.SEE_TEAM) -> Team:
    """The team, if the person holds the permission in it. Raises Http404."""
    team = Team.objects.visible_to(request.user, permission).select_related("cost_centre").filter(slug=slug).first()
    if team is None:
        raise Http404("There is no such team, or you do not belong to it.")
    return team


def require_platform_permission(request: Request, permission: Permission) -> None:
    """For pages of a role, which are no secret: Raises PermissionDenied."""
    if not roles_of(request.user).everywhere(permission):
        raise PermissionDenied(permission)


def sees_names_of_all(user: User, cluster: Cluster) -> bool:
    """Whether other teams' names may be shown: to platform roles, or where the cluster's admin switched them on."""
    return cluster.names_across_teams or roles_of(user).everywhere(Permission.SEE_PLATFORM)
