"""The processes of the compose file, by its own command lines and variables, on loopback and without containers."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import requests

from tests.compose import health_command, image_environment, lay_out_image, service
from tests.services.portal import PULL_SECONDS, REQUEST_SECONDS, RunningPortal, _children, wait_until

HOST = "portal.example.com"
TOKEN = "a token for scrapes"


class ComposedPortal(RunningPortal):
    """Secrets in files, the code in a folder as the image has it; the demo's sign-in, since there is no other yet."""

    def __init__(self, folder: Path, database: str, broker: str) -> None:
        super().__init__(folder, database, broker)
        self.app, self.log = folder / "app", folder / "logs"
        self.log.mkdir()
        (folder / "tmp").mkdir()
        lay_out_image(self.app)
        secrets = {"secret_key": "k" * 60, "database_url": database, "broker_url": broker, "metrics_token": TOKEN}
        (folder / "secrets").mkdir()
        for name, text in secrets.items():
            (folder / "secrets" / name).write_text(text + "\n")
        self.environment = {
            "HOME": os.environ["HOME"],
            "TMPDIR": str(folder / "tmp"),
            **image_environment(),
            **{name: str(value) for name, value in service("web")["environment"].items()},
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOSTNAME": socket.gethostname(),
            "PORTAL_HOSTS": HOST,
            "PORTAL_BIND": f"127.0.0.1:{self.web_port}",
            "PORTAL_VAR": str(folder),
            "PORTAL_STATIC_ROOT": str(self.app / "var/static"),
            "PORTAL_PULL_SECONDS": str(PULL_SECONDS),
            "PORTAL_MODE": "demo",
            "PORTAL_DEMO_KUBECONFIG": str(self.kubeconfig),
        }
        for name, value in self.environment.items():
            self.environment[name] = value.replace("/etc/portal", str(folder / "secrets"))

    def prepare(self) -> None:
        """What the Dockerfile does after copying."""
        done = self.run(["python", "manage.py", "collectstatic", "--no-input"])
        assert done.returncode == 0, done.stderr
        self.laid_out_at = time.time_ns()

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """To its end; the exit status is the caller's to judge."""
        return subprocess.run(
            command, cwd=self.app, env=self.environment, capture_output=True, text=True, timeout=300, check=False
        )

    def run_service(self, name: str) -> subprocess.CompletedProcess[str]:
        """One of the compose file that ends by itself."""
        return self.run(service(name)["command"])

    def start(self, name: str) -> None:
        if name == "emulator":
            super().start(name)
            return
        with (self.log / name).open("ab") as log:
            self.processes[name] = subprocess.Popen(
                service(name)["command"], cwd=self.app, env=self.environment, stdout=log, stderr=log
            )
        if name == "web":
            wait_until(lambda: self.status("healthz") == 200, "the web server")

    def status(self, path: str, **headers: str) -> int:
        """The HTTP status, 0 while nobody answers."""
        try:
            return self.ask(path, **headers).status_code
        except requests.RequestException:
            return 0

    def ask(self, path: str, **headers: str) -> requests.Response:
        with requests.Session() as session:
            session.trust_env = False
            address = f"http://127.0.0.1:{self.web_port}/{path}"
            return session.get(address, headers=headers, timeout=REQUEST_SECONDS, allow_redirects=False)

    def is_healthy(self, name: str) -> bool:
        """By the compose file's own check."""
        return self.run(health_command(name)).returncode == 0

    def renew_web_processes(self) -> None:
        """Kill the web server's processes; their parent starts new ones."""
        old = _children(self.processes["web"].pid)
        for pid in old:
            os.kill(pid, signal.SIGTERM)
        renewed = lambda: len(set(_children(self.processes["web"].pid)) - set(old)) == len(old)  # noqa: E731
        wait_until(renewed, "new processes")
        wait_until(lambda: self.status("healthz") == 200, "the web server")

    def count_files(self) -> int:
        """How many files the web server counts requests in."""
        return len(list((self.folder / "tmp").glob("portal-metrics-*/*.db")))

    def lines(self, name: str) -> str:
        return (self.log / name).read_text()

    def written(self) -> set[Path]:
        """What changed in the image's folder, whose file system is read-only in a container."""
        return {path for path in self.app.rglob("*") if path.stat().st_mtime_ns > self.laid_out_at}
