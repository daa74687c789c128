"""Debian's PostgreSQL and Redis on free loopback ports, in folders of their own, ended with the block that asked."""

import glob
import os
import random
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

_READY_SECONDS = 60
_PORTS = range(20_000, 32_000)
"""Below those that outgoing connections are given: none of them takes a server's port while it is down."""
_held: list[socket.socket] = []


def free_port() -> int:
    """A loopback port that nobody listens on. It is the caller's as long as this process lives: no other one that asks
    here is given it, though its server has not started yet, or is stopped for a while."""
    for port in random.sample(_PORTS, len(_PORTS)):
        mark = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)  # UDP's port of that number serves as the lock
        try:
            mark.bind(("127.0.0.1", port))
        except OSError:
            mark.close()
            continue
        _held.append(mark)
        if not listens(port):
            return port
    raise OSError(f"no port from {_PORTS.start} to {_PORTS.stop} is free")


def listens(port: int) -> bool:
    """Whether somebody answers at the loopback port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def postgresql_binary(name: str) -> str | None:
    """One of the server's programs; Debian keeps them outside PATH."""
    found = [path for path in sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}")) if os.access(path, os.X_OK)]
    return found[-1] if found else shutil.which(name)


@contextmanager
def postgresql(fsync: bool = False) -> Iterator[str]:
    """The URL of an empty database. As root the server runs as the system's user postgres, since it refuses root."""
    initdb, server = postgresql_binary("initdb"), postgresql_binary("postgres")
    if initdb is None or server is None:
        raise FileNotFoundError("PostgreSQL's server is not installed")
    with _folder("postgres") as folder:
        as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        data, port = folder / "data", free_port()
        subprocess.run(
            [*as_user, initdb, "-D", str(data), "-U", "portal", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=folder,
        )
        settings = ["-c", f"port={port}", "-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}"]
        settings += [] if fsync else ["-c", "fsync=off"]
        with _process([*as_user, server, "-D", str(data), *settings], folder):
            _wait_for_port(port)
            url = f"postgres://portal@127.0.0.1:{port}/postgres"
            _wait_until(lambda: _accepts_queries(url), "PostgreSQL")
            yield url


class Server:
    """A server that tests may stop and start again on the same port."""

    def __init__(self, url: str, command: list[str], folder: Path, port: int) -> None:
        self.url, self._command, self._folder, self._port = url, command, folder, port
        self._running: ExitStack | None = None

    def start(self) -> None:
        self._running = ExitStack()
        self._running.enter_context(_process(self._command, self._folder))
        _wait_for_port(self._port)

    def stop(self) -> None:
        if self._running is not None:
            self._running.close()
            self._running = None


@contextmanager
def redis_server() -> Iterator[Server]:
    """An empty Redis, started."""
    binary = shutil.which("redis-server")
    if binary is None:
        raise FileNotFoundError("redis-server is not installed")
    with _folder() as folder:
        port = free_port()
        command = [binary, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
        server = Server(f"redis://127.0.0.1:{port}/0", command, folder, port)
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def _folder(owner: str = "") -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="portal-server-", ignore_cleanup_errors=True) as name:
        if owner and os.geteuid() == 0:
            shutil.chown(name, owner)
        yield Path(name)


@contextmanager
def _process(command: list[str], folder: Path) -> Iterator[None]:
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for_port(port: int) -> None:
    _wait_until(lambda: socket.create_connection(("127.0.0.1", port), 1).close() is None, f"port {port}")


def _wait_until(is_ready: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + _READY_SECONDS
    while True:
        try:
            if is_ready():
                return
        except OSError:
            pass
        if time.monotonic() > end:
            raise TimeoutError(f"{what} was not ready in {_READY_SECONDS} s")
        time.sleep(0.05)


def _accepts_queries(url: str) -> bool:
    import psycopg

    try:
        with psycopg.connect(url):
            return True
    except psycopg.OperationalError:
        return False
