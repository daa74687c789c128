"""From an HTTP status or a broken connection to one of the errors of `gateways.errors`, without secrets."""

import re
from typing import Final
from urllib.parse import urlsplit

import orjson
import urllib3
from urllib3.exceptions import (
    ConnectTimeoutError,
    LocationValueError,
    NameResolutionError,
    NewConnectionError,
    ProtocolError,
    ProxyError,
    ReadTimeoutError,
    SSLError,
)

from gateways.errors import BadReply, ConfigurationError, Conflict, Denied, GatewayError, Gone, NotFound, Unavailable

MOST_MESSAGE: Final = 300

_BY_STATUS: Final[dict[int, type[GatewayError]]] = {401: Denied, 403: Denied, 404: NotFound, 409: Conflict, 410: Gone}
_SECRETS: Final = re.compile(
    r"k8s-aws-v1\.[\w-]+|eyJ[\w-]+\.[\w.-]+|(?i:(?:bearer|basic)\s+\S+|x-amz-(?:signature|security-token|credential)=[^&\s]+)"
)
_REASONS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (ReadTimeoutError, "it stayed silent for too long"),
    (NameResolutionError, "its name does not resolve"),
    (NewConnectionError, "it refuses connections or has no route"),
    (ConnectTimeoutError, "no connection in time"),
    (ProxyError, "the proxy does not pass the call on"),
    (SSLError, "TLS failed"),
    (ProtocolError, "the connection broke"),
)


def refusal(method: str, path: str, response: urllib3.BaseHTTPResponse, body: bytes, token: str) -> GatewayError:
    """The error for an answer of 300 or more. `token` is blanked if the server repeats it."""
    text = f"{method} {path}: {response.status}{_message(body, token)}"
    return status_error(response.status, text, _retry_after(response.headers.get("Retry-After", "")))


def status_error(status: int, text: str, retry_after: float | None = None) -> GatewayError:
    """The member of the family for a Kubernetes status code."""
    if status == 429 or status >= 500:
        return Unavailable(text, retry_after)
    return _BY_STATUS.get(status, BadReply)(text)


def unreachable(host: str, error: Exception) -> GatewayError:
    """The error for a call that broke below HTTP."""
    place = urlsplit(host).netloc.rpartition("@")[2] or "the API server"
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return ConfigurationError(f"{place}: its certificate is not signed by the configured certificate authority")
    if isinstance(error, LocationValueError):
        return ConfigurationError(f"{place}: no address of a server")
    for kind, reason in _REASONS:
        if isinstance(error, kind):
            return Unavailable(f"{place} does not answer: {reason}")
    return Unavailable(f"{place} does not answer ({type(error).__name__})")


def blanked(text: str, token: str = "") -> str:
    """The text's beginning without tokens and signatures, on one line."""
    bare = token.rpartition(" ")[2]
    if bare:
        text = text.replace(bare, "[secret]")
    return " ".join(_SECRETS.sub("[secret]", text).split())[:MOST_MESSAGE]


def _message(body: bytes, token: str) -> str:
    """What a Status object says; other bodies (a proxy's page) are not repeated."""
    try:
        status = orjson.loads(body)
    except orjson.JSONDecodeError:
        return " (not Kubernetes' own answer)" if body else ""
    message = status.get("message") if isinstance(status, dict) and status.get("kind") == "Status" else None
    return f": {blanked(message, token)}" if isinstance(message, str) else ""


def _retry_after(text: str) -> float | None:
    return float(text) if text.isdecimal() and text.isascii() and len(text) < 6 else None
