"""What `bench.scim` writes. Needs Django's settings."""

import random
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Final

import requests
from django.core.management import call_command
from django.utils import timezone

from accounts.models import IdentityProvider, IdpMembership, ScimCredential, ScimUser
from accounts.scim.credentials import make_credential
from bench.figures import Figures
from bench.web import Web, cpu_seconds
from tests.accounts.scim.client import GROUP, PATCH, person

PEOPLE, GROUPS, MEMBERS, AT_ONCE = 10_000, 200, 500, 50
"""`AT_ONCE`: members in one PATCH."""
A_SECOND: Final = 25
_THREADS: Final = 8


@dataclass
class ScimClient:
    """`asked`: how many requests so far, `seconds`: how long they took."""

    web: Web
    secret: str
    asked: int = 0
    seconds: float = 0.0
    sessions: threading.local = field(default_factory=threading.local)

    def send(self, method: str, path: str, body: Any) -> Any:
        """As identity providers do: waits where it is told to. Raises AssertionError for whatever is not written."""
        answer = self._ask(method, path, body)
        while answer.status_code == HTTPStatus.TOO_MANY_REQUESTS:
            time.sleep(int(answer.headers["Retry-After"]))
            answer = self._ask(method, path, body)
        assert answer.status_code in (201, 204), f"{answer.status_code}: {answer.text[:500]}"
        return answer.json() if answer.content else None

    def _ask(self, method: str, path: str, body: Any) -> requests.Response:
        session = getattr(self.sessions, "own", None) or requests.Session()
        session.trust_env, self.sessions.own = False, session
        headers = {"Authorization": f"Bearer {self.secret}", "Content-Type": "application/scim+json"}
        return session.request(method, f"{self.web.address}/scim/v2{path}", json=body, headers=headers, timeout=120)

    def patch(self, path: str, *operations: Any) -> None:
        self.send("PATCH", path, {"schemas": [PATCH], "Operations": list(operations)})


def connect(web: Web) -> ScimClient:
    """An identity provider that may write."""
    call_command("migrate", verbosity=0)
    provider = IdentityProvider.objects.create(
        slug="corp", name="Corp", groups_attribute="groups", signs_response=True, enabled=True
    )
    scope, valid = ScimCredential.Scope.WRITE, timedelta(days=1)
    _, secret = make_credential(provider=provider, scope=scope, valid=valid, by="bench", now=timezone.now())
    return ScimClient(web, secret)


def make_people(client: ScimClient) -> list[str]:
    """The ids of new ones."""
    made = _timed(client, "people", lambda n: client.send("POST", "/Users", person(f"p{n}")), range(PEOPLE))
    return [each["id"] for each in made]


def tell_groups(client: ScimClient, people: list[str], figures: Figures) -> dict[str, set[str]]:
    """Members by the id of each new group: requests for one group come close together, in no order."""
    dice = random.Random(1)
    bodies = [{"schemas": [GROUP], "displayName": f"g{n}", "externalId": f"g{n}"} for n in range(GROUPS)]
    made = _timed(client, "groups", lambda body: client.send("POST", "/Groups", body), bodies)
    wanted = {each["id"]: set(dice.sample(people, MEMBERS)) for each in made}
    parts = [(group, part) for group, members in wanted.items() for part in _parts(sorted(members))]
    _timed(client, "members", lambda task: client.patch(f"/Groups/{task[0]}", _members("Add", task[1])), parts)
    figures.tell("members that are lost or doubled", _differences(wanted), 0, 0)
    return wanted


def tell_changes(client: ScimClient, people: list[str], groups: dict[str, set[str]], figures: Figures) -> None:
    """Additions and removals of the same group at the same moment; two changes of the same person, too."""
    dice, tasks = random.Random(2), []
    for group, members in groups.items():
        leaving = dice.sample(sorted(members), AT_ONCE)
        joining = dice.sample(sorted(set(people) - members), AT_ONCE)
        tasks += [(group, _members("Remove", leaving)), (group, _members("Add", joining))]
        groups[group] = members - set(leaving) | set(joining)
    changed = people[:GROUPS]
    _timed(client, "changes of members", lambda task: client.patch(f"/Groups/{task[0]}", task[1]), tasks)
    figures.tell("changes of members that are lost", _differences(groups), 0, 0)
    told = [{"op": "Add", "path": path, "value": "told"} for path in ("title", "nickName")]
    pairs = [(key, each) for key in changed for each in told]
    _timed(client, "changes of people", lambda task: client.patch(f"/Users/{task[0]}", task[1]), pairs)
    kept = ScimUser.objects.filter(pk__in=changed, told__title="told", told__nickName="told").count()
    figures.tell("people of whom a change is lost", len(changed) - kept, 0, 0)
    figures.tell(f"{A_SECOND} requests a second, of those reached", A_SECOND * client.seconds / client.asked, 1)


def _timed(client: ScimClient, what: str, work: Callable[[Any], Any], tasks: Iterable[Any]) -> list[Any]:
    begun, before = time.monotonic(), _cpu(client)
    with ThreadPoolExecutor(_THREADS) as pool:
        done = list(pool.map(work, tasks))
    seconds, cpu = time.monotonic() - begun, _cpu(client) - before
    print(f"{what}: {len(done) / seconds:.0f} requests a second, {cpu * 1000 / len(done):.1f} ms CPU each", flush=True)
    client.asked, client.seconds = client.asked + len(done), client.seconds + seconds
    return done


def _cpu(client: ScimClient) -> float:
    return sum(cpu_seconds(pid) for pid in client.web.workers)


def _members(op: str, ids: Iterable[str]) -> dict[str, Any]:
    return {"op": op, "path": "members", "value": [{"value": each} for each in ids]}


def _parts(ids: list[str]) -> list[list[str]]:
    return [ids[start : start + AT_ONCE] for start in range(0, len(ids), AT_ONCE)]


def _differences(wanted: dict[str, set[str]]) -> int:
    rows = IdpMembership.objects.values_list("group__scim_group__id", "user__scim_user__id")
    found = [(str(group), str(user)) for group, user in rows]
    expected = {(group, user) for group, members in wanted.items() for user in members}
    return len(expected ^ set(found)) + len(found) - len(set(found))
