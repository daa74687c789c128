"""An emulator in a thread of another process, for tests."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from emulator.kubeconfig import Tokens
from emulator.server import Emulator, Options

_START_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class Running:
    """Where it answers, and whom it knows."""

    url: str
    tokens: Tokens


@contextmanager
def running(options: Options) -> Iterator[Running]:
    """An emulator on a loopback port for as long as the block lasts. Raises what its start raises."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="emulator", daemon=True)
    thread.start()
    try:
        emulator = asyncio.run_coroutine_threadsafe(_started(options), loop).result(_START_SECONDS)
        try:
            yield Running(emulator.url, emulator.tokens)
        finally:
            asyncio.run_coroutine_threadsafe(emulator.stop(), loop).result(_START_SECONDS)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_START_SECONDS)
        loop.close()


async def _started(options: Options) -> Emulator:
    emulator = Emulator(options)
    await emulator.start()
    return emulator
