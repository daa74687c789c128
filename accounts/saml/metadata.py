"""What an identity provider's metadata says: who it is, where to send people, and how it signs."""

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from cryptography.x509 import Certificate, load_der_x509_certificate
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from onelogin.saml2.idp_metadata_parser import OneLogin_Saml2_IdPMetadataParser as Parser

LONGEST = 1_000_000
"""Characters: a federation's metadata of thousands of providers is refused."""


class BadMetadata(ValueError):
    """It is not the metadata of one identity provider; the message says why, in the reader's language."""


@dataclass(frozen=True, slots=True)
class Facts:
    """`certificates` are base64 of DER; more than one during a rollover. `slo_url` may be empty."""

    entity_id: str
    sso_url: str
    slo_url: str
    certificates: tuple[str, ...]

    def valid_certificates(self, now: datetime) -> list[str]:
        return [each for each in self.certificates if _is_valid(_certificate(each), now)]


def read_metadata(text: str) -> Facts:
    """Raises BadMetadata."""
    if len(text) > LONGEST:
        raise BadMetadata(_("It is too large."))
    try:
        found = Parser.parse(text.strip().encode()).get("idp") or {}
    except Exception as error:  # the library raises whatever its parts raise at what is not theirs
        raise BadMetadata(_("It is not SAML metadata.")) from error
    if not found:
        raise BadMetadata(_("It describes no identity provider."))
    if text.count("IDPSSODescriptor") > 2:
        raise BadMetadata(_("It describes more than one identity provider."))
    facts = Facts(
        found.get("entityId") or "",
        _address(found.get("singleSignOnService"), "singleSignOnService"),
        _address(found.get("singleLogoutService"), "singleLogoutService", optional=True),
        tuple(_certificates(found)),
    )
    if not facts.entity_id or not facts.certificates:
        raise BadMetadata(_("It has no entity ID or no signing certificate."))
    return facts


def _address(service: dict[str, Any] | None, name: str, *, optional: bool = False) -> str:
    """An https address for the redirect binding; http only on loopback, where tests run."""
    url = (service or {}).get("url") or ""
    if not url and optional:
        return ""
    if not is_safe(url):
        raise BadMetadata(format_lazy(_("Its {name} by HTTP-Redirect is not an https address."), name=name))
    return str(url)


def is_safe(url: str) -> bool:
    """Whether it is https, or http on loopback."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host)))
    except ValueError:
        return False


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _certificates(found: dict[str, Any]) -> Iterable[str]:
    several = found.get("x509certMulti", {}).get("signing") or [found.get("x509cert")]
    for text in several:
        if text:
            plain = "".join(str(text).split())
            _certificate(plain)
            yield plain


def _certificate(text: str) -> Certificate:
    try:
        return load_der_x509_certificate(base64.b64decode(text, validate=True))
    except ValueError as error:
        raise BadMetadata(_("One of its certificates cannot be read.")) from error


def _is_valid(certificate: Certificate, now: datetime) -> bool:
    return certificate.not_valid_before_utc <= now < certificate.not_valid_after_utc
