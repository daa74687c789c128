"""The process: serves one emulated cluster on loopback, keeps it moving, and saves it now and then."""

import asyncio
import contextlib
import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import orjson
from aiohttp import web

from emulator.access import Access
from emulator.api import Api
from emulator.building import TEAMS, build_cluster, dumped, stopped_at
from emulator.clock import Clock
from emulator.cluster import Cluster
from emulator.kubeconfig import Tokens, new_tokens, tokens_of, write_kubeconfig
from emulator.resources import CURRENT, Catalogue

_HOST: Final = "127.0.0.1"
_TICK_SECONDS: Final = 0.25
_SAVE_SECONDS: Final = 60.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Options:
    """How to start. Port 0 is any free one. `store` of None keeps nothing. `world` is "teams" or "none".
    `begin`: when a new cluster's time begins, None for the present; its jobs are `stretch` times rarer and longer."""

    port: int = 0
    store: Path | None = None
    kubeconfig: Path | None = None
    seed: int = 1
    speed: float = 1.0
    paused: bool = False
    begin: datetime | None = None
    stretch: int = 1
    world: str = TEAMS
    kueue_version: str = CURRENT


class Emulator:
    """Started and stopped within a running event loop."""

    def __init__(self, options: Options, *, save_seconds: float = _SAVE_SECONDS) -> None:
        self._options, self._save_seconds = options, save_seconds
        self.tokens: Tokens = tokens_of(options.kubeconfig) if options.kubeconfig else new_tokens()
        self.cluster: Cluster = _built(options)
        self.url = ""
        self._runner: web.AppRunner | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._saved_version = -1

    async def start(self) -> None:
        """Listen, write the kubeconfig, and let time run. Raises OSError when the port is taken."""
        access = Access(self.tokens.admin, self.tokens.portal)
        api = Api(self.cluster, access, Catalogue(self._options.kueue_version))
        self._runner = web.AppRunner(api.application(), access_log=None, handle_signals=False)
        await self._runner.setup()
        site = web.TCPSite(self._runner, _HOST, self._options.port)
        await site.start()
        port = self._runner.addresses[0][1]
        self.url = f"http://{_HOST}:{port}"
        if self._options.kubeconfig:
            write_kubeconfig(self._options.kubeconfig, self.url, self.tokens)
        self._tasks = [asyncio.create_task(self._live()), asyncio.create_task(self._keep())]

    async def stop(self) -> None:
        """End open watches, stop listening, save."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._runner:
            await self._runner.cleanup()
        self._save()

    async def _live(self) -> None:
        """Run the controllers after every write and at every tick; a paused cluster stands still."""
        written = asyncio.Event()
        self.cluster.store.subscribe(lambda _: written.set())
        while True:
            if self.cluster.clock.running:
                self._run()
            written.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TICK_SECONDS):
                    await written.wait()

    def _run(self) -> None:
        try:
            self.cluster.run_until(self.cluster.clock.now())
        except Exception:
            _log.exception("a controller failed; the next tick tries again")

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(self._save_seconds)
            if self.cluster.store.version != self._saved_version:
                self._save()

    def _save(self) -> None:
        path = self._options.store
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.name}.new")
        fresh.write_bytes(orjson.dumps(dumped(self.cluster)))
        fresh.replace(path)
        self._saved_version = self.cluster.store.version


def _built(options: Options) -> Cluster:
    """The saved cluster or a new one. Its clock begins now, or where it stopped if that lies ahead."""
    path, now = options.store, datetime.now(UTC)
    if path is None or not path.exists():
        clock = _clock(options, options.begin or now)
        return build_cluster(options.world, options.seed, clock, stretch=options.stretch)
    try:
        saved = orjson.loads(path.read_bytes())
        begin = max(now, stopped_at(saved))
        return build_cluster(options.world, options.seed, _clock(options, begin), saved, stretch=options.stretch)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no saved cluster ({error}); move it away to begin anew") from error


def _clock(options: Options, begin: datetime) -> Clock:
    return Clock(begin, speed=options.speed, paused=options.paused)
