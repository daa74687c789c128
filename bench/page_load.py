"""Many people at once: polls and pages at a steady pace, whatever the server manages. For `bench.pages`."""

import asyncio
import random
import statistics
import time
from collections import Counter
from dataclasses import dataclass, field

import aiohttp

from bench import crowd
from bench.page_visits import PAGES, PART, Page, cookie, team_page
from bench.web import Web, megabytes

POLLS, VISITS = 200, 5
"""A second: parts, of which the server knows 19 of 20 unchanged, and whole pages."""

_SETTLED_SECONDS = 75  # until every page was asked for, and caches and pools are filled


@dataclass(slots=True)
class Load:
    """`waits`: seconds from when each request was due to its whole answer. `memory`: megabytes by process, in time."""

    waits: dict[str, list[float]] = field(default_factory=lambda: {"poll": [], "page": []})
    statuses: Counter[int] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    memory: dict[int, list[float]] = field(default_factory=dict)

    def p99_ms(self, *kinds: str) -> float:
        waits = [wait for kind in kinds or self.waits for wait in self.waits[kind]]
        return statistics.quantiles(waits, n=100)[98] * 1000

    @property
    def most_memory(self) -> float:
        return max(max(found) for found in self.memory.values())

    @property
    def growth(self) -> float:
        """Megabytes that the process grown most holds more at the end than when it had settled."""
        return max(found[-1] - found[min(_SETTLED_SECONDS, len(found) - 1)] for found in self.memory.values())


@dataclass(frozen=True, slots=True)
class _Request:
    kind: str
    url: str
    headers: dict[str, str]


def run(web: Web, seconds: int) -> Load:
    """So long; ends by itself."""
    return asyncio.run(_Crowd(web).run(seconds))


class _Crowd:
    """A tab per team on its page, kept open; and people who come and look around."""

    def __init__(self, web: Web) -> None:
        self.web, self.load, self.rng = web, Load(), random.Random(5)
        self.tabs = [team_page(team) for team in range(crowd.TEAMS)]
        self.cookies = {page.username: cookie(page.username) for page in (*self.tabs, *PAGES.values())}
        self.etags: dict[Page, str] = {}

    async def run(self, seconds: int) -> Load:
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=1)  # the server keeps a silent connection 2 s
        timeout = aiohttp.ClientTimeout(total=30)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
            for page in self.tabs:
                await self._open(session, page)
            await self._send(session, seconds)
        return self.load

    async def _open(self, session: aiohttp.ClientSession, page: Page) -> None:
        headers = {**self.cookies[page.username], **PART}
        async with session.get(self.web.address + page.path, headers=headers) as answer:
            assert answer.status == 200, page
            self.etags[page] = answer.headers["ETag"]

    async def _send(self, session: aiohttp.ClientSession, seconds: int) -> None:
        begun, under_way = time.monotonic(), set()
        for number in range(seconds * (POLLS + VISITS)):
            due = begun + number / (POLLS + VISITS)
            await asyncio.sleep(max(0, due - time.monotonic()))
            if number % (POLLS + VISITS) == 0:
                self._weigh()
            task = asyncio.create_task(self._ask(session, self._request(number), due))
            under_way.add(task)
            task.add_done_callback(under_way.discard)
        await asyncio.gather(*under_way)
        self._weigh()

    def _request(self, number: int) -> _Request:
        if number % (POLLS + VISITS) % (POLLS // VISITS + 1) == 0:
            page = self.rng.choice(list(PAGES.values()))
            return _Request("page", self.web.address + page.path, self.cookies[page.username])
        page = self.tabs[number % len(self.tabs)]
        etag = 'W/"of older facts"' if self.rng.random() < 0.05 else self.etags[page]
        headers = {**self.cookies[page.username], **PART, "If-None-Match": etag}
        return _Request("poll", self.web.address + page.path, headers)

    async def _ask(self, session: aiohttp.ClientSession, request: _Request, due: float) -> None:
        try:
            async with session.get(request.url, headers=request.headers) as answer:
                await answer.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            self.load.errors.append(repr(error))
            return
        self.load.waits[request.kind].append(time.monotonic() - due)
        self.load.statuses[answer.status] += 1

    def _weigh(self) -> None:
        for pid in self.web.workers:
            self.load.memory.setdefault(pid, []).append(megabytes(pid))
