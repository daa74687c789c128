"""Every URL, for every role, on its own team and on another."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from accounts.actions import make_token
from accounts.models import BreakGlass, IdentityProvider, IdpGroup, IdpMembership, Scope, User
from jobs.models import Eviction
from teams.models import GroupMapping
from teams.permissions import CostCentreRole, GlobalRole, TeamRole
from tests.factories import UserFactory
from tests.pages.reading import steady, visit
from tests.people import People
from tests.pods import Pod, see_pods
from tests.stories import START, Job
from tests.terminals import reach_by_terminal
from tests.worlds import World

pytestmark = pytest.mark.django_db

ROLES = (
    "nobody", "stranger", "member", "viewer", "neighbour", "team_admin", "platform_admin", "finops", "auditor",
)  # fmt: skip
TOKENS = tuple(f"token to {scope}" for scope in Scope)
"""Of the platform admin, each with one scope."""
SIGN_IN, HOME = "to sign in", "to a page"
NONE = (403, 403, 403, 403)
"""No token is answered, whoever's it is."""
READS = (200, *NONE[1:])
MATRIX: dict[str, tuple[object, ...]] = {
    "home": (SIGN_IN, 200, HOME, HOME, HOME, 200, HOME, HOME, HOME, *NONE),
    "team research": (SIGN_IN, 404, 200, 200, 404, 200, 200, 200, 200, *NONE),
    "team vision": (SIGN_IN, 404, 404, 404, 200, 200, 200, 200, 200, *NONE),
    "team unknown": (SIGN_IN, 404, 404, 404, 404, 404, 404, 404, 404, *NONE),
    "team-usage research": (SIGN_IN, 404, 200, 200, 404, 200, 200, 200, 200, *NONE),
    "team-usage vision": (SIGN_IN, 404, 404, 404, 200, 200, 200, 200, 200, *NONE),
    "team-usage unknown": (SIGN_IN, *(404,) * 8, *NONE),
    "team-usage-csv research": (SIGN_IN, 404, 200, 200, 404, 200, 200, 200, 200, *READS),
    "team-usage-csv vision": (SIGN_IN, 404, 404, 404, 200, 200, 200, 200, 200, *READS),
    "team-usage-csv unknown": (SIGN_IN, *(404,) * 8, 404, *NONE[1:]),
    "team-terminal research": (SIGN_IN, 404, 200, 200, 404, 200, 200, 200, 200, *NONE),
    "team-terminal vision": (SIGN_IN, 404, 404, 404, 200, 200, 200, 200, 200, *NONE),
    "team-terminal unknown": (SIGN_IN, *(404,) * 8, *NONE),
    "team-kubeconfig research": (SIGN_IN, 404, 200, 200, 404, 200, 200, 200, 200, *NONE),
    "team-kubeconfig vision": (SIGN_IN, *(404,) * 8, *NONE),
    "team-kubeconfig unknown": (SIGN_IN, *(404,) * 8, *NONE),
    "team-workloads research": (SIGN_IN, 404, 200, 200, 404, 200, 200, 200, 200, *NONE),
    "team-workloads vision": (SIGN_IN, 404, 404, 404, 200, 200, 200, 200, 200, *NONE),
    "team-workloads unknown": (SIGN_IN, *(404,) * 8, *NONE),
    "team-workloads-csv research": (SIGN_IN, 404, 200, 200, 404, 200, 200, 200, 200, *READS),
    "team-workloads-csv vision": (SIGN_IN, 404, 404, 404, 200, 200, 200, 200, 200, *READS),
    "team-workloads-csv unknown": (SIGN_IN, *(404,) * 8, 404, *NONE[1:]),
    "team-evictions research": (SIGN_IN, 404, 200, 200, 404, 200, 200, 200, 200, *NONE),
    "team-evictions vision": (SIGN_IN, 404, 404, 404, 200, 200, 200, 200, 200, *NONE),
    "team-evictions unknown": (SIGN_IN, *(404,) * 8, *NONE),
    "team-evictions-csv research": (SIGN_IN, 404, 200, 200, 404, 200, 200, 200, 200, *READS),
    "team-evictions-csv vision": (SIGN_IN, 404, 404, 404, 200, 200, 200, 200, 200, *READS),
    "team-evictions-csv unknown": (SIGN_IN, *(404,) * 8, 404, *NONE[1:]),
    "team-unseen-evictions research": (SIGN_IN, 404, 200, 200, 404, 200, 200, 200, 200, *NONE),
    "team-unseen-evictions vision": (SIGN_IN, 404, 404, 404, 200, 200, 200, 200, 200, *NONE),
    "team-unseen-evictions unknown": (SIGN_IN, *(404,) * 8, *NONE),
    "team-lost research": (SIGN_IN, 404, 200, 200, 404, 200, 200, 200, 200, *NONE),
    "team-lost vision": (SIGN_IN, 404, 404, 404, 200, 200, 200, 200, 200, *NONE),
    "team-lost unknown": (SIGN_IN, *(404,) * 8, *NONE),
    "eviction research": (SIGN_IN, 404, 200, 200, 404, 200, 200, 200, 200, *NONE),
    "eviction vision": (SIGN_IN, 404, 404, 404, 200, 200, 200, 200, 200, *NONE),
    "eviction unknown": (SIGN_IN, *(404,) * 8, *NONE),
    "workload research": (SIGN_IN, 404, 200, 200, 404, 200, 200, 200, 200, *NONE),
    "workload vision": (SIGN_IN, 404, 404, 404, 200, 200, 200, 200, 200, *NONE),
    "workload unknown": (SIGN_IN, 404, 404, 404, 404, 404, 404, 404, 404, *NONE),
    "workload-pods research": (SIGN_IN, 404, 200, 200, 404, 200, 200, 404, 200, *NONE),
    "workload-pods vision": (SIGN_IN, 404, 404, 404, 200, 200, 200, 404, 200, *NONE),
    "workload-pods unknown": (SIGN_IN, *(404,) * 8, *NONE),
    "workload-events research": (SIGN_IN, 404, 200, 200, 404, 200, 200, 404, 200, *NONE),
    "workload-events vision": (SIGN_IN, 404, 404, 404, 200, 200, 200, 404, 200, *NONE),
    "workload-events unknown": (SIGN_IN, *(404,) * 8, *NONE),
    "workload-manifest research": (SIGN_IN, 404, 200, 200, 404, 200, 200, 404, 200, *NONE),
    "workload-manifest vision": (SIGN_IN, 404, 404, 404, 200, 200, 200, 404, 200, *NONE),
    "workload-manifest unknown": (SIGN_IN, 404, 404, 404, 404, 404, 404, 404, 404, *NONE),
    "search": (SIGN_IN, *(200,) * 8, *NONE),
    "overview": (SIGN_IN, 403, 403, 403, 403, 403, 200, 200, 200, *NONE),
    "all-workloads": (SIGN_IN, *(403,) * 5, 200, 200, 200, *NONE),
    "all-workloads-csv": (SIGN_IN, *(403,) * 5, 200, 200, 200, *READS),
    "all-evictions": (SIGN_IN, *(403,) * 5, 200, 200, 200, *NONE),
    "all-evictions-csv": (SIGN_IN, *(403,) * 5, 200, 200, 200, *READS),
    "all-unseen-evictions": (SIGN_IN, *(403,) * 5, 200, 200, 200, *NONE),
    "victims": (SIGN_IN, *(403,) * 5, 200, 200, 200, *NONE),
    "borrowers": (SIGN_IN, *(403,) * 5, 200, 200, 200, *NONE),
    "lending": (SIGN_IN, *(403,) * 5, 200, 200, 200, *NONE),
    "cluster gpu-one": (SIGN_IN, 403, 403, 403, 403, 403, 200, 200, 200, *NONE),
    "cluster unknown": (SIGN_IN, 403, 403, 403, 403, 403, 404, 404, 404, *NONE),
    "node research": (SIGN_IN, 404, 200, 200, 404, 200, 200, 200, 200, *NONE),
    "node vision": (SIGN_IN, 404, 404, 404, 200, 200, 200, 200, 200, *NONE),
    "node unknown": (SIGN_IN, *(404,) * 8, *NONE),
    "gallery": (SIGN_IN, *(200,) * 8, *NONE),
    "inbox": (SIGN_IN, *(200,) * 8, *NONE),
    "inbox-read": (SIGN_IN, *(405,) * 8, *NONE),
    "notice-acknowledge 9c0f6c5e-0d0b-5f0e-8a55-6f1f0a9d2b11": (SIGN_IN, *(405,) * 8, *NONE),
    "me": (SIGN_IN, *(200,) * 8, *NONE),
    "my-notices": (SIGN_IN, *(200,) * 8, *NONE),
    "my-channels": (SIGN_IN, *(200,) * 8, *NONE),
    "channel-remove 1": (SIGN_IN, *(405,) * 8, *NONE),
    "identity": (SIGN_IN, *(403,) * 5, 200, 403, 403, *NONE),
    "my-tokens": (SIGN_IN, *(200,) * 8, *NONE),
    "token-end 1": (SIGN_IN, *(405,) * 8, *NONE),
    "identity-connect": (SIGN_IN, *(403,) * 5, 200, 403, 403, *NONE),
    "identity-provider corp": (SIGN_IN, *(403,) * 5, 200, 403, 403, *NONE),
    "identity-provider unknown": (SIGN_IN, *(403,) * 5, 404, 403, 403, *NONE),
    "identity-scim corp": (SIGN_IN, *(403,) * 5, 200, 403, 403, *NONE),
    "identity-scim unknown": (SIGN_IN, *(403,) * 5, 404, 403, 403, *NONE),
    "identity-scim-end corp": (SIGN_IN, *(405,) * 8, *NONE),
    "identity-switch-off corp": (SIGN_IN, *(405,) * 8, *NONE),
    "identity-try corp": (SIGN_IN, *(403,) * 5, 200, 403, 403, *NONE),
    "identity-trial 9c0f6c5e-0d0b-5f0e-8a55-6f1f0a9d2b11": (SIGN_IN, *(403,) * 5, 404, 403, 403, *NONE),
    "identity-switch-on 9c0f6c5e-0d0b-5f0e-8a55-6f1f0a9d2b11": (SIGN_IN, *(405,) * 8, *NONE),
    "undelivered": (SIGN_IN, *(403,) * 5, 200, 403, 403, *NONE),
    "message-again 9c0f6c5e-0d0b-5f0e-8a55-6f1f0a9d2b11": (SIGN_IN, *(405,) * 8, *NONE),
    "sign-in": (200,) * 13,
    "break-glass": (404,) * 13,
    "sign-out": (SIGN_IN, *(405,) * 8, *NONE),
    "sign-in-as": (405,) * 13,
    "set_language": (HOME,) * 13,
    "saml-login unknown": (404,) * 13,
    "saml-acs unknown": (404,) * 13,
    "saml-finish unknown": (404,) * 13,
    "saml-logout unknown": (404,) * 13,
    "saml-metadata unknown": (404,) * 13,
    "scim-root": (401,) * 13,
    "scim Users": (401,) * 13,
}
FORMS: dict[str, tuple[object, ...]] = {
    "sign-out": (SIGN_IN, *(HOME,) * 8),
    "inbox-read": (SIGN_IN, *(HOME,) * 8),
    "notice-acknowledge 9c0f6c5e-0d0b-5f0e-8a55-6f1f0a9d2b11": (SIGN_IN, *(403,) * 5, 404, 403, 403),
    "me": (SIGN_IN, *(200,) * 8),
    "my-notices": (SIGN_IN, *(200,) * 8),
    "my-channels": (SIGN_IN, *(200,) * 8),
    "channel-remove 1": (SIGN_IN, *(404,) * 8),
    "my-tokens": (SIGN_IN, *(200,) * 8),
    "token-end 1": (SIGN_IN, *(404,) * 8),
    "identity-connect": (SIGN_IN, *(403,) * 5, 200, 403, 403),
    "identity-provider corp": (SIGN_IN, *(403,) * 5, 200, 403, 403),
    "identity-provider unknown": (SIGN_IN, *(403,) * 5, 404, 403, 403),
    "identity-scim corp": (SIGN_IN, *(403,) * 5, 200, 403, 403),
    "identity-scim unknown": (SIGN_IN, *(403,) * 5, 404, 403, 403),
    "identity-scim-end corp": (SIGN_IN, *(403,) * 5, 404, 403, 403),
    "identity-switch-off corp": (SIGN_IN, *(403,) * 5, 404, 403, 403),
    "identity-switch-on 9c0f6c5e-0d0b-5f0e-8a55-6f1f0a9d2b11": (SIGN_IN, *(403,) * 5, 404, 403, 403),
    "message-again 9c0f6c5e-0d0b-5f0e-8a55-6f1f0a9d2b11": (SIGN_IN, *(403,) * 5, 404, 403, 403),
}
"""What is posted to, empty; all other addresses answer 405. No token writes."""
OF_PEOPLE = [entry for entry, row in MATRIX.items() if row[0] == SIGN_IN]


