from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404

from accounts.models import User
from jobs.access import get_workload_and_team_or_404
from jobs.models import Workload
from teams.access import get_team_or_404, require_platform_permission, sees_names_of_all
from teams.models import NamespaceBinding, Team
from teams.permissions import GlobalRole, Permission, TeamRole, platform_roles_with, team_roles_with
from teams.roles import roles_of
from tests.factories import PlatformRoleFactory
from tests.people import People
from tests.stories import Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db

SEE_TEAM, SEE_RAW, SEE_PLATFORM = Permission.SEE_TEAM, Permission.SEE_RAW, Permission.SEE_PLATFORM
BOTH = {"research", "vision"}

TEAMS_BY_ROLE = {
    "member": ({"research"}, {"research"}),
    "viewer": ({"research"}, {"research"}),
    "neighbour": ({"vision"}, {"vision"}),
    "team_admin": (BOTH, BOTH),
    "stranger": (set(), set()),
    "platform_admin": (BOTH, BOTH),
    "finops": (BOTH, set()),
    "auditor": (BOTH, BOTH),
}


def asked_by(user: User) -> Any:
    return SimpleNamespace(user=user)


@pytest.mark.parametrize(("role", "sees", "raw"), [(role, *teams) for role, teams in TEAMS_BY_ROLE.items()])
def test_which_teams_a_role_sees_and_whose_raw_text(people: People, role: str, sees: set[str], raw: set[str]) -> None:
    user = getattr(people, role)
    for permission, slugs in ((SEE_TEAM, sees), (SEE_RAW, raw)):
        assert {team.slug for team in Team.objects.visible_to(user, permission)} == slugs
        for slug in BOTH:
            if slug in slugs:
                assert get_team_or_404(asked_by(user), slug, permission).slug == slug
            else:
                with pytest.raises(Http404):
                    get_team_or_404(asked_by(user), slug, permission)


@pytest.mark.parametrize(("role", "sees", "raw"), [(role, *teams) for role, teams in TEAMS_BY_ROLE.items()])
def test_which_workloads_a_role_sees(shared: World, people: People, role: str, sees: set[str], raw: set[str]) -> None:
    user = getattr(people, role)
    jobs = {team: Job("job", f"hyperpod-ns-{team}") for team in BOTH}
    shared.see(*jobs.values(), Job("foreign", "of-nobody"))
    seen = {job.uid for team, job in jobs.items() if team in sees}
    seen |= {"uid-of-nobody-foreign"} if roles_of(user).platform else set()
    assert set(Workload.objects.visible_to(user).values_list("uid", flat=True)) == seen
    for team, job in jobs.items():
        for permission, slugs in ((SEE_TEAM, sees), (SEE_RAW, raw)):
            if team in slugs:
                workload, owner = get_workload_and_team_or_404(asked_by(user), "gpu-one", job.uid, permission)
                assert (workload.uid, owner) == (job.uid, getattr(people, team))
            else:
                with pytest.raises(Http404):
                    get_workload_and_team_or_404(asked_by(user), "gpu-one", job.uid, permission)


@pytest.mark.parametrize("role", TEAMS_BY_ROLE)
def test_the_platform_is_for_platform_roles(people: People, role: str) -> None:
    user, is_platform = getattr(people, role), role in ("platform_admin", "finops", "auditor")
    assert roles_of(user).everywhere(SEE_PLATFORM) is is_platform
    if is_platform:
        require_platform_permission(asked_by(user), SEE_PLATFORM)
    else:
        with pytest.raises(PermissionDenied):
            require_platform_permission(asked_by(user), SEE_PLATFORM)


def test_a_workload_of_another_cluster_is_not_found_under_this_one(shared: World, people: People) -> None:
    job = Job()
    shared.see(job)
    with pytest.raises(Http404):
        get_workload_and_team_or_404(asked_by(people.member), "gpu-two", job.uid)


def test_a_namespace_that_changed_hands_takes_its_jobs_along(shared: World, people: People) -> None:
    job = Job()
    shared.see(job)
    NamespaceBinding.objects.filter(team=people.research).update(valid_to=minute(5))
    NamespaceBinding.objects.create(
        cluster=shared.cluster, namespace=job.namespace, team=people.vision, valid_from=minute(5)
    )
    assert not Workload.objects.visible_to(people.member).exists()
    assert Workload.objects.visible_to(people.neighbour).get().uid == job.uid


def test_a_team_is_listed_once_however_many_ways_lead_to_it(people: People) -> None:
    PlatformRoleFactory(user=people.team_admin, role=GlobalRole.AUDITOR)
    PlatformRoleFactory(user=people.team_admin, role=GlobalRole.FINOPS)
    assert [team.slug for team in Team.objects.visible_to(people.team_admin)] == ["research", "vision"]


def test_names_of_all_teams_are_for_platform_roles_or_where_they_are_switched_on(world: World, people: People) -> None:
    assert [sees_names_of_all(user, world.cluster) for user in (people.member, people.finops)] == [False, True]
    world.cluster.names_across_teams = True
    assert sees_names_of_all(people.member, world.cluster)


def test_every_role_may_see_its_team_and_finops_no_raw_text() -> None:
    assert set(team_roles_with(SEE_TEAM)) == set(TeamRole)
    assert team_roles_with(SEE_PLATFORM) == []
    assert set(platform_roles_with(SEE_TEAM)) == set(platform_roles_with(SEE_PLATFORM)) == set(GlobalRole)
    assert set(platform_roles_with(SEE_RAW)) == {GlobalRole.PLATFORM_ADMIN, GlobalRole.AUDITOR}
