"""Roles that come from groups of an identity provider."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from accounts.actions import switch_provider
from accounts.models import IdentityProvider, IdpGroup, IdpMembership, ScimUser, SignInTrial, User
from portal.models import AuditEvent
from teams.actions import apply_setup
from teams.models import CostCentre, GroupMapping, Team
from teams.permissions import GlobalRole, TeamRole
from teams.roles import holders_of, read_roles
from teams.setup_file import read_setup
from teams.setup_values import BadSetup
from tests.accounts.saml.conftest import NOW, _noon, corp, keys  # noqa: F401
from tests.accounts.saml.idp import Idp
from tests.accounts.saml.journey import sign_in
from tests.accounts.scim.client import scim_of
from tests.pages.reading import words
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


def test_whose_groups_are_not_all_told_is_told_so(people: People, client: Client, corp: Idp) -> None:  # noqa: F811
    sign_in(client, corp, attributes={"groups": []})
    assert "did not tell all of your groups" not in words(client.get("/"))
    link = {"http://schemas.microsoft.com/claims/groups.link": ["https://graph.windows.net/x"]}
    sign_in(client, corp, attributes=link)
    text = words(client.get("/"))
    assert "Corp did not tell all of your groups" in text
    assert "You belong to no team yet" in text


PART = {"HX-Request": "true"}


def test_a_group_that_is_lost_ends_live_parts_too(people: People, client: Client, corp: Idp) -> None:  # noqa: F811
    mapped(corp, "g-research", TeamRole.MEMBER, people.research)
    scim = scim_of(corp.row)
    ana = scim.person("ana", externalId="ana-0001")
    research = scim.group("research", ana)
    sign_in(client, corp, attributes={"groups": []})
    page = reverse("team", args=["research"])
    part = client.get(page, headers=PART)
    known = {**PART, "If-None-Match": part["ETag"]}
    assert client.get(page, headers=known).status_code == 304
    scim.patch(f"/Groups/{research}", {"op": "Remove", "path": "members", "value": [{"value": ana}]})
    assert client.get(page, headers=known).status_code == 404
    assert client.get(page).status_code == 404


def test_who_is_archived_loses_their_roles_and_has_them_again_when_restored(people: People, corp: Idp) -> None:  # noqa: F811
    mapped(corp, "g-research", TeamRole.MEMBER, people.research)
    scim = scim_of(corp.row)
    ana = scim.person("ana")
    research = scim.group("research", ana)
    told = ("person/corp:oid-ana", "identity_provider/corp", "member", "research", "")
    gained = {(*told, "groups at corp")}
    assert grants("role.gained") == gained
    scim.patch(f"/Users/{ana}", {"op": "Replace", "path": "active", "value": "False"})
    assert grants("role.lost") == {(*told, "archived")}
    scim.patch(f"/Groups/{research}", {"op": "Remove", "path": "members", "value": [{"value": ana}]})
    scim.patch(f"/Groups/{research}", {"op": "Add", "path": "members", "value": [{"value": ana}]})
    assert (grants("role.lost"), grants("role.gained")) == ({(*told, "archived")}, gained), "of no effect meanwhile"
    scim.patch(f"/Users/{ana}", {"op": "Replace", "path": "active", "value": True})
    assert grants("role.gained") == gained | {(*told, "restored")}


def test_a_group_gives_a_cost_centres_owner_by_scim(people: People, corp: Idp) -> None:  # noqa: F811
    centre = people.research.cost_centre
    assert centre
    group = IdpGroup.objects.create(provider=corp.row, value="g-money")
    GroupMapping.objects.create(group=group, cost_centre=centre, role="owner")
    scim = scim_of(corp.row)
    ana = scim.person("ana")
    money = scim.group("money", ana)
    told = ("person/corp:oid-ana", "identity_provider/corp", "owner", "", centre.code, "groups at corp")
    assert read_roles(User.objects.get(username="corp:oid-ana")).cost_centres == {centre.pk}
    assert (grants("role.gained"), grants("role.lost")) == ({told}, set())
    scim.ask("DELETE", f"/Groups/{money}")
    assert grants("role.lost") == {told}
    assert not read_roles(User.objects.get(username="corp:oid-ana")).cost_centres


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


def test_the_file_may_say_of_which_kind_a_provider_is() -> None:
    apply("identity_providers: {corp: {name: Corp, kind: entra}}")
    apply("identity_providers: {corp: {name: Corp}}")
    assert IdentityProvider.objects.get().kind == "entra"


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


OWNERS = """
identity_providers: {corp: {name: Corp, enabled: true}}
cost_centres: {cc-1: {name: Research, groups: {corp: {g-money: owner}}}, cc-2: Products}
"""


def grants(event: str) -> set[tuple[str, ...]]:
    found = AuditEvent.objects.filter(event=event)
    details = ("role", "team", "cost_centre", "source")
    return {(each.target, each.actor, *(each.details.get(name, "") for name in details)) for each in found}


def test_a_group_gives_a_cost_centre_to_own(people: People) -> None:
    apply(OWNERS)
    assert apply(OWNERS) == []
    group = IdpGroup.objects.get(value="g-money")
    IdpMembership.objects.create(group=group, user=people.stranger)
    roles = read_roles(people.stranger)
    assert roles.cost_centres == {CostCentre.objects.get(code="cc-1").pk}
    assert (dict(roles.teams), roles.platform) == ({}, frozenset())
    assert not Team.objects.visible_to(people.stranger).exists()
    assert people.stranger.pk not in {holder.user for holder in holders_of([people.research.pk])}
    IdentityProvider.objects.update(enabled=False)
    assert not read_roles(people.stranger).cost_centres


def test_what_the_file_changes_is_audited_for_each_person(people: People) -> None:
    apply(FILE + OWNERS.splitlines()[-1])
    for value, user in (("g-research", people.stranger), ("g-leads", people.neighbour), ("g-money", people.viewer)):
        IdpMembership.objects.create(group=IdpGroup.objects.get(value=value), user=user)
    before = grants("role.gained")
    apply(
        "teams: {research: {name: Research, groups: {corp: {g-leads: viewer}}, members: {viewer: member}}}\n"
        "cost_centres: {cc-1: {groups: {}}}"
    )
    by = ("setup-file",)
    assert grants("role.lost") == {
        ("person/stranger", *by, "member", "research", "", "set-up file"),
        ("person/neighbour", *by, "admin", "research", "", "set-up file"),
        ("person/viewer", *by, "owner", "", "cc-1", "set-up file"),
        ("person/viewer", *by, "viewer", "research", "", "set-up file"),
        ("person/member", *by, "member", "research", "", "set-up file"),
        ("person/team-admin", *by, "admin", "research", "", "set-up file"),
    }
    assert grants("role.gained") - before == {
        ("person/neighbour", *by, "viewer", "research", "", "set-up file"),
        ("person/viewer", *by, "member", "research", "", "set-up file"),
    }


def test_a_switch_gives_and_takes_what_groups_give(people: People, corp: Idp) -> None:  # noqa: F811
    mapped(corp, "g-1", TeamRole.MEMBER, people.research)
    mapped(corp, "g-1", TeamRole.VIEWER, people.vision)
    for user in (people.stranger, people.member):
        IdpMembership.objects.create(group=IdpGroup.objects.get(), user=user)
    for on in (False, True):
        switch_provider(provider=corp.row, on=on, by=people.platform_admin, now=NOW)
    told = {
        ("person/stranger", "platform-admin", "member", "research", "", "switch of corp"),
        ("person/stranger", "platform-admin", "viewer", "vision", "", "switch of corp"),
        ("person/member", "platform-admin", "viewer", "vision", "", "switch of corp"),
    }
    assert grants("role.lost") == grants("role.gained") == told, "who is a member anyway loses nothing"


def test_what_the_file_changes_of_a_provider_makes_its_trials_count_no_more(people: People) -> None:
    apply(FILE)
    trial = {"user": people.platform_admin, "request_id": "r", "begun_at": NOW}
    SignInTrial.objects.create(provider=IdentityProvider.objects.get(), **trial)
    apply(FILE)
    assert SignInTrial.objects.exists()
    apply(FILE.replace("memberOf", "groups"))
    assert not SignInTrial.objects.exists()


def test_a_mapping_is_of_one_thing(people: People, corp: Idp) -> None:  # noqa: F811
    group = IdpGroup.objects.create(provider=corp.row, value="g")
    centre = people.research.cost_centre
    for of, role in (
        ({"team": people.research}, "owner"),
        ({"cost_centre": centre}, "finops"),
        ({}, "owner"),
        ({"team": people.research, "cost_centre": centre}, "owner"),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            GroupMapping.objects.create(group=group, role=role, **of)
    GroupMapping.objects.create(group=group, role="owner", cost_centre=centre)
    with pytest.raises(IntegrityError), transaction.atomic():
        GroupMapping.objects.create(group=group, role="owner", cost_centre=centre)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("platform_groups: {corp: {g: member}}", "the role must be one of"),
        ("cost_centres: {cc-1: {groups: {corp: {g: admin}}}}", "the role must be one of owner"),
        ("cost_centres: {cc-1: {groups: {nobody: {g: owner}}}}", "there is no 'nobody'"),
        ("cost_centres: {cc-1: {unknown: 1}}", "unknown entries"),
        ("identity_providers: {corp: {kind: okta}}", "kind must be one of"),
        ("platform_groups: {nobody: {g: finops}}", "there is no 'nobody'"),
        ("teams: {a: {groups: {corp: {g: finops}}}}", "the role must be one of"),
        ("identity_providers: {corp: {metadata: <x/>}}", "metadata"),
        ("identity_providers: {corp: {metadata: 1}}", "metadata must be text"),
        ("identity_providers: {corp: {enabled: maybe}}", "true or false"),
        ("identity_providers: {corp: {unknown: 1}}", "unknown entries"),
        ("identity_providers: {corp: {identity_store: d-1}}", "must be a mapping"),
        ("identity_providers: {corp: {identity_store: {id: d-1}}}", "identity_store/region must be a name of AWS"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(text: str, word: str) -> None:
    with pytest.raises(BadSetup, match=word):
        apply(text)


def scim_roles(event: str) -> set[tuple[str, str, str]]:
    found = AuditEvent.objects.filter(event=event, actor="identity_provider/corp")
    return {(each.target, each.details["team"], each.details["role"]) for each in found}


def test_what_scim_gives_and_takes_is_audited(people: People, corp: Idp) -> None:  # noqa: F811
    mapped(corp, "g-research", TeamRole.MEMBER, people.research)
    mapped(corp, "g-finops", GlobalRole.FINOPS)
    scim = scim_of(corp.row)
    ana, bia = scim.person("ana"), scim.person("bia")
    scim.group("finops", ana)
    research = scim.group("research", ana, bia)
    both = {(f"person/corp:oid-{name}", "research", "member") for name in ("ana", "bia")}
    finops = ("person/corp:oid-ana", "", "finops")
    assert scim_roles("role.gained") == both | {finops}
    assert read_roles(User.objects.get(username="corp:oid-bia")).teams == {people.research.pk: TeamRole.MEMBER}
    scim.patch(f"/Groups/{research}", {"op": "Remove", "path": "members", "value": [{"value": bia}]})
    assert scim_roles("role.lost") == {("person/corp:oid-bia", "research", "member")}
    scim.ask("DELETE", f"/Users/{ana}")
    assert scim_roles("role.lost") == both | {finops}


def test_a_group_that_is_deleted_takes_its_roles_and_keeps_what_it_would_give(people: People, corp: Idp) -> None:  # noqa: F811
    mapped(corp, "g-research", TeamRole.MEMBER, people.research)
    scim = scim_of(corp.row)
    research = scim.group("research", scim.person("ana"))
    scim.ask("DELETE", f"/Groups/{research}")
    assert len(scim_roles("role.lost")) == 1
    assert GroupMapping.objects.count() == 1
    scim.group("research", scim.get("/Users").json()["Resources"][0]["id"])
    assert read_roles(User.objects.get(username="corp:oid-ana")).teams == {people.research.pk: TeamRole.MEMBER}


def test_a_group_that_is_called_otherwise_gives_what_the_other_gives(people: People, corp: Idp) -> None:  # noqa: F811
    mapped(corp, "g-research", TeamRole.MEMBER, people.research)
    mapped(corp, "g-vision", TeamRole.MEMBER, people.vision)
    scim = scim_of(corp.row)
    group = scim.group("research", scim.person("ana"))
    scim.patch(f"/Groups/{group}", {"op": "Replace", "path": "externalId", "value": "g-vision"})
    assert scim_roles("role.lost") == {("person/corp:oid-ana", "research", "member")}
    assert read_roles(User.objects.get(username="corp:oid-ana")).teams == {people.vision.pk: TeamRole.MEMBER}


def test_five_hundred_members_cost_few_statements(
    people: People,
    corp: Idp,  # noqa: F811
    django_assert_max_num_queries: Any,
) -> None:
    mapped(corp, "g-research", TeamRole.MEMBER, people.research)
    scim = scim_of(corp.row)
    now = {"created_at": NOW, "changed_at": NOW}
    users = User.objects.bulk_create(User(username=f"corp:{n}", name=str(n), created_at=NOW) for n in range(500))
    rows = [
        ScimUser(provider=corp.row, user=user, name_key=user.username, active=True, told={}, **now) for user in users
    ]
    ScimUser.objects.bulk_create(rows)
    group = scim.group("research")
    members = [{"value": str(row.pk)} for row in rows]
    with django_assert_max_num_queries(20):
        scim.patch(f"/Groups/{group}", {"op": "Add", "path": "members", "value": members})
    assert len(scim_roles("role.gained")) == 500
    with django_assert_max_num_queries(20):
        scim.patch(f"/Groups/{group}", {"op": "Remove", "path": "members", "value": members})
    assert len(scim_roles("role.lost")) == 500


def test_a_directory_that_is_read_is_named_in_the_file_and_left_out_again() -> None:
    apply("identity_providers: {corp: {identity_store: {id: d-1234567890, region: us-east-1}}}")
    found = IdentityProvider.objects.get()
    assert (found.identity_store, found.identity_store_region) == ("d-1234567890", "us-east-1")
    apply("identity_providers: {corp: {name: Corp}}")
    assert IdentityProvider.objects.get().identity_store == ""