@pytest.fixture
def everything(shared: World) -> World:
    jobs = [Job("job", f"hyperpod-ns-{team}", uid=f"uid-{team}").admit(-9) for team in ("research", "vision")]
    shared.see(*jobs)
    see_pods(shared, *(Pod(job, node=f"node-{job.namespace.rpartition('-')[2]}", bound=-8) for job in jobs))
    shared.see(*(job.evict(-5).release(-4) for job in jobs))
    shared.see(Job("job", "of-nobody", uid="uid-of-nobody"))
    reach_by_terminal(shared.cluster, "research")
    IdentityProvider.objects.create(
        slug="corp", name="Corp", groups_attribute="groups", signs_response=True, enabled=False
    )
    return shared


def address(entry: str) -> str:
    name, _, target = entry.partition(" ")
    if name == "eviction":
        eviction = Eviction.objects.filter(workload__uid=f"uid-{target}").first()
        return reverse(name, args=["gpu-one", f"uid-{target}", eviction.pk if eviction else 2**63])
    if name == "node":
        return reverse(name, args=["gpu-one", f"node-{target}"])
    if name == "identity-scim-end":
        return reverse(name, args=[target, 1])
    if name == "team-kubeconfig":
        return reverse(name, args=[target, "gpu-one"])
    if name.startswith("workload"):
        return reverse(name, args=["gpu-one", f"uid-{target}"])
    return reverse(name, args=[target] if target else [])


