"""A name that points elsewhere after it was looked at leads nowhere else."""

import socket
from typing import Any

import pytest

from gateways.errors import Denied
from gateways.public_https import pool_to, target_of

OUTSIDE, INSIDE = "93.184.215.14", "127.0.0.1"
HOOK = "https://hooks.example/in"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names that were resolved: the first time to an address outside, then to one inside."""
    names: list[str] = []

    def resolve(host: str, *args: Any, **kwargs: Any) -> Any:
        names.append(host)
        address = OUTSIDE if len(names) == 1 else INSIDE
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return names


def test_the_address_that_was_looked_at_is_the_one_that_is_called(asked: list[str]) -> None:
    with pool_to(target_of(HOOK, (), "the webhook"), ()) as pool:
        assert (pool.host, asked) == (OUTSIDE, ["hooks.example"])
        assert (pool.assert_hostname, pool.conn_kw["server_hostname"]) == ("hooks.example", "hooks.example")
        assert pool.cert_reqs == "CERT_REQUIRED"


def test_it_is_looked_at_each_time(asked: list[str]) -> None:
    target = target_of(HOOK, (), "the webhook")
    with pool_to(target, ()):
        pass
    with pytest.raises(Denied, match="internal"), pool_to(target, ()):
        pass
