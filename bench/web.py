"""The web server by the compose file's command line, on loopback, and what its processes cost."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.services.composed import ComposedPortal
from tests.services.portal import _children

_NOWHERE = "redis://127.0.0.1:9/0"  # pages ask no broker
_CPUCLOCK_SCHED = 2  # clock_getcpuclockid(3): which clock of a process is meant


class Web(ComposedPortal):
    """`database` is its address."""

    def __init__(self, folder: Path, database: str) -> None:
        super().__init__(folder, database, _NOWHERE)
        self.address = f"http://127.0.0.1:{self.web_port}"

    @contextmanager
    def running(self, processes: int) -> Iterator[None]:
        """With so many processes, each of the configured number of threads."""
        self.environment["PORTAL_WEB_PROCESSES"] = str(processes)
        self.start("web")
        try:
            yield
        finally:
            self.stop("web")

    @property
    def workers(self) -> list[int]:
        return _children(self.processes["web"].pid)


@contextmanager
def web(database: str) -> Iterator[Web]:
    """Laid out and ready to run."""
    with tempfile.TemporaryDirectory(prefix="bench-web-") as folder:
        found = Web(Path(folder), database)
        found.prepare()
        yield found


def cpu_seconds(pid: int) -> float:
    """What a process has used so far, all its threads together."""
    return time.clock_gettime((~pid << 3) | _CPUCLOCK_SCHED)


def megabytes(pid: int) -> float:
    """What a process holds in memory, what it shares with others included."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024
