"""The sign-ins of `bench.signin`. Needs Django's settings."""

import re
import statistics
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

import requests
from django.core.management import call_command
from django.utils import timezone

from accounts.models import IdentityProvider, IdpMembership
from bench.figures import Figures
from bench.web import Web, cpu_seconds
from tests.accounts.saml.idp import Idp, key_pair, metadata, request_id, sent

AT_ONCE, IN_TURN, AT_A_TIME = 50, 100, 5
GROUPS, PEOPLE = 2000, 3
"""Of each of these people; all of them are others at the second sign-in."""
_SLUG: Final = "corp"
_LINE: Final = re.compile(r"\bms=(\d+) .*request_id=(\w+)")


def connect(web: Web) -> Idp:
    """An identity provider that the portal knows."""
    call_command("migrate", verbosity=0)
    now = timezone.now()
    key, certificate = key_pair(now)
    text = metadata(f"https://{_SLUG}.example.org/idp", [certificate], f"https://{_SLUG}.example.org/sso")
    row = IdentityProvider.objects.create(
        slug=_SLUG, name="Corp", metadata=text, groups_attribute="groups", signs_response=True, enabled=True
    )
    return Idp(row, key, certificate, now, web.address)


@dataclass(slots=True)
class SignIn:
    """One browser's. `ids`: of the requests with which the portal reads the answer and begins the session."""

    web: Web
    idp: Idp
    name_id: str
    groups: Sequence[str]
    session: requests.Session = field(default_factory=requests.Session)
    answer: str = ""
    ids: list[str] = field(default_factory=list)

    def ask(self) -> None:
        """Sent to the identity provider, and by it with an answer to the portal."""
        self.session.trust_env = False
        address = self._got(self._get("login/"))
        said = {"groups": self.groups, "displayName": [self.name_id]}
        response = self.idp.response(request_id(address), name_id=self.name_id, attributes=said)
        self.answer = sent(self.idp.signed(response))

    def arrive(self) -> None:
        """The part that is measured. Raises AssertionError if it fails."""
        form = {"SAMLResponse": self.answer}
        posted = self.session.post(self.idp.acs, data=form, allow_redirects=False, timeout=60)
        assert self._got(posted).endswith("/finish/")
        finished = self._get("finish/")
        assert self._got(finished) == "/"
        self.ids = [each.headers["X-Request-Id"] for each in (posted, finished)]

    def is_in(self) -> bool:
        answer = self.session.get(f"{self.web.address}/me/", allow_redirects=False, timeout=60)
        return answer.status_code == 200 and self.name_id in answer.text

    def _get(self, path: str) -> requests.Response:
        return self.session.get(f"{self.idp.portal}/saml/{_SLUG}/{path}", allow_redirects=False, timeout=60)

    def _got(self, answer: requests.Response) -> str:
        assert answer.status_code == 302, f"{answer.status_code}: {answer.text[:500]}"
        return answer.headers["Location"]


def tell_many_at_once(web: Web, idp: Idp, figures: Figures) -> None:
    """All of it at once, the first request included."""
    people = [SignIn(web, idp, f"one-{number:03}", _groups(20)) for number in range(AT_ONCE)]

    def whole(person: SignIn) -> bool:
        person.ask()
        person.arrive()
        return person.is_in()

    failed = sum(not entered for entered in _in_parallel(AT_ONCE, whole, people))
    figures.tell(f"sign-ins that failed of {AT_ONCE} at once", failed, 0, 0)


def tell_few_at_a_time(web: Web, idp: Idp, figures: Figures) -> None:
    people = [SignIn(web, idp, f"two-{number:03}", _groups(20)) for number in range(IN_TURN)]
    for person in people:
        person.ask()
    before = _cpu_ms(web)
    _in_parallel(AT_A_TIME, SignIn.arrive, people)
    cpu, found = (_cpu_ms(web) - before) / IN_TURN, _server_ms(web, people)
    print(
        f"ACS and finish: {cpu:.0f} ms CPU, {AT_A_TIME} at a time: median {statistics.median(found):.0f} ms", flush=True
    )
    p95 = statistics.quantiles(found, n=20)[18]
    figures.tell(f"ACS and finish, {AT_A_TIME} at a time: p95 in ms", p95, 300)


def tell_many_groups(web: Web, idp: Idp, figures: Figures) -> None:
    """The whole sign-in, of which the membership is the most."""
    for what, start in (("new", 0), ("all others than before", GROUPS)):
        people = [SignIn(web, idp, f"three-{number}", _groups(GROUPS, start)) for number in range(PEOPLE)]
        for person in people:
            person.ask()
            person.arrive()
        assert IdpMembership.objects.filter(user__username__startswith="corp:three").count() == GROUPS * PEOPLE
        figures.tell(f"ACS and finish with {GROUPS} groups, {what}: most ms", max(_server_ms(web, people)), 1000)


def _groups(count: int, start: int = 0) -> list[str]:
    return [f"00000000-0000-0000-0000-{number:012}" for number in range(start, start + count)]


def _in_parallel(threads: int, work: Any, people: Sequence[SignIn]) -> list[Any]:
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, people))


def _cpu_ms(web: Web) -> float:
    return sum(cpu_seconds(pid) for pid in web.workers) * 1000


def _server_ms(web: Web, people: Sequence[SignIn]) -> list[int]:
    """Of each sign-in, as the server's log has it."""
    took = {found[2]: int(found[1]) for line in web.lines("web").splitlines() if (found := _LINE.search(line))}
    return [sum(took[each] for each in person.ids) for person in people]
