"""Whom SCIM and sign-ins mean by the same person, and whom neither can become."""

import re
from typing import Any

import pytest
from django.contrib.auth import SESSION_KEY
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import GroupClaim, IdentityProvider, IdpGroup, IdpMembership, ScimUser, User
from portal.models import AuditEvent
from tests.accounts.saml.conftest import NOW, _noon, connect, keys  # noqa: F401
from tests.accounts.saml.idp import Idp
from tests.accounts.saml.journey import sign_in
from tests.accounts.scim.client import Scim, person, scim_of
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
OVERAGE = {"http://schemas.microsoft.com/claims/groups.link": ["https://graph.windows.net/x"]}


@pytest.fixture
def idp(db: None, keys: Any) -> Idp:  # noqa: F811
    return connect("corp", keys[0])


@pytest.fixture
def scim(idp: Idp) -> Scim:
    return scim_of(idp.row)


@pytest.fixture
def stranger(keys: Any, db: None) -> Scim:  # noqa: F811
    """Another provider's client."""
    return scim_of(connect("other", keys[1]).row)


def active(key: str, value: object) -> dict[str, object]:
    return {"op": "Replace", "path": "active", "value": value}


def told(user: User) -> set[str]:
    return set(IdpMembership.objects.filter(user=user).values_list("group__value", flat=True))


def test_who_was_provisioned_signs_in_as_the_same_person(scim: Scim, idp: Idp, client: Client) -> None:
    scim.person("ana", externalId="ana-0001")
    assert sign_in(client, idp, "/me/").status_code == 302
    assert User.objects.get().username == "corp:ana-0001"
    assert client.session[SESSION_KEY] == str(ScimUser.objects.get().user_id)


def test_who_signed_in_is_the_one_that_is_provisioned_later(scim: Scim, idp: Idp, client: Client) -> None:
    sign_in(client, idp)
    scim.person("ana", externalId="ana-0001")
    assert ScimUser.objects.get().user == User.objects.get()
    assert client.get(reverse("me")).status_code == 200


@pytest.mark.parametrize("same", ["userName", "email"])
def test_the_same_name_or_address_is_not_the_same_person(scim: Scim, idp: Idp, client: Client, same: str) -> None:
    sign_in(client, idp, attributes={"email": ["ana@example.org"], "groups": []})
    emails = [{"type": "work", "value": "ana@example.org"}]
    scim.person(
        "ana", externalId="oid-of-bia", **({"userName": "ana-0001"} if same == "userName" else {"emails": emails})
    )
    assert set(User.objects.values_list("username", flat=True)) == {"corp:ana-0001", "corp:oid-of-bia"}


@pytest.mark.parametrize("claimed", ["root", "other:bia", "corp:ana", "../other:bia", ":root"])
def test_no_local_or_foreign_account_is_taken_over(scim: Scim, claimed: str) -> None:
    UserFactory(username="root")
    UserFactory(username="other:bia")
    before = set(User.objects.values_list("pk", "username", "name", "email", "archived_at"))
    for number, place in enumerate(("userName", "externalId", "displayName")):
        scim.person(f"p{number}", **{place: claimed, "active": False})
    assert before <= set(User.objects.values_list("pk", "username", "name", "email", "archived_at"))
    assert all(each.user.username.startswith("corp:") for each in ScimUser.objects.all())


def test_one_provider_does_not_see_or_change_what_is_anothers(scim: Scim, stranger: Scim) -> None:
    ana = scim.person("ana")
    group = scim.group("research", ana)
    theirs = stranger.person("ana")
    assert stranger.get("/Users").json()["totalResults"] == 1
    assert stranger.get("/Groups").json()["totalResults"] == 0
    for path in (f"/Users/{ana}", f"/Groups/{group}"):
        assert stranger.get(path).status_code == 404
        assert stranger.ask("DELETE", path).status_code == 404
        assert stranger.patch(path, {"op": "replace", "path": "displayName", "value": "x"}).status_code == 404
    assert stranger.get("/Groups", filter=f'members eq "{ana}"').json()["totalResults"] == 0
    own = stranger.group("research", theirs)
    assert (
        stranger.patch(f"/Groups/{own}", {"op": "Add", "path": "members", "value": [{"value": ana}]}).status_code == 400
    )
    assert scim.members(group) == {ana}


