"""What the image is built from: by name, with hashes, without secrets."""

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from deploy import probe
from tests.compose import image_paths, instruction, lay_out_image
from tests.deploy.chart import ROOT


def test_everything_else_is_shut_out() -> None:
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    assert lines[0] == "*"
    assert not {"!var", "!tests", "!emulator", "!.git", "!secrets"} & set(lines)


def test_all_that_is_let_in_exists() -> None:
    missing = [name for name in image_paths() if name != "locale" and not (ROOT / name).exists()]
    assert missing == []


def test_every_app_and_layer_is_let_in() -> None:
    settings = (ROOT / "portal/settings.py").read_text()
    apps = re.findall(r'^    "([a-z]+)",$', settings, re.MULTILINE)
    ours = {name for name in apps if (ROOT / name).is_dir()} | {"gateways", "scheduling"}
    assert ours <= set(image_paths())


def test_the_image_holds_no_compiled_or_test_code(tmp_path: Path) -> None:
    lay_out_image(tmp_path)
    assert (tmp_path / "manage.py").exists()
    assert not list(tmp_path.rglob("__pycache__"))
    assert not (tmp_path / "tests").exists()


def test_packages_are_installed_by_hash() -> None:
    install = next(line for line in instruction("RUN") if "pip install" in line)
    assert "--require-hashes" in install
    assert "requirements/run.txt" in " ".join(instruction("COPY"))


def test_the_last_user_is_not_root() -> None:
    assert instruction("USER")[-1].partition(":")[0].isdecimal()
    assert int(instruction("USER")[-1].partition(":")[0]) > 0


class Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:  # noqa: N802
        self.send_response(200 if self.path == "/healthz" else 503)
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        """Quiet."""


@pytest.fixture
def port() -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def test_the_probe_tells_the_status(port: int) -> None:
    assert probe.status("/healthz", port) == 200
    assert probe.status("/readyz", port) == 503
