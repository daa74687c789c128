"""What is too much to be read is refused before it is read, what clients send is not."""

from collections.abc import Iterator
from typing import Any

import pytest
from scim2_models.path import grammar

from tests.accounts.scim.client import PATCH, Scim, person

pytestmark = pytest.mark.django_db


def anyone(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012}"


def removal(number: int, *, terms: int = 1) -> dict[str, str]:
    named = " or ".join(f'value eq "{anyone(number + term)}"' for term in range(terms))
    return {"op": "Remove", "path": f"members[{named}]"}


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Long texts that the parser was given."""
    found: list[str] = []
    kept = grammar._depth

    def depth(tree: Any) -> Any:
        found.append(str(tree))
        return kept(tree)

    monkeypatch.setattr(grammar, "_depth", depth)
    return found


@pytest.mark.parametrize("kind", ["Users", "Groups"])
@pytest.mark.parametrize("name", ["filter", "Filter"])
def test_a_long_filter_is_refused_unread(corp: Scim, parsed: list[str], kind: str, name: str) -> None:
    text = " or ".join(f'id eq "{anyone(number)}"' for number in range(3000))
    answer = corp.post(f"/{kind}/.search", {name: text})
    assert (answer.status_code, answer.json()["scimType"]) == (400, "invalidFilter")
    if name == "filter":
        assert corp.get(f"/{kind}", filter=text[:2001]).json()["scimType"] == "invalidFilter"
    assert parsed == []


def test_a_filter_of_a_page_of_people_is_answered(corp: Scim) -> None:
    ana = corp.person("ana")
    ids = [ana, *(anyone(number) for number in range(39))]
    found = corp.get("/Users", filter=" or ".join(f'id eq "{each}"' for each in ids)).json()
    assert [each["id"] for each in found["Resources"]] == [ana]


@pytest.mark.parametrize(
    "operations",
    [
        [removal(0, terms=1200)],
        [removal(number) for number in range(1001)],
        [{"op": "Add", "value": {f'emails[type eq "{number}"].value': "x" for number in range(1000)}}],
        [{"op": "Add", "value": {f'emails[type eq "{"x" * 60_000}"].value': "x"}}],
        [{"OP": "Add", "PATH": "title", "VALUE": "x"}] * 1001,
        [{"op": "Add", "value": {}}] * 1001,
    ],
    ids=["one long path", "many paths", "many names", "a long name", "another case", "nothing"],
)
@pytest.mark.parametrize("kind", ["Users", "Groups"])
def test_a_patch_of_too_many_paths_is_refused_unread(
    corp: Scim, parsed: list[str], kind: str, operations: list[Any]
) -> None:
    key = corp.person("ana") if kind == "Users" else corp.group("research")
    parsed.clear()
    answer = corp.patch(f"/{kind}/{key}", *operations)
    assert (answer.status_code, answer.json()["scimType"]) == (400, "tooMany")
    assert parsed == []


def test_a_thousand_members_are_removed_one_by_one(corp: Scim) -> None:
    ana, bia = corp.person("ana"), corp.person("bia")
    group = corp.group("research", ana, bia)
    gone = {"op": "Remove", "path": f'members[value eq "{bia}"]'}
    assert corp.patch(f"/Groups/{group}", *(removal(number) for number in range(999)), gone).status_code == 204
    assert corp.members(group) == {ana}


def emails(number: int) -> list[dict[str, str]]:
    return [{"value": f"ana{each}@example.com"} for each in range(number)]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_somebody_of_very_many_values_is_refused_unread(corp: Scim, method: str) -> None:
    """Each value costs whenever they are read again: eighty thousand cost twenty seconds of every list."""
    ana = corp.person("ana")
    before = corp.get(f"/Users/{ana}").json()
    many = [{"op": "Add", "path": "emails", "value": emails(1200)}]
    told = {"schemas": [PATCH], "Operations": many} if method == "PATCH" else person("bia", emails=emails(1200))
    answer = corp.ask(method, "/Users" if method == "POST" else f"/Users/{ana}", told)
    assert (answer.status_code, "32000 bytes" in answer.json()["detail"]) == (413, True)
    assert corp.get("/Users").json()["Resources"] == [before]


def test_nobody_grows_by_small_changes_without_end(corp: Scim) -> None:
    ana = corp.person("ana", emails=emails(800))
    before = corp.get(f"/Users/{ana}").json()
    answer = corp.patch(f"/Users/{ana}", {"op": "Add", "path": "addresses", "value": [{"formatted": "x" * 9000}]})
    assert (answer.status_code, answer.json()["scimType"]) == (400, "invalidValue")
    assert corp.get(f"/Users/{ana}").json() == before


def test_a_person_is_changed_in_a_hundred_places_at_once_and_no_more(corp: Scim) -> None:
    ana = corp.person("ana")
    change = {"op": "Replace", "path": "title", "value": "Engineer"}
    assert corp.patch(f"/Users/{ana}", *[change] * 100).status_code == 204
    assert corp.patch(f"/Users/{ana}", *[change] * 101).json()["scimType"] == "tooMany"


def test_a_group_may_be_long(corp: Scim) -> None:
    people = [corp.person(f"p{number}") for number in range(3)]
    group = corp.group("research", *people * 400)
    assert corp.members(group) == set(people)
