from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import Server, postgresql, redis_server
from tests.services.portal import RunningPortal


@pytest.fixture(scope="module")
def redis() -> Iterator[Server]:
    with redis_server() as server:
        yield server


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory, redis: Server) -> Iterator[RunningPortal]:
    """Emulator and web server run; each test starts what else it needs, and ends it."""
    folder: Path = tmp_path_factory.mktemp("portal")
    with postgresql() as database:
        running = RunningPortal(folder, database, redis.url)
        try:
            running.prepare()
            running.start("emulator")
            running.start("web")
            yield running
        finally:
            running.stop_all()