def outcome(response: Any) -> object:
    if response.status_code != 302:
        return response.status_code
    return SIGN_IN if response.url.startswith(reverse("sign-in") + "?next=") else HOME


@pytest.mark.parametrize("entry", MATRIX)
def test_who_gets_what(everything: World, people: People, entry: str) -> None:
    found = {role: outcome(visit(getattr(people, role, None), address(entry))) for role in ROLES}
    found |= {f"token to {scope}": by_token(people.platform_admin, address(entry), scope) for scope in Scope}
    assert found == dict(zip((*ROLES, *TOKENS), MATRIX[entry], strict=True))


@pytest.mark.parametrize("role", ROLES[1:])
def test_a_token_is_given_what_its_person_is_given_where_its_scope_is_answered(
    everything: World, people: People, role: str
) -> None:
    user, found, expected = getattr(people, role), {}, {}
    secrets = {scope: token(user, scope) for scope in Scope} | {None: token(user, *Scope)}
    for entry in OF_PEOPLE:
        *_, answered = row = MATRIX[entry]
        for scope, of_admin in zip(Scope, row[-4:], strict=True) if row[-4:] != NONE else [(None, answered)]:
            found[entry, scope] = shown(secrets[scope], address(entry))
            expected[entry, scope] = row[ROLES.index(role)] if of_admin != 403 else 403
    assert found == expected


