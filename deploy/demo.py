"""`make run`: the whole portal on this machine, with an emulated cluster (or `--cluster kueue`, a real Kueue).

Nothing outside is needed: SQLite, a broker of folders, everything under var/. Listens on loopback only.
"""

import argparse
import base64
import contextlib
import fcntl
import gc
import os
import secrets
import shlex
import signal
import socket
import sys
import threading
import time
import traceback
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import django
import honcho.manager
from django.core.management import call_command
from honcho.manager import Manager
from honcho.process import Process

ROOT = Path(__file__).resolve().parent.parent
VAR = Path(os.environ.get("PORTAL_VAR", ROOT / "var")).resolve()
PYTHON = sys.executable
CLUSTERS = {
    "emulator": "-m emulator --port 0 --store {var}/emulator.json --kubeconfig {kubeconfig}",
    "kueue": "-m tests.cluster --moving --kubeconfig {kubeconfig}",
}
FIRST_PORT = 8000
_PORTS = 50  # so many are tried
_LAST_PORT = 65535 - _PORTS
_INTERRUPTED = 130  # Ctrl-C is how the demo is meant to end
_CLUSTER = "cluster"
_PAST = "past"  # the only process that may end before the others
_CLUSTER_AFTER = 20.0  # seconds; the emulator must save before everything is killed
_KILLED_AFTER = 30  # seconds; a moment is enough unless the machine is busy


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cluster", choices=CLUSTERS, default="emulator")
    cluster = parser.parse_args().cluster
    kubeconfig = VAR / f"{cluster}.kubeconfig"
    with told_in_a_sentence():
        VAR.mkdir(parents=True, exist_ok=True)
        held = hold(VAR / "demo.lock")
        kubeconfig.unlink(missing_ok=True)  # processes that need the cluster wait until it is written again
        port = free_port(wanted_port())
        environment = demo_environment(port, kubeconfig)
        prepare(environment)
    with held:
        return supervise(cluster, kubeconfig, port, environment)


@contextlib.contextmanager
def told_in_a_sentence() -> Iterator[None]:
    """What keeps the demo from starting and is not its fault ends it without a traceback."""
    sys.path.insert(0, str(ROOT))
    from portal.outages import told

    try:
        yield
    except Exception as error:
        raise SystemExit(told(error) or traceback.format_exc()) from None


def hold(path: Path) -> IO[str]:
    """The file, locked for this process and those forked from it: two demos would write two clusters in one ledger."""
    lock = path.open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        told = f"Another `make run` uses {path.parent}. End it, or set PORTAL_VAR to another folder."
        raise SystemExit(told) from None
    return lock


def wanted_port() -> int:
    text = os.environ.get("PORT", "") or str(FIRST_PORT)
    if not (text.isascii() and text.isdecimal() and 0 < int(text) <= _LAST_PORT):
        raise SystemExit(f"PORT is {text!r}; it must be a number from 1 to {_LAST_PORT}.")
    return int(text)


def free_port(first: int) -> int:
    """The first free loopback port from `first` on."""
    for port in range(first, first + _PORTS):
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            if port != first:
                print(f"Port {first} is taken; using {port}.", flush=True)
            return port
    raise SystemExit(f"No free port from {first} to {first + _PORTS - 1}. Set PORT to another number.")


def demo_environment(port: int, kubeconfig: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PORTAL_MODE": "demo",
        "PORTAL_VAR": str(VAR),
        "PORTAL_SECRET_KEY_FILE": kept("secret-key", secrets.token_urlsafe(50)),
        "PORTAL_CHANNEL_KEYS_FILE": kept("channel-key", base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()),
        "PORTAL_BIND": f"127.0.0.1:{port}",
        "PORTAL_WEB_PROCESSES": "1",
        "PORTAL_LOG_LEVEL": os.environ.get("PORTAL_LOG_LEVEL", "WARNING"),
        "PORTAL_DEMO_KUBECONFIG": str(kubeconfig),
        "PYTHONUNBUFFERED": "1",
    }


def kept(name: str, secret: str) -> str:
    """The file of a secret: as it was, or made of this one."""
    path = VAR / name
    if not path.exists() or not path.stat().st_size:  # empty where the disk was full
        path.touch(mode=0o600)
        path.write_text(secret)
    return str(path)


