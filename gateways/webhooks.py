"""Signed webhooks, after the Standard Webhooks convention: webhook-id, webhook-timestamp, webhook-signature."""

import base64
import hashlib
import hmac
from collections.abc import Collection
from datetime import datetime
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import orjson
import urllib3
from urllib3.exceptions import HTTPError

from gateways.errors import BadReply, ConfigurationError, Unavailable
from gateways.letters import Letter
from gateways.public_hosts import public_address
from gateways.refusals import unreachable

_TIMEOUT: Final = urllib3.Timeout(connect=5, read=10)
_AGENT: Final = "hyperpod-portal"


def post_signed(url: str, key: str, letter: Letter, *, now: datetime, allowed: Collection[str]) -> None:
    """Send it once. Follows no redirect. Hosts in `allowed` may be internal, and be spoken to without TLS.

    Raises GatewayError: Denied for an internal host, Unavailable if trying again may help, else BadReply.
    """
    target = _target(url, allowed)
    body = orjson.dumps({"type": "notices", "id": letter.id, "title": letter.title, "notices": list(letter.facts)})
    headers = {
        "Host": target.netloc,
        "User-Agent": _AGENT,
        "Content-Type": "application/json",
        **signature(key, letter.id, now, body),
    }
    path = f"{target.path or '/'}{'?' if target.query else ''}{target.query}"
    try:
        with _pool(target, allowed) as pool:
            response = pool.urlopen(
                "POST", path, body=body, headers=headers, redirect=False, retries=False, preload_content=False
            )
            response.close()
    except HTTPError as error:
        raise unreachable(f"https://{target.netloc}", error) from error
    if not 200 <= response.status < 300:
        is_busy = response.status == 429 or response.status >= 500
        raise (Unavailable if is_busy else BadReply)(f"{target.hostname}: {response.status}")


def is_webhook(url: str, allowed: Collection[str]) -> bool:
    """Whether it may be the address of one: https, or http to a host that is `allowed`, without a user name."""
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


def _target(url: str, allowed: Collection[str]) -> SplitResult:
    if not is_webhook(url, allowed):
        raise ConfigurationError("The address of a webhook begins with https:// and holds no user name.")
    return urlsplit(url)


def _pool(target: SplitResult, allowed: Collection[str]) -> Any:
    host = target.hostname or ""
    port = target.port or (443 if target.scheme == "https" else 80)
    address = public_address(host, port, allowed)
    if target.scheme == "http":
        return urllib3.HTTPConnectionPool(address, port, timeout=_TIMEOUT)
    return urllib3.HTTPSConnectionPool(
        address, port, timeout=_TIMEOUT, cert_reqs="CERT_REQUIRED", assert_hostname=host, server_hostname=host
    )


def signature(key: str, letter_id: str, now: datetime, body: bytes) -> dict[str, str]:
    """The three headers by which a receiver knows who sent it, when, and whether it came before."""
    stamp = str(int(now.timestamp()))
    signed = b".".join((letter_id.encode(), stamp.encode(), body))
    digest = base64.b64encode(hmac.digest(key.encode(), signed, hashlib.sha256)).decode()
    return {"webhook-id": letter_id, "webhook-timestamp": stamp, "webhook-signature": f"v1,{digest}"}
