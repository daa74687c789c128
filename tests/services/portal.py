"""The portal's own processes as production runs them, on loopback, to be killed and started again by tests."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import requests

from tests.servers import free_port

ROOT = Path(__file__).resolve().parent.parent.parent
PULL_SECONDS = 2
REQUEST_SECONDS = 60  # a busy machine is slow


class RunningPortal:
    """Processes by name: emulator, web, worker (with beat), watcher. All end with `stop_all`."""

    def __init__(self, folder: Path, database: str, broker: str) -> None:
        self.folder = folder
        self.kubeconfig = folder / "kubeconfig"
        self.web_port, self.emulator_port = free_port(), free_port()
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "portal.settings",  # not those of the tests
            "PORTAL_MODE": "demo",
            "PORTAL_SECRET_KEY": "a key for tests",
            "PORTAL_VAR": str(folder),
            "PORTAL_BIND": f"127.0.0.1:{self.web_port}",
            "PORTAL_WEB_PROCESSES": "1",
            "PORTAL_LOG_LEVEL": "WARNING",
            "PORTAL_PULL_SECONDS": str(PULL_SECONDS),
            "PORTAL_DATABASE_URL": database,
            "PORTAL_BROKER_URL": broker,
            "PORTAL_DEMO_KUBECONFIG": str(self.kubeconfig),
        }
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def manage(self, *arguments: str) -> str:
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=self.environment, check=True, capture_output=True, text=True)
        return done.stdout

    def migrate(self) -> None:
        """An empty database, and the static files."""
        self.manage("migrate", "--verbosity", "0")
        self.manage("collectstatic", "--verbosity", "0")

    def prepare(self) -> None:
        """With the demo's teams."""
        self.migrate()
        self.manage("import_setup", "deploy/demo.yaml")

    def start(self, name: str) -> None:
        """One of emulator, web, worker, watcher, or watcher-2."""
        arguments = {
            "emulator": ["-m", "emulator", "--port", str(self.emulator_port), "--kubeconfig", str(self.kubeconfig)],
            "web": ["-m", "gunicorn", "--config", "deploy/gunicorn.conf.py", "--log-level", "warning"],
            "worker": ["-m", "celery", "--app", "portal", "worker", "--beat", "--concurrency", "1"],
            "watcher": ["manage.py", "watch_clusters"],
        }[name.partition("-")[0]]
        if name == "emulator":
            arguments += ["--store", str(self.folder / "store.json")]
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, *arguments], cwd=ROOT, env=self.environment, stdout=log, stderr=log
            )
        if name == "emulator":
            wait_until(self.kubeconfig.exists, "the emulator")
        if name == "web":
            wait_until(self._web_answers, "the web server")

    def _web_answers(self) -> bool:
        try:
            return self.get("sign-in/").ok
        except requests.RequestException:  # also while it still loads
            return False

    def kill(self, name: str) -> None:
        """Without a chance to clean up."""
        self._end(name, signal.SIGKILL)

    def stop(self, name: str) -> None:
        self._end(name, signal.SIGTERM)

    def _end(self, name: str, number: signal.Signals) -> None:
        process = self.processes.pop(name)
        children = _children(process.pid)
        process.send_signal(number)
        process.wait(60)
        for pid in children:  # a killed parent leaves its pool behind
            _kill(pid)

    def stop_all(self) -> None:
        for name in list(self.processes):
            self.stop(name)

    def is_running(self, name: str) -> bool:
        return self.processes[name].poll() is None

    def get(self, path: str, session: requests.Session | None = None) -> requests.Response:
        with requests.Session() as own:
            own.trust_env = False
            return (session or own).get(f"http://127.0.0.1:{self.web_port}/{path}", timeout=REQUEST_SECONDS)

    def signed_in(self, username: str) -> requests.Session:
        session = requests.Session()
        session.trust_env = False
        self.get("sign-in/", session)
        form: Mapping[str, str] = {"username": username, "csrfmiddlewaretoken": session.cookies["csrftoken"]}
        answer = session.post(f"http://127.0.0.1:{self.web_port}/sign-in/as/", data=form, timeout=REQUEST_SECONDS)
        answer.raise_for_status()
        return session


def wait_until(is_true: Callable[[], bool], what: str, seconds: float = 180) -> None:
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, f"{what}: not within {seconds:.0f} s"
        time.sleep(0.1)


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in tasks.read_text().split()] if tasks.exists() else []


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