def prepare(environment: dict[str, str]) -> None:
    """Database, static files and teams, in this process: starting Python three times would take seconds."""
    os.environ.update(environment, DJANGO_SETTINGS_MODULE="portal.settings")
    django.setup()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    call_command("import_setup", str(ROOT / "deploy/demo.yaml"))


def supervise(cluster: str, kubeconfig: Path, port: int, environment: dict[str, str]) -> int:
    python, waiting = shlex.quote(PYTHON), shlex.quote(str(kubeconfig))
    after_cluster = f"while [ ! -s {waiting} ]; do sleep 0.1; done; exec {python}"
    arguments = CLUSTERS[cluster].format(var=shlex.quote(str(VAR)), kubeconfig=waiting)
    commands = {
        _CLUSTER: f"exec {python} {arguments}",
        "web": f"exec {python} -m gunicorn --config deploy/gunicorn.conf.py --log-level warning",
        "worker": f"{after_cluster} -m celery --app portal worker --pool solo --loglevel WARNING",
        "beat": f"{after_cluster} -m celery --app portal beat --loglevel WARNING",
        "watcher": f"{after_cluster} manage.py watch_clusters",
    }
    if cluster == "emulator":
        after_page = f"while ! {python} deploy/probe.py /sign-in/ 2>/dev/null; do sleep 0.5; done; exec {python}"
        commands[_PAST] = f"{after_page} manage.py demo_history"
    gc.freeze()  # what was loaded so far is not looked through again, here and in the processes forked from it
    honcho.manager.KILL_WAIT = _KILLED_AFTER
    manager = Together(threading.Thread(target=greet, args=(port,), daemon=True))
    for name, command in commands.items():
        manager.add_process(name, command, quiet=False, env=environment, cwd=str(ROOT))
    signal.signal(signal.SIGHUP, lambda *_: manager.terminate())
    manager.loop()
    if manager.ended:
        print(f"\n  {manager.ended} ended by itself, and the portal with it. What it last said is above.\n", flush=True)
        return manager.returncode or 1
    return 0 if manager.returncode in (None, _INTERRUPTED) else manager.returncode


class Together(Manager):
    """Ends all processes when one of those that stay ends, and keeps which: `ended` is its name, or nothing.

    The cluster ends last, so that nobody reads from one that is gone.
    """

    ended = ""

    def __init__(self, greeting: threading.Thread) -> None:
        super().__init__()
        self._process_ctor, self._greeting = Attended, greeting

    def _start(self) -> None:
        super()._start()
        self._greeting.start()  # not before: a process that was forked from several threads may hang

    def terminate(self) -> None:
        if not self._terminating:
            self.ended = next(self._stopped(), "")
        super().terminate()

    def _any_stopped(self) -> bool:
        return any(self._stopped())

    def _stopped(self) -> Iterator[str]:
        return (name for name, process in self._processes.items() if "returncode" in process and name != _PAST)

    def _killall(self, force: bool = False) -> None:
        if force:
            super()._killall(force=True)
        else:
            threading.Thread(target=self._end_softly, daemon=True).start()

    def _end_softly(self) -> None:
        readers = [name for name in self._processes if name != _CLUSTER]
        latest = time.monotonic() + _CLUSTER_AFTER
        for name in readers:
            self._end(name)
        while any("returncode" not in self._processes[name] for name in readers) and time.monotonic() < latest:
            time.sleep(0.05)
        self._end(_CLUSTER)

    def _end(self, name: str) -> None:
        """Tells the process alone, not its group as honcho does: Celery's children would be lost, and it hangs."""
        process = self._processes[name]
        if "pid" in process and "returncode" not in process:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process["pid"], signal.SIGTERM)


class Attended(Process):
    """Runs in a process between the demo and the command; ends the command when the demo was killed."""

    def run(self, *arguments: Any) -> None:
        threading.Thread(target=self._attend, args=(os.getppid(),), daemon=True).start()
        super().run(*arguments)

    def _attend(self, demo: int) -> None:
        while os.getppid() == demo:
            time.sleep(0.5)
        self._child.terminate()


def greet(port: int) -> None:
    address = f"http://127.0.0.1:{port}/"
    while not answers(address + "sign-in/"):
        time.sleep(0.2)
    print(
        f"\n  The portal is ready: {address}\n"
        "  Sign in by picking a role on that page: data scientist, team admin, platform admin, FinOps, auditor,\n"
        "  newcomer.\n"
        "  Ctrl-C ends everything.\n",
        flush=True,
    )


def answers(url: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


if __name__ == "__main__":
    sys.exit(main())
