"""Calls over https to addresses that people name, none of them inside the portal's own network."""

from collections.abc import Collection
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import urllib3

from gateways.errors import ConfigurationError
from gateways.public_hosts import public_address

_TIMEOUT: Final = urllib3.Timeout(connect=5, read=10)


def is_callable(url: str, allowed: Collection[str]) -> bool:
    """Whether it may be called: https, or http to a host that is `allowed`, without a user name."""
    try:
        target = urlsplit(url)
        is_plain = target.scheme == "http" and target.hostname in allowed
        return (
            bool(target.hostname)
            and not target.username
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


def pool_to(target: SplitResult, allowed: Collection[str]) -> Any:
    """Connections to the address that its name has now. Raises Denied for an internal one, Unavailable for none."""
    host = target.hostname or ""
    port = target.port or (443 if target.scheme == "https" else 80)
    address = public_address(host, port, allowed)
    if target.scheme == "http":
        return urllib3.HTTPConnectionPool(address, port, timeout=_TIMEOUT)
    return urllib3.HTTPSConnectionPool(
        address, port, timeout=_TIMEOUT, cert_reqs="CERT_REQUIRED", assert_hostname=host, server_hostname=host
    )
