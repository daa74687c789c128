"""One person per role, and the two teams they stand in."""

from dataclasses import dataclass

from accounts.models import User
from teams.models import Membership, PlatformRole, Team
from teams.permissions import GlobalRole, TeamRole
from tests.factories import CostCentreFactory, TeamFactory, UserFactory


@dataclass(frozen=True)
class People:
    """`member` and `viewer` belong to research, `neighbour` to vision, `team_admin` leads both; the stranger has no
    team, the last three no team but a role over all."""

    research: Team
    vision: Team
    member: User
    viewer: User
    neighbour: User
    team_admin: User
    stranger: User
    platform_admin: User
    finops: User
    auditor: User


def settle() -> People:
    """A few inserts in all: most tests begin with these rows."""
    research = TeamFactory.build(slug="research", name="Research", cost_centre=CostCentreFactory())
    vision = TeamFactory.build(slug="vision", name="Vision")
    Team.objects.bulk_create([research, vision])
    people = {name: UserFactory.build(username=name.replace("_", "-")) for name in (*_TEAM_ROLES, *_NO_TEAM)}
    User.objects.bulk_create(people.values())
    teams = {"research": research, "vision": vision}
    Membership.objects.bulk_create(
        Membership(user=people[name], team=teams[slug], role=role)
        for name, (role, slugs) in _TEAM_ROLES.items()
        for slug in slugs
    )
    PlatformRole.objects.bulk_create(
        PlatformRole(user=people[name], role=role) for name, role in _NO_TEAM.items() if role
    )
    return People(research, vision, **people)


_TEAM_ROLES = {
    "member": (TeamRole.MEMBER, ["research"]),
    "viewer": (TeamRole.VIEWER, ["research"]),
    "neighbour": (TeamRole.MEMBER, ["vision"]),
    "team_admin": (TeamRole.ADMIN, ["research", "vision"]),
}
_NO_TEAM = {
    "stranger": None,
    "platform_admin": GlobalRole.PLATFORM_ADMIN,
    "finops": GlobalRole.FINOPS,
    "auditor": GlobalRole.AUDITOR,
}
