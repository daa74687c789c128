"""Who may ask, and what is answered to whatever cannot be understood."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone

from accounts.models import RequestCount, ScimCredential, User
from accounts.scim import views
from tests.accounts.scim.client import GROUP, LIST, PATCH, USER, Scim, person, scim_of

pytestmark = pytest.mark.django_db


def wrong(scim: Scim, secret: str) -> Scim:
    return Scim(scim.provider, secret)


def test_nobody_is_told_anything_without_a_secret(corp: Scim) -> None:
    corp.person("ana")
    for path in ("/Users", "/Groups", "/Schemas", "/ServiceProviderConfig", "/nothing", "/"):
        response = wrong(corp, "scim_nonsense").get(path)
        assert response.status_code == 401
        assert response["WWW-Authenticate"].startswith("Bearer")
        assert b"ana" not in response.content


def test_wrong_secrets_are_slowed_down_and_right_ones_are_not(corp: Scim, monkeypatch: Any) -> None:
    monkeypatch.setattr(views, "_WRONG", views.Limit("scim_wrong", 3))
    with time_machine.travel(timezone.now().replace(second=20, microsecond=0), tick=False):
        answers = [wrong(corp, "scim_x").get("/Users") for _ in range(5)]
        assert [each.status_code for each in answers] == [401, 401, 401, 429, 429]
        assert answers[-1]["Retry-After"] == "40"
        assert corp.get("/Users").status_code == 200


def test_a_secret_that_is_shown_too_often_waits_and_others_do_not(corp: Scim, other: Scim) -> None:
    with time_machine.travel(timezone.now().replace(second=20, microsecond=0), tick=False) as clock:
        assert corp.post("/Users", person("ana")).status_code == 201
        RequestCount.objects.update(count=999)
        clock.shift(timedelta(seconds=7))
        assert corp.get("/Users").status_code == 200
        answer = corp.post("/Users", person("bia"))
        assert (answer.status_code, answer["Retry-After"]) == (429, "3")
        assert other.get("/Users").status_code == 200
        assert scim_of(corp.provider).get("/Users").status_code == 200
        assert not User.objects.filter(username="corp:oid-bia").exists()
        clock.shift(timedelta(seconds=3))
        assert corp.post("/Users", person("bia")).status_code == 201


def test_far_more_than_entra_sends_is_answered() -> None:
    assert views._RIGHT.most / views._RIGHT.seconds >= 4 * 25


def test_a_secret_that_has_expired_or_was_ended_is_a_wrong_one(corp: Scim) -> None:
    with time_machine.travel(timezone.now() + timedelta(days=1, seconds=1)):
        assert corp.get("/Users").status_code == 401
    assert corp.get("/Users").status_code == 200
    ScimCredential.objects.update(ended_at=timezone.now())
    assert corp.get("/Users").status_code == 401


def test_a_secret_for_reading_writes_nothing(corp: Scim) -> None:
    ana = corp.person("ana")
    reader = scim_of(corp.provider, ScimCredential.Scope.READ)
    assert reader.get(f"/Users/{ana}").status_code == 200
    assert reader.ask("POST", "/Users/.search", {"filter": 'userName eq "ana@example.com"'}).json()["totalResults"] == 1
    for method, path in (("POST", "/Users"), ("PUT", f"/Users/{ana}"), ("PATCH", f"/Users/{ana}")):
        assert reader.ask(method, path, person("bia")).status_code == 403
    assert reader.ask("DELETE", f"/Users/{ana}").status_code == 403


def test_a_session_is_no_secret(corp: Scim, django_user_model: Any) -> None:
    client = Client()
    client.force_login(django_user_model.objects.create(username="ana", name="Ana", created_at=timezone.now()))
    assert client.get("/scim/v2/Users").status_code == 401


MALFORMED = (
    b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 5000, b'{"userName": "\\ud800"}', b'{"userName": 5}',
    b'{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "a\\u0000b"}',
    b'{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": ""}',
    b'{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": null}',
    b'{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "x", "active": "perhaps"}',
    b'{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "x", "emails": "a@example.com"}',
    b'{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "x", "externalId": {}}',
    b'{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "' + b"x" * 257 + b'"}',
    b'{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "x", "externalId": "' + b"x" * 300 + b'"'
    b"}",
)  # fmt: skip


@pytest.mark.parametrize("body", MALFORMED, ids=range(len(MALFORMED)))
@pytest.mark.parametrize("kind", ["Users", "Groups"])
def test_malformed_bodies_are_refused(corp: Scim, body: bytes, kind: str) -> None:
    key = corp.person("ana") if kind == "Users" else corp.group("research")
    assert 400 <= corp.ask("POST", f"/{kind}", body).status_code < 500
    assert 400 <= corp.ask("PUT", f"/{kind}/{key}", body).status_code < 500
    assert 400 <= corp.ask("PATCH", f"/{kind}/{key}", body).status_code < 500


OPERATIONS: tuple[Any, ...] = (
    5, "x", {}, {"op": "Steal"}, {"op": "Add"}, {"op": "Remove"}, {"op": "Add", "path": "userName", "value": ["x"]},
    {"op": "Replace", "path": "id", "value": "x"}, {"op": "Add", "path": "emails[", "value": "x"},
    {"op": "Add", "path": 5, "value": "x"}, {"op": "Add", "value": "x"}, {"op": "Add", "value": ["x"]},
    {"op": "Remove", "path": "userName"}, {"op": "Remove", "path": "displayName", "value": [5]},
)  # fmt: skip


@pytest.mark.parametrize("operation", OPERATIONS, ids=range(len(OPERATIONS)))
def test_operations_that_mean_nothing_are_refused(corp: Scim, operation: Any) -> None:
    before = corp.get(f"/Users/{corp.person('ana')}").json()
    assert 400 <= corp.patch(f"/Users/{before['id']}", operation).status_code < 500
    assert corp.get(f"/Users/{before['id']}").json() == before


MEMBER_OPERATIONS: tuple[Any, ...] = (
    {"op": "Add", "path": "members", "value": "x"}, {"op": "Add", "path": "members", "value": [{}]},
    {"op": "Add", "path": "members", "value": ["x"]}, {"op": "Add", "path": "members", "value": [{"value": 5}]},
    {"op": "Add", "path": "members", "value": [{"value": "x"}]}, {"op": "Remove", "path": "members", "value": None},
    {"op": "Remove", "path": "members", "value": [{}]}, {"op": "Remove", "path": "members", "value": [{"value": None}]},
    {"op": "Remove", "path": 'members[display eq "x"]'}, {"op": "Remove", "path": 'members[value sw ""]'},
    {"op": "Remove", "path": "members.value"}, {"op": "Add", "path": 'members[value eq "x"]', "value": {"value": "y"}},
    {"op": "Replace", "path": 'members[value eq "x"].value', "value": "y"}, {"op": "Add", "value": {"members": [7]}},
    {"op": "Remove", "path": "displayName"}, {"op": "Replace", "path": "displayName", "value": ""},
    {"op": "Replace", "path": "displayName", "value": "x" * 201},
)  # fmt: skip


@pytest.mark.parametrize("operation", MEMBER_OPERATIONS, ids=range(len(MEMBER_OPERATIONS)))
def test_operations_on_groups_that_mean_nothing_change_nothing(corp: Scim, operation: Any) -> None:
    ana = corp.person("ana")
    group = corp.group("research", ana)
    assert 400 <= corp.patch(f"/Groups/{group}", operation).status_code < 500
    assert corp.members(group) == {ana}


QUERIES = (
    {"filter": "x"}, {"filter": ""}, {"filter": 'userName co "a"'}, {"filter": "userName pr"},
    {"filter": 'not (userName eq "a")'}, {"filter": 'bogus eq "a"'}, {"filter": "userName eq 5"},
    {"filter": '((((userName eq "a"'}, {"filter": 'emails[type eq "home"].value eq "a"'}, {"filter": "active eq 5"},
    {"filter": 'emails[type eq "work" or value eq "x"]'}, {"filter": 'emails[type eq "work"]'},
    {"count": "x"}, {"startIndex": "x"}, {"startIndex": "9" * 5000},
    {"sortBy": "nickName"}, {"sortBy": "["}, {"attributes": "["},
    {"cursor": "x"},
)  # fmt: skip


@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
def test_queries_that_cannot_be_answered_are_refused(corp: Scim, query: dict[str, str]) -> None:
    corp.person("ana")
    response = corp.get("/Users", **query)
    assert 400 <= response.status_code <= 501
    assert response.status_code != 500


@pytest.mark.parametrize(
    "query",
    [
        {"startIndex": "9" * 400}, {"startIndex": "-5"}, {"count": "0"}, {"count": "-1"}, {"count": "9" * 400},
        {"filter": 'userName eq "\\u0000"'}, {"filter": 'id eq "x"'}, {"sortBy": "userName", "sortOrder": "descending"},
        {"sortBy": "meta.created"}, {"attributes": "userName"}, {"filter": "active eq true"},
        {"filter": 'active eq "True"'},
        {"filter": 'userName eq "a" or userName eq "b"'}, {"filter": f'{USER}:userName eq "a"'},
    ],
)  # fmt: skip
def test_odd_queries_are_answered(corp: Scim, query: dict[str, str]) -> None:
    corp.person("ana")
    response = corp.get("/Users", **query)
    assert response.status_code == 200
    assert response.json()["schemas"] == [LIST]


@pytest.mark.parametrize(
    "path", ["/Users/x", "/Users/00000000-0000-4000-8000-000000000000", "/nothing", "/Users/x/y", "/Users/%00", "/.x"]
)
def test_what_is_not_there_is_told_in_scims_way(corp: Scim, path: str) -> None:
    assert corp.client.get(f"/scim/v2{path}", headers={"Authorization": f"Bearer {corp.secret}"}).status_code in (
        400, 404,
    )  # fmt: skip


def test_methods_that_do_not_exist_are_told(corp: Scim) -> None:
    assert corp.ask("DELETE", "/Users").status_code == 405
    assert corp.ask("POST", "/Schemas", {}).status_code == 405
    assert corp.ask("BREW", "/Users").status_code == 405
    assert corp.ask("POST", "/Bulk", {}).status_code == 501
    assert corp.get("/Me").status_code == 501


def test_a_body_that_is_too_large_is_refused(corp: Scim, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    assert corp.ask("POST", "/Users", b" " * 1001).status_code == 413


def test_what_fails_within_is_told_without_its_reason(corp: Scim, monkeypatch: Any) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise RuntimeError("secret reason")

    monkeypatch.setattr(views.Handler, "handle", fail)
    response = corp.get("/Users")
    assert response.status_code == 500
    assert b"reason" not in response.content


def test_without_a_database_it_says_when_to_ask_again(corp: Scim) -> None:
    def refuse(*args: Any) -> None:
        raise OperationalError("connection to server at 10.0.0.7 failed")

    with connection.execute_wrapper(refuse):
        answers = [corp.get("/Users"), corp.post("/Users", person("ana")), wrong(corp, "scim_x").get("/Users")]
    assert {(each.status_code, each["Retry-After"]) for each in answers} == {(503, "30")}
    assert b"10.0.0.7" not in b"".join(each.content for each in answers)


def test_addresses_are_the_portals_own_whatever_a_request_says(corp: Scim, settings: Any) -> None:
    settings.PORTAL_ADDRESS = "https://portal.example.org"
    response = corp.ask("GET", f"/Users/{corp.person('ana')}", X_Forwarded_Host="evil.example.net")
    assert response.json()["meta"]["location"].startswith("https://portal.example.org/scim/v2/Users/")


def test_pages_follow_each_other(corp: Scim) -> None:
    people = [corp.person(f"p{number}") for number in range(5)]
    pages = [corp.get("/Users", startIndex=str(start), count="2").json() for start in (1, 3, 5)]
    assert [each["id"] for page in pages for each in page["Resources"]] == people
    assert {page["totalResults"] for page in pages} == {5}


def test_no_answer_is_longer_than_announced(corp: Scim, monkeypatch: Any) -> None:
    for number in range(3):
        corp.person(f"p{number}")
    told = corp.get("/ServiceProviderConfig").json()["filter"]["maxResults"]
    assert told == 200
    assert len(corp.get("/Users", count="100000").json()["Resources"]) == 3
    assert len(corp.get("/Users").json()["Resources"]) == 3


def test_a_version_that_has_passed_changes_nothing(corp: Scim) -> None:
    path = f"/Users/{corp.person('ana')}"
    first = corp.get(path)["ETag"]
    change = {"schemas": [PATCH], "Operations": [{"op": "replace", "path": "title", "value": "Engineer"}]}
    assert corp.ask("PATCH", path, change, If_Match=first).status_code == 204
    assert corp.ask("PATCH", path, change, If_Match=first).status_code == 412
    assert corp.ask("GET", path, If_None_Match=corp.get(path)["ETag"]).status_code == 304
    group = f"/Groups/{corp.group('research')}"
    rename = {"schemas": [PATCH], "Operations": [{"op": "replace", "path": "displayName", "value": "Labs"}]}
    assert corp.ask("PATCH", group, rename, If_Match='W/"7"').status_code == 412


def test_a_group_is_replaced_as_a_whole(corp: Scim) -> None:
    ana, bia = corp.person("ana"), corp.person("bia")
    group = corp.group("research", ana)
    body = {"schemas": [GROUP], "displayName": "Labs", "externalId": "g-research", "members": [{"value": bia}]}
    answer = corp.ask("PUT", f"/Groups/{group}", body)
    assert answer.json()["displayName"] == "Labs"
    assert corp.members(group) == {bia}
    assert corp.get("/Groups", filter=f'id eq "{group}" and members eq "{bia}"').json()["totalResults"] == 1
    assert corp.get("/Groups", filter=f'id eq "{group}" and members eq "{ana}"').json()["totalResults"] == 0


ODD_FILTERS = (
    'userName eq "\\ud800"', 'externalId eq "\\ud800"', "not (" * 20000 + 'userName eq "a"' + ")" * 20000,
    "(" * 20000 + 'userName eq "a"' + ")" * 20000, " and ".join(['userName eq "a"'] * 5000),
    " or ".join(['userName eq "a"'] * 20000),
)  # fmt: skip


@pytest.mark.parametrize("text", ODD_FILTERS, ids=range(len(ODD_FILTERS)))
def test_no_filter_is_too_odd(corp: Scim, text: str) -> None:
    assert corp.ask("POST", "/Users/.search", {"filter": text}).status_code in (200, 400)


@pytest.mark.parametrize("kind", ["\\ud800", "\\u0000", "x" * 100000, '" and not (' * 20000])
def test_no_text_in_a_path_is_kept_that_the_database_refuses(corp: Scim, kind: str) -> None:
    path = f"/Users/{corp.person('ana')}"
    operation = {"op": "Add", "path": f'emails[type eq "{kind}"].value', "value": "ana@example.com"}
    assert corp.patch(path, operation).status_code in (204, 400)
    assert corp.get(path).status_code == 200


def test_a_group_with_several_of_those_asked_for_is_listed_once(corp: Scim) -> None:
    ana, bia = corp.person("ana"), corp.person("bia")
    both, one = corp.group("both", ana, bia), corp.group("one", ana)
    for how, expected in (("or", {both, one}), ("and", {both})):
        found = corp.get("/Groups", filter=f'members eq "{ana}" {how} members.value eq "{bia}"').json()
        assert found["totalResults"] == len(found["Resources"]) == len(expected)
        assert {each["id"] for each in found["Resources"]} == expected
