"""What all calls to AWS have in common: how long they may take, and what their failures mean."""

from typing import Any

from botocore.config import Config  # type: ignore[import-untyped]
from botocore.exceptions import (  # type: ignore[import-untyped]
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    ReadTimeoutError,
)

from gateways.errors import BadReply, ConfigurationError, Denied, GatewayError, NotFound, Unavailable

CALLS: Any = Config(connect_timeout=5, read_timeout=20, retries={"mode": "standard", "total_max_attempts": 3})
_DENIED = ("AccessDenied", "UnrecognizedClient", "InvalidClientToken", "ExpiredToken", "InvalidSignature")
_SILENT = (ConnectTimeoutError, EndpointConnectionError, HTTPClientError, ReadTimeoutError)


def refusal_of(what: str, action: str, error: BotoCoreError | ClientError) -> GatewayError:
    """`what` was asked, such as `the EKS cluster shared`, with the right `action`."""
    if isinstance(error, _SILENT):
        return Unavailable(f"AWS does not answer for {what} ({type(error).__name__})")
    if not isinstance(error, ClientError):
        return ConfigurationError(f"AWS cannot be asked for {what}: {error}")
    code = str(error.response.get("Error", {}).get("Code", ""))
    if code == "ResourceNotFoundException":
        return NotFound(f"there is not {what} in this account and region")
    if code.startswith(_DENIED):
        return Denied(f"AWS refuses {action} on {what} ({code})")
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if status >= 500 or status == 429 or "Throttl" in code:
        return Unavailable(f"AWS does not answer for {what} now ({code})")
    return BadReply(f"AWS does not tell of {what} ({code})")
