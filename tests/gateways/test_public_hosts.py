"""No host inside the network is spoken to, however it is written."""

import socket
from ipaddress import ip_address
from typing import Any

import pytest

from gateways.errors import Denied, Unavailable
from gateways.public_hosts import is_public, public_address


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.1", "224.0.0.1",
        "255.255.255.255", "::1", "::", "fe80::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:a00:1::1",
        "fec0::1", "::127.0.0.1", "::10.0.0.1", "64:ff9b:1::a00:1", "4000::1",
    ],
)  # fmt: skip
def test_internal(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07::1", "64:ff9b::5db8:d70e"])
def test_public(address: str) -> None:
    assert is_public(ip_address(address))


def resolving(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: found)


def test_one_internal_address_among_many_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, "93.184.215.14", "10.0.0.1")
    with pytest.raises(Denied, match="hooks.example: an internal address") as refused:
        public_address("hooks.example", 443, ())
    assert "10.0.0.1" not in str(refused.value)
    assert public_address("hooks.example", 443, {"hooks.example"}) == "93.184.215.14"


@pytest.mark.parametrize("host", ["127.1", "2130706433", "0x7f.1", "localhost", "017700000001"])
def test_other_spellings_of_this_machine(host: str) -> None:
    with pytest.raises((Denied, Unavailable)):
        public_address(host, 443, ())


def test_a_name_that_does_not_resolve(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*args: Any, **kwargs: Any) -> Any:
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(Unavailable, match="does not resolve"):
        public_address("nowhere.example", 443, ())
