"""`make run`: ready, signed in, shown, alone in its folder, and gone without a trace however it ends."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.servers import free_port
from tests.services.portal import REQUEST_SECONDS, ROOT, wait_until

pytestmark = pytest.mark.services

COMMAND = [sys.executable, "deploy/demo.py"]
PROCESSES = {"cluster", "web", "worker", "beat", "watcher", "past"}


class Demo:
    """`make run` in a folder of its own; what it says is in `log`."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "demo.log"
        self.environment = {**os.environ, "PORTAL_VAR": str(folder), "PORT": str(free_port())}
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(COMMAND, cwd=ROOT, env=self.environment, stdout=output, stderr=output)

    def said(self) -> str:
        return self.log.read_text()

    def started(self) -> dict[str, int]:
        """Process ids by name."""
        return {name: int(pid) for name, pid in re.findall(r"(\w+) started \(pid=(\d+)\)", self.said())}

    def wait_until_started(self) -> None:
        wait_until(lambda: set(self.started()) == PROCESSES, "every process")

    def left(self) -> list[str]:
        return [name for name, pid in self.started().items() if is_running(pid)]


def is_running(pid: int) -> bool:
    """What has ended and waits to be noticed by whoever adopted it runs no more."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in ("Z", "X")


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    demo = Demo(tmp_path)
    try:
        yield demo
    finally:
        demo.process.send_signal(signal.SIGINT)
        demo.process.wait(60)


def test_demo_shows_a_team_and_ends_every_process(demo: Demo) -> None:
    wait_until(lambda: "The portal is ready" in demo.said(), "the demo")
    address = re.search(r"The portal is ready: (http://127\.0\.0\.1:\d+/)", demo.said())
    assert address
    assert "Demo" in team_page(address[1])
    wait_until(lambda: "own, " in team_page(address[1]), "the team's quota")
    wait_until(lambda: "task events" in demo.said(), "the worker")
    demo.process.send_signal(signal.SIGINT)
    assert demo.process.wait(60) == 0
    assert set(demo.started()) == PROCESSES
    assert demo.left() == []
    assert "by itself" not in demo.said()
    ending = demo.said().partition("SIGINT received")[2]
    assert re.findall(r"(\w+) stopped \(rc=(-?\d+)\)", ending)[-1] == ("cluster", "0")
    assert re.findall("SIGKILL|sync failed|level=error|level=critical|exited with", ending) == []


def test_a_second_demo_in_one_folder_is_refused_and_one_that_loses_a_process_names_it(demo: Demo) -> None:
    demo.wait_until_started()
    second = subprocess.run(COMMAND, cwd=ROOT, env=demo.environment, capture_output=True, text=True, timeout=180)
    assert second.returncode == 1
    assert second.stderr.startswith("Another `make run` uses ")
    assert demo.process.poll() is None
    os.kill(demo.started()["beat"], signal.SIGKILL)
    assert demo.process.wait(60) != 0
    assert demo.said().rstrip().splitlines()[-1].startswith("  beat ended by itself, and the portal with it.")
    assert demo.left() == []


def test_a_killed_demo_leaves_no_process(demo: Demo) -> None:
    demo.wait_until_started()
    demo.process.kill()
    wait_until(lambda: demo.left() == [], "the end of every process")


def team_page(address: str) -> str:
    with requests.Session() as session:
        session.trust_env = False
        session.get(address + "sign-in/", timeout=REQUEST_SECONDS)
        form = {"username": "data-scientist", "csrfmiddlewaretoken": session.cookies["csrftoken"]}
        session.post(address + "sign-in/as/", data=form, timeout=REQUEST_SECONDS)
        return session.get(address + "teams/research/", timeout=REQUEST_SECONDS).text


def test_a_database_that_is_none_is_named_and_kept(tmp_path: Path) -> None:
    broken = tmp_path / "portal.sqlite3"
    broken.write_bytes(b"not a database at all" * 100)
    ended = subprocess.run(
        COMMAND, cwd=ROOT, env={**os.environ, "PORTAL_VAR": str(tmp_path)}, capture_output=True, text=True, timeout=180
    )
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert str(broken) in ended.stderr
    assert broken.read_bytes().startswith(b"not a database")