def test_whose_state_is_inactive_is_out_at_once_and_for_good(scim: Scim, idp: Idp, client: Client) -> None:
    ana = scim.person("ana", externalId="ana-0001")
    sign_in(client, idp)
    assert client.get(reverse("me")).status_code == 200
    scim.patch(f"/Users/{ana}", active(ana, "False"))
    assert client.get(reverse("me")).status_code == 302
    assert sign_in(Client(), idp).status_code == 403
    scim.patch(f"/Users/{ana}", active(ana, True))
    assert client.get(reverse("me")).status_code == 302, "the old session does not come back to life"
    assert sign_in(client, idp).status_code == 302
    assert client.get(reverse("me")).status_code == 200
    events = AuditEvent.objects.filter(target="person/corp:ana-0001").values_list("event", flat=True)
    assert {"scim_user.made", "person.archived", "access.ended", "person.restored", "scim_user.changed"} <= set(events)


def test_who_is_deleted_is_out_with_all_groups(scim: Scim, idp: Idp, client: Client) -> None:
    ana = scim.person("ana", externalId="ana-0001")
    scim.group("research", ana)
    sign_in(client, idp, attributes={"groups": ["g-finops"]})
    user = User.objects.get()
    assert told(user) == {"g-research", "g-finops"}
    scim.ask("DELETE", f"/Users/{ana}")
    assert client.get(reverse("me")).status_code == 302
    assert sign_in(Client(), idp).status_code == 403
    assert told(user) == set()
    scim.person("ana", externalId="ana-0001")
    assert sign_in(Client(), idp).status_code == 302


def test_silence_about_the_state_leaves_it(scim: Scim) -> None:
    ana = scim.person("ana")
    scim.patch(f"/Users/{ana}", active(ana, False))
    body = person("ana")
    del body["active"]
    scim.ask("PUT", f"/Users/{ana}", body)
    assert not User.objects.get().is_active


def test_an_external_id_that_is_told_later_makes_the_person_who_signs_in(scim: Scim, idp: Idp, client: Client) -> None:
    ana = scim.person("ana", externalId=None)
    scim.group("research", ana)
    before = User.objects.get()
    scim.patch(f"/Users/{ana}", {"op": "Add", "path": "externalId", "value": "ana-0001"})
    sign_in(client, idp, attributes=OVERAGE)
    user = User.objects.get(username="corp:ana-0001")
    assert told(user) == {"g-research"}
    before.refresh_from_db()
    assert not before.is_active
    assert told(before) == set()


def test_nobody_becomes_another_by_an_external_id_that_is_taken(scim: Scim) -> None:
    scim.person("ana")
    bia = scim.person("bia")
    told_ana = {"op": "Replace", "path": "externalId", "value": "oid-ana"}
    assert scim.patch(f"/Users/{bia}", told_ana).status_code == 409
    assert scim.post("/Users", person("caio", externalId="oid-ana")).status_code == 409
    assert ScimUser.objects.get(pk=bia).user.username == "corp:oid-bia"


def test_groups_that_are_too_many_for_a_sign_in_are_known_by_scim(scim: Scim, idp: Idp, client: Client) -> None:
    ana = scim.person("ana", externalId="ana-0001")
    scim.group("research", ana)
    sign_in(client, idp, attributes=OVERAGE)
    assert GroupClaim.objects.get().is_complete
    assert told(User.objects.get()) == {"g-research"}


def test_a_sign_in_never_takes_back_what_scim_told(scim: Scim, idp: Idp, client: Client) -> None:
    ana = scim.person("ana", externalId="ana-0001")
    group = scim.group("research", ana)
    sign_in(client, idp, attributes={"groups": ["g-finops"]})
    assert told(User.objects.get()) == {"g-research", "g-finops"}
    sign_in(client, idp, attributes={})
    assert told(User.objects.get()) == {"g-research"}
    assert scim.members(group) == {ana}


def test_what_scim_told_runs_out_once_nobody_may_write(scim: Scim, idp: Idp, client: Client) -> None:
    ana = scim.person("ana", externalId="ana-0001")
    scim.group("research", ana)
    scim.provider.scim_credentials.update(ended_at=NOW)
    sign_in(client, idp, attributes={"groups": []})
    assert told(User.objects.get()) == set()
    assert sign_in(client, idp, attributes=OVERAGE).status_code == 302
    assert not GroupClaim.objects.get().is_complete


def test_a_group_that_sign_ins_named_keeps_its_people_when_it_is_provisioned(
    scim: Scim, idp: Idp, client: Client
) -> None:
    sign_in(client, idp, attributes={"groups": ["g-research"]})
    ana, user = scim.person("ana", externalId="ana-0001"), User.objects.get()
    group = scim.group("research")
    assert told(user) == {"g-research"}
    assert scim.members(group) == set(), "that was told in a sign-in alone"
    scim.patch(f"/Groups/{group}", {"op": "Remove", "path": "members", "value": [{"value": ana}]})
    assert told(user) == set()


