"""What Entra ID sends in its initial and later cycles, one step after the other."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest

from accounts.models import User
from tests.accounts.scim.client import ENTERPRISE, GROUP, LIST, USER, Scim, person

pytestmark = pytest.mark.django_db

Step = tuple[str, Callable[[], Any]]


class Cycle:
    """`ana`, `bia`, `group`: ids as they become known."""

    def __init__(self, scim: Scim) -> None:
        self.scim = scim
        self.ana = self.bia = self.group = ""

    def steps(self) -> Iterator[Step]:
        yield from self._connection()
        yield from self._people()
        yield from self._changes()
        yield from self._groups()
        yield from self._leaving()

    def _connection(self) -> Iterator[Step]:
        yield "Test Connection asks for nobody", lambda: self.nobody(f'userName eq "{uuid4()}"')
        yield "reads the schemas", lambda: self.scim.get("/Schemas").json()["totalResults"] == 3
        yield "reads the configuration", lambda: self.scim.get("/ServiceProviderConfig").json()["patch"]["supported"]
        yield "reads the resource types", lambda: self.scim.get("/ResourceTypes").json()["totalResults"] == 2

    def _people(self) -> Iterator[Step]:
        yield "looks for Ana by userName", lambda: self.nobody('userName eq "ana@example.com"')
        yield "looks for Ana by externalId", lambda: self.nobody('externalId eq "oid-ana"')
        yield "makes Ana", lambda: self.made("ana", person("ana"))
        yield "finds her by a userName of another case", lambda: self.only('userName eq "ANA@example.COM"', self.ana)
        yield "finds her by externalId", lambda: self.only('externalId eq "oid-ana"', self.ana)
        yield "externalId is exact", lambda: self.nobody('externalId eq "OID-ANA"')
        yield "finds her by work e-mail", lambda: self.only(WORK.format("ana@mail.example.com"), self.ana)
        yield (
            "finds her by both",
            lambda: self.only('userName eq "ana@example.com" and externalId eq "oid-ana"', self.ana),
        )
        yield "gets back what it sent", lambda: self.echoes(self.ana, person("ana"))
        yield "makes her once", lambda: self.scim.post("/Users", person("ana")).json()["scimType"] == "uniqueness"
        yield "makes Bia, active as a text", lambda: self.made("bia", person("bia", active="True"))
        yield "her state is a boolean", lambda: self.user(self.bia)["active"] is True

    def _changes(self) -> Iterator[Step]:
        yield "renames her", lambda: self.change(self.ana, replace("displayName", "Ana S."), displayName="Ana S.")
        yield "changes the work e-mail", lambda: self.change(self.ana, replace(WORK_PATH, "Ana.S@Example.com"))
        yield "finds her by the new one", lambda: self.only(WORK.format("ana.s@example.com"), self.ana)
        yield "not by the old one", lambda: self.nobody(WORK.format("ana@mail.example.com"))
        yield "adds a phone that was not there", lambda: self.change(self.ana, add(PHONE_PATH, "+55 11 5555"))
        yield "it is there", lambda: self.user(self.ana)["phoneNumbers"] == [{"type": "mobile", "value": "+55 11 5555"}]
        yield (
            "adds several without a path, keys dotted",
            lambda: self.change(
                self.ana, {"op": "Add", "value": {"name.givenName": "Ana M.", "title": "Engineer"}}, title="Engineer"
            ),
        )
        yield "the other part of her name stays", lambda: self.user(self.ana)["name"] == NAME
        yield (
            "adds by a full URN without a path",
            lambda: self.change(self.ana, {"op": "Add", "value": {f"{ENTERPRISE}:department": "Research"}}),
        )
        yield "adds by a full URN as path", lambda: self.change(self.ana, add(f"{ENTERPRISE}:employeeNumber", "7"))
        yield (
            "both are there",
            lambda: self.user(self.ana)[ENTERPRISE] == {"department": "Research", "employeeNumber": "7"},
        )
        yield "says who leads her, by id alone", lambda: self.change(self.ana, add(f"{ENTERPRISE}:manager", self.bia))
        yield "it is told", lambda: self.user(self.ana)[ENTERPRISE]["manager"]["value"] == self.bia
        yield "takes that back", lambda: self.change(self.ana, {"op": "Remove", "path": f"{ENTERPRISE}:manager"})
        yield "changes userName", lambda: self.change(self.ana, replace("userName", "ana.s@example.com"))
        yield "not into another's", lambda: self.patch(self.ana, replace("userName", "BIA@example.com")) == 409

    def _groups(self) -> Iterator[Step]:
        without = {"excludedAttributes": "members"}
        yield "looks for the group", lambda: self.found("/Groups", filter='displayName eq "Research"', **without) == []
        yield "makes the group", lambda: self.make_group()
        yield (
            "finds it without members",
            lambda: self.group_alone(
                self.scim.get("/Groups", filter='displayName eq "RESEARCH"', **without).json()["Resources"][0]
            ),
        )
        yield "reads it without members", lambda: self.group_alone(self.scim.get(self.at_group, **without).json())
        yield (
            "adds members, answered without a body",
            lambda: self.members_patch(
                {"op": "Add", "path": "members", "value": [{"value": self.ana}, {"value": self.bia}]}
            ),
        )
        yield "both are in it", lambda: self.scim.members(self.group) == {self.ana, self.bia}
        yield "adding once more changes nothing", lambda: self.members_patch(add("members", [{"value": self.ana}]))
        yield "nobody unknown is added", lambda: self.group_patch(add("members", [{"value": str(uuid4())}])) == 400
        yield (
            "removes by a list of values",
            lambda: self.members_patch(
                {"op": "Remove", "path": "members", "value": [{"$ref": None, "value": self.ana}]}
            ),
        )
        yield "the other stays", lambda: self.scim.members(self.group) == {self.bia}
        yield (
            "removes by a filter",
            lambda: self.members_patch({"op": "Remove", "path": f'members[value eq "{self.bia}"]'}),
        )
        yield "nobody is in it", lambda: self.scim.members(self.group) == set()
        yield "puts Bia back", lambda: self.members_patch(add("members", [{"value": self.bia}]))
        yield (
            "removing a list of nobody removes nobody",
            lambda: self.members_patch({"op": "Remove", "path": "members", "value": []}),
        )
        yield "she is still in it", lambda: self.scim.members(self.group) == {self.bia}
        yield "renames it", lambda: self.group_patch(replace("displayName", "Research 2")) == 204
        yield "it is found by the new name", lambda: self.found("/Groups", filter='displayName eq "research 2"') != []

    def _leaving(self) -> Iterator[Step]:
        yield "switches Bia off, as a text", lambda: self.change(self.bia, replace("active", "False"), active=False)
        yield "she is found all the same", lambda: self.only('externalId eq "oid-bia"', self.bia)
        yield "she may not sign in", lambda: not self.portal_user("bia").is_active
        yield "switches her on again", lambda: self.change(self.bia, replace("active", True), active=True)
        yield "she may sign in", lambda: self.portal_user("bia").is_active
        yield "deletes her", lambda: self.scim.ask("DELETE", f"/Users/{self.bia}").status_code == 204
        yield "she is gone", lambda: self.scim.get(f"/Users/{self.bia}").status_code == 404
        yield "she cannot be deleted twice", lambda: self.scim.ask("DELETE", f"/Users/{self.bia}").status_code == 404
        yield "from her group, too", lambda: self.scim.members(self.group) == set()
        yield "deletes the group", lambda: self.scim.ask("DELETE", self.at_group).status_code == 204
        yield "it is gone", lambda: self.scim.get(self.at_group).status_code == 404

    @property
    def at_group(self) -> str:
        return f"/Groups/{self.group}"

    def found(self, path: str, **query: str) -> list[Any]:
        answer = self.scim.get(path, **query)
        assert answer.status_code == 200
        body = answer.json()
        assert body["schemas"] == [LIST]
        assert body["totalResults"] == len(body.get("Resources", []))
        return list(body.get("Resources", []))

    def nobody(self, text: str) -> bool:
        return self.found("/Users", filter=text) == []

    def only(self, text: str, key: str) -> bool:
        return [each["id"] for each in self.found("/Users", filter=text)] == [key]

    def made(self, name: str, body: Any) -> bool:
        answer = self.scim.post("/Users", body)
        assert answer.status_code == 201, answer.content
        setattr(self, name, answer.json()["id"])
        return bool(answer["Location"].endswith(f"/scim/v2/Users/{answer.json()['id']}"))

    def user(self, key: str) -> dict[str, Any]:
        return dict(self.scim.get(f"/Users/{key}").json())

    def echoes(self, key: str, sent: dict[str, Any]) -> bool:
        told = self.user(key)
        kept = set(sent) - {"schemas", "meta", "roles"}
        return {name: told[name] for name in kept} == {name: sent[name] for name in kept} and USER in told["schemas"]

    def patch(self, key: str, *operations: Any) -> int:
        return int(self.scim.patch(f"/Users/{key}", *operations).status_code)

    def change(self, key: str, operation: Any, **expected: Any) -> bool:
        return self.patch(key, operation) in (200, 204) and expected.items() <= self.user(key).items()

    def make_group(self) -> bool:
        body = {"schemas": [GROUP], "externalId": "oid-group", "displayName": "Research", "members": []}
        answer = self.scim.post("/Groups", body | {"meta": {"resourceType": "Group"}})
        self.group = answer.json()["id"]
        return bool(answer.status_code == 201)

    def group_alone(self, told: dict[str, Any]) -> bool:
        return told["id"] == self.group and "members" not in told and told["externalId"] == "oid-group"

    def group_patch(self, *operations: Any) -> int:
        return int(self.scim.patch(self.at_group, *operations).status_code)

    def members_patch(self, operation: Any) -> bool:
        answer = self.scim.patch(self.at_group, operation)
        return bool(answer.status_code == 204 and answer.content == b"")

    def portal_user(self, name: str) -> User:
        return User.objects.get(username=f"corp:oid-{name}")


WORK = 'emails[type eq "work"].value eq "{}"'
WORK_PATH = 'emails[type eq "work"].value'
PHONE_PATH = 'phoneNumbers[type eq "mobile"].value'
NAME = {"formatted": "Ana Silva", "familyName": "Silva", "givenName": "Ana M."}


def add(path: str, value: Any) -> dict[str, Any]:
    return {"op": "Add", "path": path, "value": value}


def replace(path: str, value: Any) -> dict[str, Any]:
    return {"op": "Replace", "path": path, "value": value}


def test_every_step_of_entra_is_answered_as_it_expects(corp: Scim) -> None:
    outcomes = {name: step() for name, step in Cycle(corp).steps()}
    assert [name for name, passed in outcomes.items() if not passed] == []
    assert len(outcomes) >= 42
