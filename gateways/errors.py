"""The one family of errors that gateways raise. None carries a token or a whole reply."""

from typing import ClassVar


class GatewayError(Exception):
    """An outside system did not give what was asked. `retryable`: asking again later may help."""

    retryable: ClassVar[bool] = False


class ConfigurationError(GatewayError):
    """The portal's own settings for the connection cannot be used: a missing kubeconfig or context, unreadable YAML,
    a credential plugin without a token, a certificate that the configured authority did not sign."""


class Unavailable(GatewayError):
    """No answer, a timeout, a broken connection, 429 or a 5xx. `retry_after`: the seconds the server asked to wait."""

    retryable = True

    def __init__(self, text: str, retry_after: float | None = None) -> None:
        super().__init__(text)
        self.retry_after = retry_after


class Denied(GatewayError):
    """401 or 403: the credentials are not accepted or lack a right."""


class NotFound(GatewayError):
    """404: no such object, or the kind is not served."""


class Conflict(GatewayError):
    """409: the object changed in the meantime, or exists already."""


class Gone(GatewayError):
    """410: the resourceVersion or continue token is too old; list again."""

    retryable = True


class BadReply(GatewayError):
    """An answer that cannot be read, or a request that the server finds wrong."""
