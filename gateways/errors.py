"""The one family of errors that gateways raise. None carries a token or a whole reply."""

from typing import ClassVar


class GatewayError(Exception):
    """An outside system did not give what was asked. `retryable`: asking again later may help."""

    retryable: ClassVar[bool] = False


class Unavailable(GatewayError):
    """No answer, a timeout, 429 or a 5xx."""

    retryable = True


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
    """An answer that cannot be read."""
