"""Calls over https to addresses that people name, none of them inside the portal's own network."""

import socket
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Timer
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

from gateways.errors import ConfigurationError, Unavailable
from gateways.public_hosts import public_address

_TIMEOUT: Final = urllib3.Timeout(connect=5, read=10)
WHOLE_SECONDS: Final = 15.0
"""For one whole call: who answers a byte at a time is never silent for long, and holds up all others."""


def is_callable(url: str, allowed: Collection[str]) -> bool:
    """Whether it may be called: https, or http to a host that is `allowed`, without a user name."""
    try:
        target = urlsplit(url)
        is_plain = target.scheme == "http" and target.hostname in allowed
        return (
            bool(target.hostname)
            and "@" not in target.netloc
            and (target.scheme == "https" or is_plain)
            and (target.port != 0)
        )
    except ValueError:
        return False


def target_of(url: str, allowed: Collection[str], what: str) -> SplitResult:
    """The address of `what`, taken apart, its host as certificates and headers name it: in ASCII. Raises
    ConfigurationError if it may not be called."""
    if not is_callable(url, allowed):
        raise ConfigurationError(f"The address of {what} begins with https:// and holds no user name.")
    target = urlsplit(url)
    try:
        return target._replace(netloc=target.netloc.encode("idna").decode())
    except UnicodeError as error:
        raise ConfigurationError(f"The address of {what} has a host that cannot be.") from error


def path_of(target: SplitResult) -> str:
    """What stands in the request's first line."""
    return f"{target.path or '/'}{'?' if target.query else ''}{target.query}"


@contextmanager
def pool_to(target: SplitResult, allowed: Collection[str]) -> Iterator[Any]:
    """Connections to the address that its name has now, cut after WHOLE_SECONDS. Raises Denied for an internal address,
    Unavailable for none, and for what was cut."""
    host = target.hostname or ""
    port = target.port or (443 if target.scheme == "https" else 80)
    pool = _pool(target.scheme, public_address(host, port, allowed), port, host)
    is_over, opened = Event(), list[socket.socket]()
    pool.conn_kw["opened"] = opened
    timer = Timer(WHOLE_SECONDS, _cut, (opened, is_over))
    timer.start()
    try:
        with pool:
            yield pool
    finally:
        timer.cancel()
        if is_over.is_set():
            raise Unavailable(f"{host}: it took longer than {WHOLE_SECONDS:g} s")


def _pool(scheme: str, address: str, port: int, host: str) -> urllib3.HTTPConnectionPool:
    if scheme == "http":
        plain = urllib3.HTTPConnectionPool(address, port, timeout=_TIMEOUT)
        plain.ConnectionCls = _Opened
        return plain
    pool = urllib3.HTTPSConnectionPool(
        address, port, timeout=_TIMEOUT, cert_reqs="CERT_REQUIRED", assert_hostname=host, server_hostname=host
    )
    pool.ConnectionCls = _OpenedByTls
    return pool


def _cut(opened: Collection[socket.socket], is_over: Event) -> None:
    is_over.set()
    for each in opened:
        with suppress(OSError):
            socket.socket.shutdown(each, socket.SHUT_RDWR)  # TLS' own would pull its state from under who reads


class _Opened(HTTPConnection):
    """Tells of its socket."""

    def __init__(self, *args: Any, opened: list[socket.socket], **given: Any) -> None:
        super().__init__(*args, **given)
        self._opened = opened

    def connect(self) -> None:
        super().connect()
        self._opened.append(self.sock)


class _OpenedByTls(_Opened, HTTPSConnection):
    pass
