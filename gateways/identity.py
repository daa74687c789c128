"""Metadata of identity providers: read by workers, never while somebody waits for a page."""

from collections.abc import Collection
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import urllib3
from urllib3.exceptions import HTTPError

from gateways.errors import BadReply, ConfigurationError, Unavailable
from gateways.public_hosts import public_address
from gateways.refusals import unreachable

_TIMEOUT: Final = urllib3.Timeout(connect=5, read=10)
_LARGEST: Final = 1_000_000


def fetch_metadata(url: str, *, allowed: Collection[str]) -> str:
    """The document at an https address, read once and without following redirects. Hosts in `allowed` may be internal,
    and be spoken to without TLS.

    Raises GatewayError: ConfigurationError for another address, Denied for an internal host, Unavailable, BadReply.
    """
    target = _target(url, allowed)
    path = f"{target.path or '/'}{'?' if target.query else ''}{target.query}"
    try:
        with _pool(target, allowed) as pool:
            response = pool.urlopen(
                "GET", path, headers={"Host": target.netloc}, redirect=False, retries=False, preload_content=False
            )
            content = response.read(_LARGEST + 1)
            response.close()
    except HTTPError as error:
        raise unreachable(f"{target.scheme}://{target.netloc}", error) from error
    if response.status != 200:
        raise (Unavailable if response.status >= 500 else BadReply)(f"{target.hostname}: {response.status}")
    return _text(content, target)


def _target(url: str, allowed: Collection[str]) -> SplitResult:
    try:
        target = urlsplit(url)
        is_plain = target.scheme == "http" and target.hostname in allowed
        if target.hostname and not target.username and (target.scheme == "https" or is_plain) and target.port != 0:
            return target
    except ValueError:
        pass
    raise ConfigurationError("The address of metadata begins with https:// and holds no user name.")


def _pool(target: SplitResult, allowed: Collection[str]) -> Any:
    host = target.hostname or ""
    port = target.port or (443 if target.scheme == "https" else 80)
    address = public_address(host, port, allowed)
    if target.scheme == "http":
        return urllib3.HTTPConnectionPool(address, port, timeout=_TIMEOUT)
    return urllib3.HTTPSConnectionPool(
        address, port, timeout=_TIMEOUT, cert_reqs="CERT_REQUIRED", assert_hostname=host, server_hostname=host
    )


def _text(content: bytes, target: SplitResult) -> str:
    if len(content) > _LARGEST:
        raise BadReply(f"{target.hostname}: more than a million bytes")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise BadReply(f"{target.hostname}: not UTF-8") from error
