"""The two clusters that the contract is held against, behind one face."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any, Protocol

from kubernetes.client import Configuration

from gateways.http import Api
from tests.cluster.client import Client
from tests.cluster.plane import ControlPlane

WAIT_SECONDS = 60  # a busy machine is slow
_PAUSE_SECONDS = 0.05

_numbers = count(1)


def fresh(stem: str) -> str:
    """A name that no other test uses: the clusters are shared."""
    return f"{stem}-{next(_numbers)}"


class Cluster(Protocol):
    """`admin` may do everything, `portal` what the portal may, `anonymous` has no token, `impostor` a wrong one."""

    admin: Client
    portal: Client
    anonymous: Client
    impostor: Client
    bookmark_seconds: int
    """So long a watch lasts that surely ends with a bookmark; a real server sends its last one 2 s before the end."""

    def live(self) -> None:
        """Let a moment pass in which controllers act."""

    def now(self) -> datetime:
        """By the cluster's clock."""

    def forget(self) -> None:
        """Drop what was written before now from the server's memory of changes; on a real one it takes seconds."""


@dataclass
class Emulated:
    """The emulator with its clock held: a moment passes when a test says so."""

    admin: Client
    portal: Client
    anonymous: Client
    impostor: Client
    bookmark_seconds: int = 4

    def live(self) -> None:
        self.admin.call("POST", "/emulator/clock/step", json={"seconds": 1})

    def now(self) -> datetime:
        return datetime.fromisoformat(self.admin.call("GET", "/emulator/clock")["now"])

    def forget(self) -> None:
        self.admin.call("POST", "/emulator/compact")


class Real:
    """A control plane of `tests.cluster`."""

    bookmark_seconds = 10

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self.admin, self.portal = plane.admin, plane.portal
        self.anonymous = Client(plane.url, "", str(plane.authority))
        self.impostor = Client(plane.url, "wrong", str(plane.authority))

    def live(self) -> None:
        time.sleep(_PAUSE_SECONDS)

    def now(self) -> datetime:
        return datetime.now(UTC)

    def forget(self) -> None:
        self._plane.compact()


def api_of(client: Client) -> Api:
    """The portal's own gateway to the client's server, with the client's token."""
    made = Configuration(host=client.url)
    made.api_key["authorization"] = str(client.http.headers["Authorization"])
    if isinstance(client.http.verify, str):
        made.ssl_ca_cert = client.http.verify
    return Api(lambda: made)


def wait_for(cluster: Cluster, what: str, look: Callable[[], Any]) -> Any:
    """What `look` returns once it is true, letting time pass between looks."""
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        if found := look():
            return found
        cluster.live()
    raise AssertionError(f"{what} did not happen in {WAIT_SECONDS} s")
