from collections.abc import Iterator

import pytest

from emulator.embedded import Running, running
from emulator.server import Options
from tests.emulator.client import Client


@pytest.fixture
def emulator() -> Iterator[Running]:
    """An empty one whose clock stands still."""
    with running(Options(world="none", paused=True)) as started:
        yield started


@pytest.fixture
def admin(emulator: Running) -> Client:
    return Client(emulator.url, emulator.tokens.admin)


@pytest.fixture
def reader(emulator: Running) -> Client:
    return Client(emulator.url, emulator.tokens.portal)
