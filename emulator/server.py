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
from emulator.building import build_cluster, dumped
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
    """How to start. Port 0 is any free one. `store` of None keeps nothing. `world` is "teams" or "none"."""

    port: int = 0
    store: Path | None = None
    kubeconfig: Path | None = None
    seed: int = 1
    speed: float = 1.0
    paused: bool = False
    world: str = "teams"
    kueue_version: str = CURRENT


class Emulator:
    """Started and stopped within a running event loop."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self.tokens: Tokens = tokens_of(options.kubeconfig) if options.kubeconfig else new_tokens()
        self.cluster: Cluster = build_cluster(options.world, options.seed, self._clock(), _saved(options.store))
        self.url = ""
        self._runner: web.AppRunner | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._saved_version = -1

    async def start(self) -> None:
        """Listen, write the kubeconfig, and let time run."""
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

    def _clock(self) -> Clock:
        return Clock(datetime.now(UTC), speed=self._options.speed, paused=self._options.paused)

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
            await asyncio.sleep(_SAVE_SECONDS)
            self._save()

    def _save(self) -> None:
        path, version = self._options.store, self.cluster.store.version
        if path is None or version == self._saved_version:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.name}.new")
        fresh.write_bytes(orjson.dumps(dumped(self.cluster)))
        fresh.replace(path)
        self._saved_version = version


def _saved(path: Path | None) -> dict[str, object] | None:
    if path is None or not path.exists():
        return None
    dumped: dict[str, object] = orjson.loads(path.read_bytes())
    return dumped
