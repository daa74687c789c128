"""An emulated cluster whose past is lived through in steps, over HTTP: for the demo, which has none of its own."""

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from gateways.connections import Connection
from gateways.http import connect
from gateways.kueue import WORKLOADS, Kueue
from gateways.records import Batch
from scheduling.objects import Workload
from scheduling.parsing import parse_time

_STRETCH: Final = 50
"""Its jobs are so many times rarer and longer than those of the demo's present."""
_STEP: Final = timedelta(hours=6)  # the emulator keeps some five thousand changes: a day makes two thousand
_FIRST_VERSION: Final = 1
_START_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Told:
    """What the watch told between two moments."""

    since: datetime
    now: datetime
    batch: Batch[Workload]


@contextmanager
def past_cluster(begin: datetime, kubeconfig: Path) -> Iterator["PastCluster"]:
    """Its own process; ends with this one, however that ends. Raises TimeoutError if it does not start."""
    kubeconfig.unlink(missing_ok=True)
    options = [
        "--kubeconfig",
        kubeconfig,
        "--paused",
        "--attended",
        "--begin",
        begin.isoformat(),
        "--stretch",
        _STRETCH,
    ]
    command = [sys.executable, "-m", "emulator", *map(str, options)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:  # noqa: S603
        try:
            _wait_for(kubeconfig)
            yield PastCluster(begin, kubeconfig)
        finally:
            process.terminate()
            kubeconfig.unlink(missing_ok=True)


def _wait_for(kubeconfig: Path) -> None:
    latest = time.monotonic() + _START_SECONDS
    while not kubeconfig.exists():
        if time.monotonic() > latest:
            raise TimeoutError("the emulated cluster does not start")
        time.sleep(0.1)


class PastCluster:
    def __init__(self, begin: datetime, kubeconfig: Path) -> None:
        self._now, self._version = begin, _FIRST_VERSION
        self._admin = connect(Connection("kubeconfig", str(kubeconfig), "admin"))
        self.kueue = Kueue(connect(Connection("kubeconfig", str(kubeconfig), "portal")))

    def live_until(self, end: datetime) -> Iterator[Told]:
        """Everything that its watch tells, step by step; the next step is lived while the last one is written. Raises
        GatewayError."""
        with ThreadPoolExecutor(1) as pool:
            coming = pool.submit(self._step, end)
            while (told := coming.result()) is not None:
                coming = pool.submit(self._step, end)
                yield told

    def _step(self, end: datetime) -> Told | None:
        """None when the end is reached."""
        since, length = self._now, min(_STEP, end - self._now)
        if length <= timedelta():
            return None
        clock = self._admin.post("/emulator/clock/step", {"seconds": length.total_seconds()})
        self._now = _time(clock)
        changes = tuple(self.kueue.watch(WORKLOADS, self._version, seconds=0))
        self._version = max([self._version, *(change.resource_version for change in changes)])
        return Told(since, self._now, Batch(changes, self._version))


def _time(clock: dict[str, Any]) -> datetime:
    found = parse_time(clock["now"])
    if found is None:
        raise ValueError("the emulator tells no time")
    return found
