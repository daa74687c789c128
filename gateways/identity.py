"""Metadata of identity providers: read by workers, never while somebody waits for a page."""

from collections.abc import Collection
from typing import Final
from urllib.parse import SplitResult

from urllib3.exceptions import HTTPError

from gateways.errors import BadReply, Unavailable
from gateways.public_https import path_of, pool_to, target_of
from gateways.refusals import unreachable

_LARGEST: Final = 1_000_000


def fetch_metadata(url: str, *, allowed: Collection[str]) -> str:
    """The document at an https address, read once and without following redirects. Hosts in `allowed` may be internal,
    and be spoken to without TLS.

    Raises GatewayError: ConfigurationError for another address, Denied for an internal host, Unavailable, BadReply.
    """
    target = target_of(url, allowed, "metadata")
    try:
        with pool_to(target, allowed) as pool:
            response = pool.urlopen(
                "GET",
                path_of(target),
                headers={"Host": target.netloc},
                redirect=False,
                retries=False,
                preload_content=False,
            )
            content = response.read(_LARGEST + 1)
            response.close()
    except HTTPError as error:
        raise unreachable(f"{target.scheme}://{target.netloc}", error) from error
    if response.status != 200:
        raise (Unavailable if response.status >= 500 else BadReply)(f"{target.hostname}: {response.status}")
    return _text(content, target)


def _text(content: bytes, target: SplitResult) -> str:
    if len(content) > _LARGEST:
        raise BadReply(f"{target.hostname}: more than a million bytes")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise BadReply(f"{target.hostname}: not UTF-8") from error
