"""What pages cost: queries, and CPU time of the web server's one process against its empty page. For `bench.pages`."""

import re
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import requests
from django.db import connection
from django.test.utils import CaptureQueriesContext

from bench.page_visits import EMPTY, PAGES, PART, Page, ask, signed_in
from bench.web import Web, cpu_seconds

ASKED_EACH = 5

_FIRST_LOAD = re.compile(r'(?:<link rel="stylesheet" href|<script src)="([^"]+)"')


def queries_of(page: Page) -> int:
    """How often the page asks the database, caches warm."""
    client = signed_in(page.username)
    client.get(page.path)
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(page.path)
    assert answer.status_code == 200, (page, answer.status_code)
    return len(queries)


@dataclass(slots=True)
class Cost:
    """Of one request, round by round, in milliseconds: the process's CPU time, and the time to the answer. `size` is in
    bytes."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    size: int = 0

    @property
    def cpu_ms(self) -> float:
        return statistics.median(self.cpu)

    @property
    def wall_ms(self) -> float:
        return statistics.median(self.wall)


def costs(
    web: Web, session: requests.Session, pages: Mapping[str, Page], live: Mapping[str, Page], rounds: int
) -> dict[str, Cost]:
    """Of the empty page, the pages, and a 304 of the parts of the live ones; in turn, so that all see the same
    machine."""
    found = {"empty page": Cost()} | {name: Cost() for name in pages} | {f"304 of the {name}": Cost() for name in live}
    for _ in range(rounds):
        _measure(web, session, EMPTY, found["empty page"])
        for name, page in pages.items():
            _measure(web, session, page, found[name])
        for name, page in live.items():
            while not _measure(web, session, page, found[f"304 of the {name}"], is_known=True):
                pass  # its minute was over
    return found


def _measure(web: Web, session: requests.Session, page: Page, cost: Cost, *, is_known: bool = False) -> bool:
    """Whether all answers were as expected, the part being known to the reader or not."""
    headers = {**PART, "If-None-Match": ask(web, session, page, **PART).headers["ETag"]} if is_known else {}
    (worker,) = web.workers
    used, begun = cpu_seconds(worker), time.monotonic()
    answers = [ask(web, session, page, **headers) for _ in range(ASKED_EACH)]
    cpu, wall = cpu_seconds(worker) - used, time.monotonic() - begun
    statuses = {answer.status_code for answer in answers}
    assert statuses <= {200, 304}, (page, statuses)
    if statuses != {304 if is_known else 200}:
        return False
    cost.cpu.append(cpu * 1000 / ASKED_EACH)
    cost.wall.append(wall * 1000 / ASKED_EACH)
    cost.size = len(answers[-1].content)
    return True


def first_load(web: Web, session: requests.Session) -> dict[str, int]:
    """Bytes of each style sheet and script of a first page, as they are sent."""
    page = PAGES["team page"]
    sizes = {}
    for path in _FIRST_LOAD.findall(ask(web, session, page).text):
        answer = ask(web, session, Page(page.username, path), **{"Accept-Encoding": "gzip"})
        assert answer.status_code == 200, path
        sizes[path] = int(answer.headers["Content-Length"])
    return sizes