def token(user: User, *scopes: Scope) -> str:
    return make_token(user=user, name="a program", scopes=scopes, days=1, now=START)


def shown(secret: str, url: str, method: str = "get") -> object:
    return outcome(getattr(Client(), method)(url, headers={"Authorization": f"Bearer {secret}"}))


def by_token(user: User, url: str, scope: Scope, method: str = "get") -> object:
    return shown(token(user, scope), url, method)


def a_member_by_group(people: People) -> User:
    return mapped(team=people.research, role=TeamRole.MEMBER)


def an_owner_of_a_cost_centre(people: People) -> User:
    return mapped(cost_centre=people.research.cost_centre, role=CostCentreRole.OWNER)


def an_auditor_by_group(people: People) -> User:
    return mapped(role=GlobalRole.AUDITOR)


def an_admin_by_break_glass(people: People) -> User:
    ends_at = timezone.now() + timedelta(hours=1)
    user: User = UserFactory(username="break-glass rio", archived_at=ends_at)
    BreakGlass.objects.create(user=user, reason="x", digest="x", made_at=START, ends_at=ends_at)
    return user


def mapped(**given: Any) -> User:
    """Somebody new in a group that gives this."""
    provider = IdentityProvider.objects.create(
        slug="idp", name="Idp", groups_attribute="groups", signs_response=True, enabled=True
    )
    group, user = IdpGroup.objects.create(provider=provider, value="g"), UserFactory()
    IdpMembership.objects.create(group=group, user=user)
    GroupMapping.objects.create(group=group, **given)
    return user  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("made", "role"),
    [
        (a_member_by_group, "member"),
        (an_owner_of_a_cost_centre, "stranger"),
        (an_auditor_by_group, "auditor"),
        (an_admin_by_break_glass, "platform_admin"),
    ],
)
def test_however_a_role_is_held_it_opens_the_same(
    everything: World, people: People, made: Callable[[People], User], role: str
) -> None:
    user = made(people)
    found = {entry: outcome(visit(user, address(entry))) for entry in OF_PEOPLE}
    assert found == {entry: MATRIX[entry][ROLES.index(role)] for entry in OF_PEOPLE}


