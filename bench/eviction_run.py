"""One database's part of `bench.evictions`: fills it, measures, and tells. Needs Django's settings."""

import statistics
import time
from collections.abc import Mapping
from typing import Final

import requests
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from bench import crowd, eviction_crowd
from bench.eviction_storm import COUNT, PEOPLE, Storm, amiss, quiet, send_the_rest, storm
from bench.figures import Figures
from bench.page_costs import costs, queries_of
from bench.page_run import kept_fresh
from bench.page_visits import Page, cookie, of_team
from bench.web import Web
from notices.models import Delivery, Message
from tests.sinks import MailSink
from tests.worlds import World

OTHERS, ROUNDS, QUIET_SECONDS = 2_000, 3, 10

PAGES: Final[Mapping[str, Page]] = {
    "evictions": of_team("evictions/"),
    "evictions, to the admin": Page(crowd.ADMIN, of_team("evictions/").path),
    "evictions, last page": of_team("evictions/?page=9999"),
    "evictions, filtered": of_team("evictions/?q=evicted-1&reason=InCohortReclamation&time=30d"),
    "evictions, by loss": of_team("evictions/?sort=lost"),
    "evictions, with sums by week": of_team("evictions/?sums=week"),
    "evictions, with sums by GPU type": of_team("evictions/?sums=flavor"),
    "lost panel": of_team("lost/"),
}
CSV: Final = of_team("evictions.csv")


def settle() -> World:
    call_command("migrate", verbosity=0)
    world = crowd.settle(timezone.now())
    crowd.fill(world, range(OTHERS))
    eviction_crowd.evict(world.cluster, world.now)
    crowd.analyse()
    world.is_read()
    return world


def tell_costs(web: Web, figures: Figures) -> None:
    """With one process: CPU times and queries."""
    print(f"{connection.vendor}: {crowd.TEAMS} teams, one of them with {eviction_crowd.COUNT} evictions", flush=True)
    queries = {name: queries_of(page) for name, page in PAGES.items()}
    with kept_fresh(), web.running(processes=1), requests.Session() as session:
        session.trust_env = False
        found = costs(web, session, PAGES, PAGES, ROUNDS)
        first = _first_piece(web, session)
    empty = found.pop("empty page").cpu_ms
    print(f"empty page: {empty:.1f} ms CPU")
    for name, cost in found.items():
        figures.tell(
            f"{name}, {cost.cpu_ms:.1f} ms CPU, {cost.wall_ms:.0f} ms",
            cost.cpu_ms / empty,
            15 if name in queries else 1,
        )
        if name in queries:
            figures.tell(f"{name}, queries", queries[name], 12)
    figures.tell("CSV, seconds to its first row", first, 1)


def _first_piece(web: Web, session: requests.Session) -> float:
    begun = time.monotonic()
    with session.get(web.address + CSV.path, headers=cookie(CSV.username), stream=True, timeout=60) as answer:
        lines = answer.iter_lines()
        assert next(lines).startswith(b"decided_at") and next(lines)
        return time.monotonic() - begun


def tell_storm(web: Web, world: World, mails: MailSink, seconds: int, figures: Figures) -> None:
    """With the compose file's number of processes: pages without evictions, and while a thousand come."""
    with kept_fresh(), web.running(processes=2):
        before = quiet(web, QUIET_SECONDS)
        found = storm(web, world, seconds)
        before += quiet(web, QUIET_SECONDS)
    _tell_pages(before, found, figures)
    _tell_notices(found, mails, figures)


def _tell_pages(before: list[float], found: Storm, figures: Figures) -> None:
    without, during = (statistics.quantiles(waits, n=20)[18] for waits in (before, found.waits))
    told = f"team page, p95 {during * 1000:.0f} ms with evictions and {without * 1000:.0f} ms without"
    figures.tell(told, during / without, 1.5)


def _tell_notices(found: Storm, mails: MailSink, figures: Figures) -> None:
    figures.tell("seconds of evictions", found.took, 60.5)
    figures.tell("evictions", found.evictions, COUNT, COUNT)
    send_the_rest()
    for what, count in amiss().items():
        figures.tell(what, count, 0)
    figures.tell("mails for each message", len(mails.got) / Message.objects.count(), 1, 1)
    print(f"{Message.objects.count()} messages of {Delivery.objects.count()} notices to {len(PEOPLE)} people")
