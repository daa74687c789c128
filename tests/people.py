"""One person per role, and the two teams they stand in."""

from dataclasses import dataclass

from accounts.models import User
from teams.models import Team
from teams.permissions import GlobalRole, TeamRole
from tests.factories import CostCentreFactory, MembershipFactory, PlatformRoleFactory, TeamFactory, UserFactory


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
    research = TeamFactory(slug="research", name="Research", cost_centre=CostCentreFactory())
    vision = TeamFactory(slug="vision", name="Vision")
    return People(
        research,
        vision,
        member=_member("member", research),
        viewer=_member("viewer", research, role=TeamRole.VIEWER),
        neighbour=_member("neighbour", vision),
        team_admin=_member("team-admin", research, vision, role=TeamRole.ADMIN),
        stranger=UserFactory(username="stranger"),
        platform_admin=_platform("platform-admin", GlobalRole.PLATFORM_ADMIN),
        finops=_platform("finops", GlobalRole.FINOPS),
        auditor=_platform("auditor", GlobalRole.AUDITOR),
    )


def _member(username: str, *teams: Team, role: TeamRole = TeamRole.MEMBER) -> User:
    user: User = UserFactory(username=username)
    for team in teams:
        MembershipFactory(user=user, team=team, role=role)
    return user


def _platform(username: str, role: GlobalRole) -> User:
    user: User = UserFactory(username=username)
    PlatformRoleFactory(user=user, role=role)
    return user