@pytest.mark.parametrize("role", ROLES)
def test_who_may_send_a_form(everything: World, people: People, role: str) -> None:
    found = {entry: outcome(post(getattr(people, role, None), address(entry))) for entry in OF_PEOPLE}
    expected = {entry: FORMS.get(entry, (SIGN_IN, *(405,) * 8))[ROLES.index(role)] for entry in OF_PEOPLE}
    assert found == expected


def post(user: User | None, url: str) -> Any:
    client = Client()
    if user:
        client.force_login(user)
    return client.post(url)


@pytest.mark.parametrize("entry", OF_PEOPLE)
def test_no_token_writes_anything(everything: World, people: People, entry: str) -> None:
    for method in ("post", "put", "patch", "delete"):
        assert by_token(people.platform_admin, address(entry), Scope.READ, method) == 405


@pytest.mark.parametrize("role", ["platform_admin", "finops", "auditor"])
def test_platform_roles_read_the_jobs_of_namespaces_that_no_team_owns(
    everything: World, people: People, role: str
) -> None:
    assert visit(getattr(people, role), address("workload of-nobody")).status_code == 200


def names(resolver: URLResolver, prefix: str = "") -> Iterator[str]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from names(pattern, f"{pattern.namespace}:" if pattern.namespace else prefix)
        else:
            assert isinstance(pattern, URLPattern)
            yield f"{prefix}{pattern.name}"


