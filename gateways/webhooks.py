"""Signed webhooks, after the Standard Webhooks convention: webhook-id, webhook-timestamp, webhook-signature."""

import base64
import hashlib
import hmac
from collections.abc import Collection
from datetime import datetime
from typing import Final

import orjson
from urllib3.exceptions import HTTPError

from gateways.errors import BadReply, Unavailable
from gateways.letters import Letter
from gateways.public_https import path_of, pool_to, target_of
from gateways.refusals import unreachable

_AGENT: Final = "hyperpod-portal"


def post_signed(url: str, key: str, letter: Letter, *, now: datetime, allowed: Collection[str]) -> None:
    """Send it once. Follows no redirect. Hosts in `allowed` may be internal, and be spoken to without TLS.

    Raises GatewayError: Denied for an internal host, Unavailable if trying again may help, else BadReply.
    """
    target = target_of(url, allowed, "a webhook")
    body = orjson.dumps({"type": "notices", "id": letter.id, "title": letter.title, "notices": list(letter.facts)})
    headers = {
        "Host": target.netloc,
        "User-Agent": _AGENT,
        "Content-Type": "application/json",
        **signature(key, letter.id, now, body),
    }
    try:
        with pool_to(target, allowed) as pool:
            response = pool.urlopen(
                "POST",
                path_of(target),
                body=body,
                headers=headers,
                redirect=False,
                retries=False,
                preload_content=False,
            )
            response.close()
    except HTTPError as error:
        raise unreachable(f"https://{target.netloc}", error) from error
    if not 200 <= response.status < 300:
        is_busy = response.status == 429 or response.status >= 500
        raise (Unavailable if is_busy else BadReply)(f"{target.hostname}: {response.status}")


def signature(key: str, letter_id: str, now: datetime, body: bytes) -> dict[str, str]:
    """The three headers by which a receiver knows who sent it, when, and whether it came before."""
    stamp = str(int(now.timestamp()))
    signed = b".".join((letter_id.encode(), stamp.encode(), body))
    digest = base64.b64encode(hmac.digest(key.encode(), signed, hashlib.sha256)).decode()
    return {"webhook-id": letter_id, "webhook-timestamp": stamp, "webhook-signature": f"v1,{digest}"}
