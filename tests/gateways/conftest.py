from collections.abc import Iterator
from pathlib import Path

import pytest

from gateways.connections import Connection, configuration
from gateways.http import Api, Timeouts
from tests.gateways.scripted import ScriptedServer, write_kubeconfig

IMPATIENT = Timeouts(connect=1, read=0.1, whole=0.3)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    scripted = ScriptedServer()
    yield scripted
    scripted.close()


@pytest.fixture
def pauses() -> list[float]:
    """The pauses the api made between its attempts."""
    return []


@pytest.fixture
def kubeconfig(server: ScriptedServer, tmp_path: Path) -> Path:
    return write_kubeconfig(tmp_path / "kubeconfig", server.url)


@pytest.fixture
def connection(kubeconfig: Path) -> Connection:
    return Connection("kubeconfig", kubeconfig=str(kubeconfig))


@pytest.fixture
def api(connection: Connection, pauses: list[float]) -> Api:
    return Api(lambda: configuration(connection), sleep=pauses.append)


@pytest.fixture
def impatient_api(connection: Connection, pauses: list[float]) -> Api:
    """With timeouts that a test can wait for."""
    return Api(lambda: configuration(connection), timeouts=IMPATIENT, sleep=pauses.append)
