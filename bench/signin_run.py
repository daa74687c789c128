"""The sign-ins of `bench.signin`. Needs Django's settings."""

import re
import statistics
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from django.core.management import call_command
from django.utils import timezone

from accounts.models import IdentityProvider, IdpMembership
from bench.figures import Figures
from bench.web import Web, cpu_seconds
from tests.accounts.saml.idp import Idp, key_pair, metadata
from tests.accounts.saml.over_http import SignIn

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


def tell_many_at_once(idp: Idp, figures: Figures) -> None:
    """All of it at once, the first request included."""
    people = [SignIn(idp, f"one-{number:03}", _groups(20)) for number in range(AT_ONCE)]

    def whole(person: SignIn) -> bool:
        person.ask()
        person.arrive()
        return person.is_in()

    failed = sum(not entered for entered in _in_parallel(AT_ONCE, whole, people))
    figures.tell(f"sign-ins that failed of {AT_ONCE} at once", failed, 0, 0)


def tell_few_at_a_time(web: Web, idp: Idp, figures: Figures) -> None:
    people = [SignIn(idp, f"two-{number:03}", _groups(20)) for number in range(IN_TURN)]
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
        people = [SignIn(idp, f"three-{number}", _groups(GROUPS, start)) for number in range(PEOPLE)]
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
