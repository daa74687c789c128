"""One database's part of `bench.pages`: fills it, counts and measures, and tells. Needs Django's settings."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import requests
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from bench import crowd, page_load
from bench.page_costs import costs, first_load, queries_of
from bench.page_visits import LIVE, PAGES
from bench.web import Web
from portal.models import SourceState

FEW, MANY = 1_000, 100_000
_BEAT_SECONDS, _ROUNDS = 5, 9


def tell_costs(web: Web) -> None:
    """With one process: CPU times, queries, and what a first page loads."""
    few, many = _queries()
    print(f"{connection.vendor}: {crowd.TEAMS} teams, {MANY} workloads", flush=True)
    with kept_fresh(), web.running(processes=1), requests.Session() as session:
        session.trust_env = False
        _tell_ratios(web, session, few, many)
        _tell_first_load(first_load(web, session))


def _queries() -> tuple[dict[str, int], dict[str, int]]:
    """Of each page with few workloads and with many, which are there afterwards."""
    call_command("migrate", verbosity=0)
    world = crowd.settle(timezone.now())
    found = []
    for numbers in (range(FEW), range(FEW, MANY)):
        crowd.fill(world, numbers)
        world.is_read()
        found.append({name: queries_of(page) for name, page in PAGES.items()})
    return found[0], found[1]


def _tell_ratios(web: Web, session: requests.Session, few: Mapping[str, int], many: Mapping[str, int]) -> None:
    found = costs(web, session, PAGES, LIVE, _ROUNDS)
    empty = found["empty page"].cpu_ms
    for name, cost in found.items():
        told = f"{name}: {cost.cpu_ms:.1f} ms CPU, {cost.wall_ms:.1f} ms, {cost.size / 1000:.0f} kB"
        told += f"; ratio {cost.cpu_ms / empty:.2f}"
        if name in PAGES:
            told += f" (must reach 15.00), {many[name]} queries (12), {few[name]} with {FEW} workloads"
        elif name.startswith("304"):
            told += " (must reach 1.00)"
        print(told, flush=True)


def _tell_first_load(sizes: Mapping[str, int]) -> None:
    total = sum(sizes.values())
    parts = ", ".join(f"{Path(path).name.split('.')[0]} {size / 1000:.1f}" for path, size in sizes.items())
    print(f"first load: {total / 1000:.1f} kB of CSS and JS ({parts}), ratio {total / 250_000:.2f} of 250 kB (1.00)")


def tell_load(web: Web, seconds: int) -> None:
    """With the compose file's number of processes: a crowd that polls and looks around."""
    with kept_fresh(), web.running(processes=2):
        load = page_load.run(web, seconds)
    asked = f"{page_load.POLLS} polls and {page_load.VISITS} pages a second for {seconds} s"
    print(f"load: {asked}: {dict(load.statuses)}, {len(load.errors)} errors (0) {load.errors[:2] or ''}")
    p99, known = load.p99_ms(), load.statuses[304] / len(load.waits["poll"])
    print(f"load: {known:.1%} of polls 304; p99 {p99:.0f} ms, ratio {p99 / 300:.2f} of 300 ms (1.00); "
          f"polls {load.p99_ms('poll'):.0f} ms, pages {load.p99_ms('page'):.0f} ms")  # fmt: skip
    print(f"load: a process holds {load.most_memory:.0f} MB at most (250), {load.growth:+.1f} MB since it settled (0)")


@contextmanager
def kept_fresh() -> Iterator[None]:
    """Every source says every few seconds that it was just read and that nothing changed, as under the watcher."""
    stop = threading.Event()

    def keep() -> None:
        while not stop.is_set():
            SourceState.objects.update(last_good_at=timezone.now())
            stop.wait(_BEAT_SECONDS)
        connection.close()

    thread = threading.Thread(target=keep)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
