"""Roles that come from groups of an identity provider."""

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import IdentityProvider, IdpGroup, IdpMembership, User
from portal.models import AuditEvent
from teams.actions import apply_setup
from teams.models import GroupMapping
from teams.permissions import GlobalRole, TeamRole
from teams.roles import read_roles
from teams.setup_file import BadSetup, read_setup
from tests.accounts.saml.conftest import NOW, _noon, corp, keys  # noqa: F401
from tests.accounts.saml.idp import Idp
from tests.accounts.saml.journey import sign_in
from tests.people import People

pytestmark = pytest.mark.django_db

FILE = """
identity_providers:
  corp: {name: Corp, metadata_url: "https://corp.example.org/metadata", groups_attribute: memberOf, enabled: true}
teams:
  research: {name: Research, groups: {corp: {g-research: member, g-leads: admin}}}
platform_groups: {corp: {g-finops: finops}}
"""


def apply(text: str) -> list[str]:
    return apply_setup(setup=read_setup(text), by="setup-file", now=NOW)


def mapped(idp: Idp, value: str, role: str, team: object = None) -> None:
    group, _ = IdpGroup.objects.get_or_create(provider=idp.row, value=value)
    GroupMapping.objects.create(group=group, team=team, role=role)


def test_a_group_opens_the_teams_pages_and_its_loss_closes_them(people: People, client: Client, corp: Idp) -> None:  # noqa: F811
    mapped(corp, "g-1", TeamRole.MEMBER, people.research)
    mapped(corp, "g-2", GlobalRole.FINOPS)
    sign_in(client, corp, attributes={"groups": ["g-1", "g-2", "g-of-nothing"]})
    assert client.get(reverse("team", args=["research"])).status_code == 200
    assert client.get(reverse("overview")).status_code == 200
    user = User.objects.get(username="corp:ana-0001")
    gained = AuditEvent.objects.filter(event="role.gained", target=f"person/{user.username}")
    assert {(each.details["team"], each.details["role"]) for each in gained} == {("research", "member"), ("", "finops")}
    sign_in(Client(), corp, attributes={"groups": ["g-of-nothing"]})
    assert client.get(reverse("team", args=["research"])).status_code == 404
    assert client.get(reverse("overview")).status_code == 403
    assert AuditEvent.objects.filter(event="role.lost", details__source="groups at corp").count() == 2


def test_too_many_groups_to_tell_leave_the_roles_as_they_were(people: People, client: Client, corp: Idp) -> None:  # noqa: F811
    mapped(corp, "g-1", TeamRole.MEMBER, people.research)
    sign_in(client, corp, attributes={"groups": ["g-1"]})
    link = {"http://schemas.microsoft.com/claims/groups.link": ["https://graph.windows.net/x"]}
    sign_in(client, corp, attributes=link)
    assert client.get(reverse("team", args=["research"])).status_code == 200


def test_the_strongest_role_of_a_team_holds(people: People, corp: Idp) -> None:  # noqa: F811
    mapped(corp, "g-1", TeamRole.ADMIN, people.research)
    mapped(corp, "g-1", TeamRole.VIEWER, people.research)
    IdpMembership.objects.create(group=IdpGroup.objects.get(), user=people.member)
    assert read_roles(people.member).teams == {people.research.pk: TeamRole.ADMIN}


def test_a_provider_that_is_switched_off_gives_nothing(people: People, corp: Idp) -> None:  # noqa: F811
    mapped(corp, "g-1", TeamRole.ADMIN, people.vision)
    IdpMembership.objects.create(group=IdpGroup.objects.get(), user=people.stranger)
    IdentityProvider.objects.update(enabled=False)
    assert not read_roles(people.stranger).teams


def test_the_set_up_file_connects_providers_and_groups() -> None:
    assert len(apply(FILE)) == 5
    assert apply(FILE) == []
    assert IdentityProvider.objects.get().groups_attribute == "memberOf"
    assert set(GroupMapping.objects.values_list("group__value", "team__slug", "role")) == {
        ("g-research", "research", "member"),
        ("g-leads", "research", "admin"),
        ("g-finops", None, "finops"),
    }


def test_what_the_file_no_longer_maps_is_gone_and_what_it_does_not_name_stays() -> None:
    apply(FILE)
    apply("teams: {research: {name: Research, groups: {corp: {g-leads: admin}}}}")
    assert set(GroupMapping.objects.values_list("group__value", flat=True)) == {"g-leads", "g-finops"}
    assert apply("teams: {research: {name: Research}}") == []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("platform_groups: {corp: {g: member}}", "the role must be one of"),
        ("platform_groups: {nobody: {g: finops}}", "there is no 'nobody'"),
        ("teams: {a: {groups: {corp: {g: finops}}}}", "the role must be one of"),
        ("identity_providers: {corp: {metadata: <x/>}}", "metadata"),
        ("identity_providers: {corp: {metadata: 1}}", "metadata must be text"),
        ("identity_providers: {corp: {enabled: maybe}}", "true or false"),
        ("identity_providers: {corp: {unknown: 1}}", "unknown entries"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(text: str, word: str) -> None:
    with pytest.raises(BadSetup, match=word):
        apply(text)
