"""What each role may do. The only place where roles and permissions meet."""

from enum import StrEnum

from django.db import models
from django.utils.translation import gettext_lazy as _


class TeamRole(models.TextChoices):
    VIEWER = "viewer", _("viewer")
    MEMBER = "member", _("member")
    ADMIN = "admin", _("team admin")


class GlobalRole(models.TextChoices):
    PLATFORM_ADMIN = "platform_admin", _("platform admin")
    FINOPS = "finops", _("FinOps")
    AUDITOR = "auditor", _("auditor")


class CostCentreRole(models.TextChoices):
    """What its owner may do begins with statements and rates, which have no pages yet."""

    OWNER = "owner", _("cost centre's owner")


class Permission(StrEnum):
    SEE_TEAM = "see_team"
    """A team's quota, usage and the names and amounts of its workloads."""
    SEE_RAW = "see_raw"
    """Manifests, events, conditions' raw text and logs of a team's workloads."""
    SEE_PLATFORM = "see_platform"
    """Every team's queues side by side, nodes, and the names of all teams."""
    LOOK_AFTER = "look_after"
    """What is wrong with the platform: acknowledge it, send again what no channel took."""
    SET_UP = "set_up"
    """By which identity providers people come in, and what their groups give."""


_TEAM_ROLES = {
    TeamRole.VIEWER: {Permission.SEE_TEAM, Permission.SEE_RAW},
    TeamRole.MEMBER: {Permission.SEE_TEAM, Permission.SEE_RAW},
    TeamRole.ADMIN: {Permission.SEE_TEAM, Permission.SEE_RAW},
}
_GLOBAL_ROLES = {
    GlobalRole.PLATFORM_ADMIN: set(Permission),
    GlobalRole.FINOPS: {Permission.SEE_TEAM, Permission.SEE_PLATFORM},
    GlobalRole.AUDITOR: set(Permission) - {Permission.LOOK_AFTER, Permission.SET_UP},
}


def team_roles_with(permission: Permission) -> list[TeamRole]:
    return [role for role, permissions in _TEAM_ROLES.items() if permission in permissions]


def platform_roles_with(permission: Permission) -> list[GlobalRole]:
    return [role for role, permissions in _GLOBAL_ROLES.items() if permission in permissions]
