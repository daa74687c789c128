"""Hosts that people name and the portal connects to: none inside its own network."""

import socket
from collections.abc import Collection, Iterator
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final, TypeAlias

from gateways.errors import Denied, Unavailable

Address: TypeAlias = IPv4Address | IPv6Address

_NAT64: Final = IPv6Network("64:ff9b::/96")
_HANDED_OUT: Final = (IPv6Network("2000::/3"), _NAT64)
"""What of version 6 is anybody's: Python calls what is left global, too, such as the site-local fec0::/10."""


def public_address(host: str, port: int, allowed: Collection[str]) -> str:
    """An address to connect to, resolved now: connect to that, not to the name, which may resolve to another one then.

    Raises Denied if any address of the host is internal and the host is not `allowed`, Unavailable if there is none.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unavailable(f"{host}: its name does not resolve") from error
    addresses = [str(address[0]) for *_, address in found]
    if host not in allowed and not all(is_public(ip_address(each.partition("%")[0])) for each in addresses):
        raise Denied(f"{host}: an internal address, to which nothing is sent")
    return addresses[0]


def is_public(address: Address) -> bool:
    """Whether it and all that it stands for are on the public internet."""
    return all(each.is_global and not each.is_multicast and _is_handed_out(each) for each in _meant(address))


def _is_handed_out(address: Address) -> bool:
    return address.version == 4 or any(address in network for network in _HANDED_OUT)


def _meant(address: Address) -> Iterator[Address]:
    """The address, and version 4's inside it: mapped, 6to4, Teredo, NAT64."""
    yield address
    if isinstance(address, IPv6Address):
        inside = (address.ipv4_mapped, address.sixtofour, *(address.teredo or ()))
        yield from (each for each in inside if each is not None)
        if address in _NAT64:
            yield IPv4Address(int(address) & 0xFFFFFFFF)