def test_a_provider_that_is_switched_off_may_prepare(scim: Scim) -> None:
    IdentityProvider.objects.update(enabled=False)
    scim.person("ana")
    assert ScimUser.objects.count() == 1


def test_a_long_name_is_shown_as_far_as_there_is_room_and_told_whole(scim: Scim) -> None:
    ana = scim.person("ana", displayName="n" * 3000)
    assert len(User.objects.get().name) == 200
    assert len(scim.get(f"/Users/{ana}").json()["displayName"]) == 3000


def test_a_membership_given_while_somebody_was_removed_does_not_come_back_with_them(scim: Scim) -> None:
    ana = scim.person("ana")
    scim.group("research")
    scim.ask("DELETE", f"/Users/{ana}")
    group, user = IdpGroup.objects.get(), User.objects.get()
    IdpMembership.objects.create(group=group, user=user, provisioned=True)
    scim.person("ana")
    assert told(user) == set()


def meanwhile(monkeypatch: pytest.MonkeyPatch, **told: Any) -> None:
    """Another request writes the person after this one has read them and before it keeps its row."""
    save = ScimUser.save

    def after_that(row: ScimUser, **how: Any) -> None:
        User.objects.filter(pk=row.user_id).update(**told)
        save(row, **how)

    monkeypatch.setattr(ScimUser, "save", after_that)


def test_whoever_is_made_while_their_removal_ends_may_sign_in(scim: Scim, monkeypatch: pytest.MonkeyPatch) -> None:
    scim.ask("DELETE", f"/Users/{scim.person('ana')}")
    User.objects.update(archived_at=None)
    meanwhile(monkeypatch, archived_at=NOW)
    scim.person("ana")
    assert User.objects.get().is_active


def test_whoever_is_switched_off_while_they_are_let_in_stays_out(scim: Scim, monkeypatch: pytest.MonkeyPatch) -> None:
    key = scim.person("ana")
    User.objects.update(archived_at=NOW)
    meanwhile(monkeypatch, archived_at=None)
    scim.patch(f"/Users/{key}", active("active", False))
    assert not User.objects.get().is_active


def test_every_write_takes_rows_before_users(scim: Scim) -> None:
    key = scim.person("ana")
    scim.ask("DELETE", f"/Users/{key}")
    for write in (
        lambda: scim.person("ana"),
        lambda: scim.patch(f"/Users/{ScimUser.objects.get().pk}", active("active", False)),
        lambda: scim.patch(
            f"/Users/{ScimUser.objects.get().pk}", {"op": "replace", "path": "externalId", "value": "b"}
        ),
    ):
        with CaptureQueriesContext(connection) as asked:
            write()
        written = [each["sql"] for each in asked if each["sql"].startswith(("INSERT", "UPDATE"))]
        rows = [number for number, sql in enumerate(written) if '"accounts_scimuser"' in sql[:40]]
        people = [number for number, sql in enumerate(written) if sql.startswith('UPDATE "accounts_user"')]
        assert people, "or this proves nothing"
        assert max(rows) < min(people)


ORDER = ("scimuser", "groupclaim", "idpmembership", "user")


def order_of(asked: CaptureQueriesContext) -> list[int]:
    """Which tables were written, one after the other, by their place in ORDER; Users that are new wait for nobody."""
    found = (re.match(r'(INSERT INTO|UPDATE|DELETE FROM) "accounts_(\w+)"', each["sql"]) for each in asked)
    written = [each.groups() for each in found if each and each.groups() != ("INSERT INTO", "user")]
    return [ORDER.index(table) for _, table in written if table in ORDER]


def test_sign_ins_and_scim_write_in_one_order(scim: Scim, idp: Idp, client: Client) -> None:
    scim.group("research", scim.person("ana"))
    IdpMembership.objects.update(provisioned=False)
    ScimUser.objects.all().delete()
    with CaptureQueriesContext(connection) as asked:
        sign_in(client, idp, name_id="oid-ana", attributes={"displayName": ["Ana Lima"], "groups": []})
    assert order_of(asked) == sorted(order_of(asked))
    assert set(order_of(asked)) == {1, 2, 3}
    with CaptureQueriesContext(connection) as asked:
        scim.person("ana")
    assert order_of(asked) == sorted(order_of(asked))
    assert set(order_of(asked)) == {0, 1, 3}
