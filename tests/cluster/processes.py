"""The processes of one control plane: started with a log file each, waited for, ended by their own pid."""

import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import requests

GRACE_SECONDS = 2  # nothing of a plane outlives it, so what is slow to end is killed


class PlaneFailed(RuntimeError):
    """A part of the control plane ended or did not become ready; the text says which and where its log is."""


class Processes:
    """Started in `folder`, where NAME.log takes what they print."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, command: Sequence[str]) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log)

    def ended(self) -> list[str]:
        """Names of those that ended by themselves."""
        return [name for name, process in self._running.items() if process.poll() is not None]

    def wait_until(self, what: str, is_ready: Callable[[], bool], seconds: float = 180) -> None:
        """Raises PlaneFailed when a process ends meanwhile or the time is over."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if gone := self.ended():
                raise PlaneFailed(f"{', '.join(gone)} ended while waiting for {what}; see the logs in {self.folder}")
            try:
                if is_ready():
                    return
            except requests.RequestException:
                pass
            time.sleep(0.1)
        raise PlaneFailed(f"{what} was not ready in {seconds:.0f} s; see the logs in {self.folder}")

    def stop(self, name: str) -> None:
        """End one process and wait for it."""
        process = self._running.pop(name)
        process.terminate()
        try:
            process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def stop_all(self) -> None:
        """End all, those started last first."""
        for process in self._running.values():
            process.terminate()
        for name in reversed(list(self._running)):
            self.stop(name)
