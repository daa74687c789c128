"""SCIM requests for the same people and groups at the same moment, on PostgreSQL with two web processes."""

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from tests.accounts.scim.client import GROUP, PATCH, person
from tests.servers import postgresql
from tests.services.portal import RunningPortal

pytestmark = pytest.mark.services

AT_ONCE, PEOPLE = 8, 40
Send = Callable[..., requests.Response]


@pytest.fixture(scope="module")
def send(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Send]:
    """To the running portal, as the provider's client."""
    folder: Path = tmp_path_factory.mktemp("portal")
    (folder / "setup.yaml").write_text(yaml.safe_dump({"identity_providers": {"corp": {"name": "Corp"}}}))
    with postgresql() as database:
        running = RunningPortal(folder, database, "filesystem://localhost")
        running.environment["PORTAL_WEB_PROCESSES"] = "2"
        try:
            running.migrate()
            running.manage("import_setup", str(folder / "setup.yaml"))
            secret = running.manage("scim_token", "make", "corp").strip()
            running.start("web")

            def ask(method: str, path: str, body: Any = None) -> requests.Response:
                headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/scim+json"}
                url = f"http://127.0.0.1:{running.web_port}/scim/v2{path}"
                return requests.request(method, url, json=body, headers=headers, timeout=60)

            yield ask
        finally:
            running.stop_all()


def at_once(work: Callable[[Any], requests.Response], tasks: list[Any]) -> list[int]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [answer.status_code for answer in pool.map(work, tasks)]


def patch(*operations: dict[str, Any]) -> dict[str, Any]:
    return {"schemas": [PATCH], "Operations": list(operations)}


def test_one_of_many_makes_somebody(send: Send) -> None:
    statuses = at_once(lambda body: send("POST", "/Users", body), [person("once")] * AT_ONCE)
    assert sorted(statuses) == [201, *[409] * (AT_ONCE - 1)]


def test_no_change_of_one_person_is_lost(send: Send) -> None:
    path = f"/Users/{send('POST', '/Users', person('changed')).json()['id']}"
    names = (
        "title",
        "nickName",
        "locale",
        "timezone",
        "userType",
        "preferredLanguage",
        "name.middleName",
        "displayName",
    )
    changes = [patch({"op": "Add", "path": name, "value": "told"}) for name in names]
    assert set(at_once(lambda body: send("PATCH", path, body), changes)) == {204}
    found = send("GET", path).json()
    found["name.middleName"] = found["name"]["middleName"]
    assert {found[name] for name in names} == {"told"}


def test_no_change_of_one_groups_members_is_lost(send: Send) -> None:
    people = [send("POST", "/Users", person(f"member-{number}")).json()["id"] for number in range(PEOPLE)]
    body = {"schemas": [GROUP], "displayName": "Research", "members": [{"value": each} for each in people[::2]]}
    path = f"/Groups/{send('POST', '/Groups', body).json()['id']}"
    changes = [patch({"op": "Remove", "path": "members", "value": [{"value": each}]}) for each in people[::2]]
    changes += [patch({"op": "Add", "path": "members", "value": [{"value": each}]}) for each in people[1::2]]
    random.Random(1).shuffle(changes)
    assert set(at_once(lambda body: send("PATCH", path, body), changes)) == {204}
    assert {each["value"] for each in send("GET", path).json()["members"]} == set(people[1::2])
