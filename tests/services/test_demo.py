"""`make run`: ready, signed in, shown, and gone without a trace."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from tests.servers import free_port
from tests.services.portal import ROOT, wait_until

pytestmark = pytest.mark.services


def test_demo_shows_a_team_and_ends_every_process(tmp_path: Path) -> None:
    log = tmp_path / "demo.log"
    environment = {**os.environ, "PORTAL_VAR": str(tmp_path), "PORT": str(free_port())}
    with log.open("wb") as output:
        demo = subprocess.Popen(
            [sys.executable, "deploy/demo.py"], cwd=ROOT, env=environment, stdout=output, stderr=output
        )
    try:
        wait_until(lambda: "The portal is ready" in log.read_text(), "the demo", 90)
        address = re.search(r"The portal is ready: (http://127\.0\.0\.1:\d+/)", log.read_text())
        assert address
        page = team_page(address[1])
        wait_until(lambda: "own, " in team_page(address[1]), "the team's quota", 60)
        assert "Demo" in page
    finally:
        started = [int(pid) for pid in re.findall(r"started \(pid=(\d+)\)", log.read_text())]
        demo.send_signal(signal.SIGINT)
        assert demo.wait(30) == 0
    assert len(started) == 4
    assert [pid for pid in started if Path(f"/proc/{pid}").exists()] == []


def team_page(address: str) -> str:
    with requests.Session() as session:
        session.trust_env = False
        session.get(address + "sign-in/", timeout=10)
        form = {"username": "data-scientist", "csrfmiddlewaretoken": session.cookies["csrftoken"]}
        session.post(address + "sign-in/as/", data=form, timeout=10)
        return session.get(address + "teams/research/", timeout=10).text
