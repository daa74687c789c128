"""What `manage.py check --deploy` finds wrong about the address that identity providers and browsers know."""

from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.http.request import validate_host

from accounts.saml.config import our_address

_ANY: Final = "any"
_ADDRESSES: Final = ("saml-metadata", "saml-acs", "saml-logout")


@register(Tags.security, deploy=True)
def check_address(**kwargs: Any) -> list[CheckMessage]:
    """Nothing of it concerns the demo, which has no TLS and no proxy."""
    if settings.DEMO:
        return []
    return [*_not_https(), *_not_answered(), *_no_proxy()]


def _not_https() -> list[CheckMessage]:
    plain = [address for view in _ADDRESSES if not (address := our_address(view, _ANY)).startswith("https://")]
    hint = "Let PORTAL_ADDRESS begin with https://, or unset it."
    return [Error(f"Identity providers would be told {address}.", hint=hint, id="accounts.E001") for address in plain]


def _not_answered() -> list[CheckMessage]:
    host = urlsplit(settings.PORTAL_ADDRESS).hostname or ""
    if host and host[0] not in ".*" and validate_host(host, settings.ALLOWED_HOSTS):
        return []
    hint = "Let PORTAL_ADDRESS begin with https:// and one of PORTAL_HOSTS."
    return [Error(f"The portal does not answer at its own address {host!r}.", hint=hint, id="accounts.E002")]


def _no_proxy() -> list[CheckMessage]:
    if settings.SECURE_PROXY_SSL_HEADER:
        return []
    told = "No proxy is believed about TLS, and the portal's own web server has none: addresses would redirect forever."
    hint = "Set PORTAL_BEHIND_PROXY to true behind a proxy that sets X-Forwarded-Proto itself."
    return [Warning(told, hint=hint, id="accounts.W003")]
