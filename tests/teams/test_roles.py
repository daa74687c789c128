from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from jobs.models import Workload
from teams.models import Membership, PlatformRole, Team
from teams.permissions import GlobalRole, Permission, TeamRole
from teams.roles import Roles, roles_of
from tests.people import People

pytestmark = pytest.mark.django_db
SEE_TEAM, SEE_RAW, SEE_PLATFORM = Permission.SEE_TEAM, Permission.SEE_RAW, Permission.SEE_PLATFORM


def fresh(user: User) -> User:
    """The person as the next request loads them."""
    return User.objects.get(pk=user.pk)


@pytest.mark.parametrize(
    ("role", "teams", "platform"),
    [
        ("stranger", {}, set()),
        ("member", {"research": TeamRole.MEMBER}, set()),
        ("viewer", {"research": TeamRole.VIEWER}, set()),
        ("team_admin", {"research": TeamRole.ADMIN, "vision": TeamRole.ADMIN}, set()),
        ("platform_admin", {}, {GlobalRole.PLATFORM_ADMIN}),
        ("finops", {}, {GlobalRole.FINOPS}),
        ("auditor", {}, {GlobalRole.AUDITOR}),
    ],
)
def test_what_a_person_holds(people: People, role: str, teams: dict[str, TeamRole], platform: set[GlobalRole]) -> None:
    keys = {"research": people.research.pk, "vision": people.vision.pk}
    roles = roles_of(getattr(people, role))
    assert roles == Roles({keys[slug]: held for slug, held in teams.items()}, frozenset(platform))


def test_roles_of_teams_and_of_the_platform_are_held_at_once(people: People) -> None:
    for role in GlobalRole:
        PlatformRole.objects.create(user=people.member, role=role)
    roles = roles_of(fresh(people.member))
    assert roles.teams == {people.research.pk: TeamRole.MEMBER}
    assert roles.platform == frozenset(GlobalRole)


def test_they_are_words_of_the_code_not_of_the_database(people: People) -> None:
    role = roles_of(people.team_admin).teams[people.research.pk]
    assert (type(role), role.label) == (TeamRole, "team admin")
    assert {type(role) for role in roles_of(people.finops).platform} == {GlobalRole}


@pytest.mark.parametrize(
    ("platform", "permission", "everywhere"),
    [
        (set(), SEE_TEAM, False),
        ({GlobalRole.FINOPS}, SEE_TEAM, True),
        ({GlobalRole.FINOPS}, SEE_RAW, False),
        ({GlobalRole.FINOPS, GlobalRole.AUDITOR}, SEE_RAW, True),
        ({GlobalRole.PLATFORM_ADMIN}, SEE_PLATFORM, True),
    ],
)
def test_a_permission_over_all_teams(platform: set[GlobalRole], permission: Permission, everywhere: bool) -> None:
    roles = Roles({1: TeamRole.ADMIN}, frozenset(platform))
    assert roles.everywhere(permission) is everywhere


def test_teams_in_which_a_permission_is_held() -> None:
    roles = Roles({1: TeamRole.VIEWER, 2: TeamRole.ADMIN}, frozenset({GlobalRole.AUDITOR}))
    assert roles.team_ids(SEE_TEAM) == roles.team_ids(SEE_RAW) == [1, 2]
    assert roles.team_ids(SEE_PLATFORM) == []


def test_they_are_read_once_for_each_request(people: People) -> None:
    user = fresh(people.team_admin)
    with CaptureQueriesContext(connection) as queries:
        roles_of(user)
    assert len(queries) == 1
    with CaptureQueriesContext(connection) as queries:
        assert roles_of(user) is roles_of(user)
        assert Team.objects.visible_to(user).count() == 2
        assert Workload.objects.visible_to(user).count() == 0
    assert len(queries) == 2


def test_one_query_however_many_teams(people: People) -> None:
    teams = Team.objects.bulk_create(Team(slug=f"team-{n}", name=f"Team {n}") for n in range(50))
    Membership.objects.bulk_create(Membership(user=people.stranger, team=team, role=TeamRole.VIEWER) for team in teams)
    user = fresh(people.stranger)
    with CaptureQueriesContext(connection) as queries:
        assert len(roles_of(user).teams) == 50
    assert len(queries) == 1


def lose_team(people: People) -> None:
    Membership.objects.filter(user=people.member).delete()


def gain_platform(people: People) -> None:
    PlatformRole.objects.create(user=people.member, role=GlobalRole.AUDITOR)


@pytest.mark.parametrize(
    ("change", "url", "before", "after"),
    [(lose_team, "/teams/research/", 200, 404), (gain_platform, "/platform/", 403, 200)],
)
def test_nothing_is_kept_from_one_request_to_the_next(
    people: People, change: Callable[[People], None], url: str, before: int, after: int
) -> None:
    client = Client()
    client.force_login(people.member)
    assert client.get(url).status_code == before
    change(people)
    assert client.get(url).status_code == after