def test_no_url_is_left_out() -> None:
    assert set(names(get_resolver())) == {entry.partition(" ")[0] for entry in MATRIX}


def test_whatever_is_a_teams_is_asked_for_of_ones_own_of_another_and_of_none() -> None:
    found: dict[str, set[str]] = {}
    for entry in MATRIX:
        name, _, target = entry.partition(" ")
        found.setdefault(name, set()).add(target)
    of_teams = {name for name, targets in found.items() if "research" in targets}
    assert of_teams >= {name for name in found if name.startswith(("team", "workload", "eviction", "node"))}
    assert {name: found[name] for name in of_teams} == dict.fromkeys(of_teams, {"research", "vision", "unknown"})


def test_an_archived_person_is_signed_out(people: People) -> None:
    client = Client()
    client.force_login(people.member)
    assert client.get(reverse("team", args=["research"])).status_code == 200
    people.member.archived_at = START
    people.member.save()
    assert outcome(client.get(reverse("team", args=["research"]))) == SIGN_IN


def test_a_role_that_was_taken_is_gone_at_the_next_request(people: People) -> None:
    client = Client()
    client.force_login(people.finops)
    assert client.get(reverse("overview")).status_code == 200
    people.finops.platform_roles.all().delete()
    assert client.get(reverse("overview")).status_code == 403


@pytest.mark.parametrize("entry", [e for e in MATRIX if MATRIX[e][6] == 200])
def test_pages_are_read_only(everything: World, people: People, entry: str) -> None:
    client = Client()
    client.force_login(people.platform_admin)
    for method in ("put", "patch", "delete"):
        assert getattr(client, method)(address(entry)).status_code == 405


def test_outside_the_demo_the_gallery_is_for_platform_roles(people: People, settings: Any) -> None:
    settings.DEMO = False
    assert [visit(user, address("gallery")).status_code for user in (people.member, people.finops)] == [403, 200]


def test_pages_answer_head(everything: World, people: People) -> None:
    client = Client()
    client.force_login(people.platform_admin)
    assert client.head(address("team research")).status_code == 200


@pytest.mark.parametrize("entry", ["team unknown", "team vision", "workload vision", "overview", "cluster gpu-one"])
def test_a_refusal_says_nothing_of_what_is_there(everything: World, people: People, entry: str) -> None:
    text = steady(visit(people.member, address(entry)))
    assert "vision" not in text.lower()
    assert "uid-" not in text


def test_the_same_page_answers_for_a_team_that_is_not_there_and_one_that_is_not_ours(people: People) -> None:
    pages = [steady(visit(people.member, reverse("team", args=[slug]))) for slug in ("vision", "unknown")]
    assert pages[0] == pages[1]


def test_every_page_says_that_it_is_a_demo(everything: World, people: People) -> None:
    assert settings.DEMO
    for entry in ("home", "team research", "workload research", "overview", "cluster gpu-one", "me", "sign-in"):
        response = visit(people.platform_admin, address(entry))
        if response.status_code == 200:
            assert "Demo" in response.text


def test_every_answer_carries_the_policy_and_an_id(everything: World, people: People) -> None:
    ids = set()
    for entry in MATRIX:
        response = visit(people.member, address(entry))
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert response.headers["X-Frame-Options"] == "DENY"
        ids.add(response.headers["X-Request-Id"])
    assert len(ids) == len(MATRIX)


def test_no_page_holds_inline_script_or_style(everything: World, people: People) -> None:
    for entry in [entry for entry in MATRIX if MATRIX[entry][6] == 200]:
        text = visit(people.platform_admin, address(entry)).getvalue().decode()
        assert "<style" not in text
        assert ' style="' not in text
        assert " onclick=" not in text
        assert "<script>" not in text
        assert "//cdn" not in text
