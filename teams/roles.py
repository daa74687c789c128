"""The roles a person holds, read once per request and never copied."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import BigIntegerField, Value

from accounts.models import User
from teams.permissions import GlobalRole, Permission, TeamRole, platform_roles_with, team_roles_with


@dataclass(frozen=True, slots=True)
class Roles:
    """`teams`: role by team key."""

    teams: Mapping[int, TeamRole]
    platform: frozenset[GlobalRole]

    def everywhere(self, permission: Permission) -> bool:
        """Whether a platform role carries the permission, for every team and for what no team owns."""
        return not self.platform.isdisjoint(platform_roles_with(permission))

    def team_ids(self, permission: Permission) -> list[int]:
        """Teams in which a team role carries the permission."""
        carrying = team_roles_with(permission)
        return [team for team, role in self.teams.items() if role in carrying]


def roles_of(user: User) -> Roles:
    """One query for each request's user; the object lives as long as the request."""
    kept: Roles | None = getattr(user, "_roles", None)
    if kept is None:
        kept = _read(user)
        user._roles = kept  # type: ignore[attr-defined]
    return kept


def _read(user: User) -> Roles:
    of_teams = user.memberships.values_list("team_id", "role")
    nowhere = Value(None, output_field=BigIntegerField())
    of_platform = user.platform_roles.annotate(nowhere=nowhere).values_list("nowhere", "role")
    held = list(of_teams.union(of_platform, all=True))
    return Roles(
        {team: TeamRole(role) for team, role in held if team is not None},
        frozenset(GlobalRole(role) for team, role in held if team is None),
    )
