"""When the certificates run out with which an identity provider signs."""

import base64
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509 import load_der_x509_certificate

from accounts import expiry
from accounts.models import IdentityProvider
from accounts.saml.metadata import BadMetadata, read_metadata

_KEPT: Final = 20
"""So many documents' certificates are kept as they were parsed: every page of an admin asks for them."""


@dataclass(frozen=True, slots=True)
class SigningCertificate:
    """One that its metadata names. `fingerprint`: how the SHA-256 of it begins, as consoles show it."""

    fingerprint: str
    begins: datetime
    ends: datetime

    def days_left(self, now: datetime) -> int:
        return expiry.days_left(self.ends, now)

    def warned(self, now: datetime) -> int | None:
        return expiry.warned(self.ends, now)


def signing_certificates(provider: IdentityProvider) -> tuple[SigningCertificate, ...]:
    """The one that lasts longest first; none where there is no metadata or none that can be read."""
    return _certificates_in(provider.metadata)


@lru_cache(maxsize=_KEPT)
def _certificates_in(metadata: str) -> tuple[SigningCertificate, ...]:
    try:
        found = read_metadata(metadata).certificates if metadata else ()
    except BadMetadata:
        return ()
    return tuple(sorted(map(_read, found), key=lambda each: each.ends, reverse=True))


def _read(text: str) -> SigningCertificate:
    certificate = load_der_x509_certificate(base64.b64decode(text))
    fingerprint = certificate.fingerprint(SHA256()).hex(":").upper()[:23]
    return SigningCertificate(fingerprint, certificate.not_valid_before_utc, certificate.not_valid_after_utc)


def running_out(now: datetime) -> list[tuple[IdentityProvider, SigningCertificate]]:
    """Enabled providers whose last certificate ends within sixty days or has ended. One query."""
    found = [(each, signing_certificates(each)) for each in IdentityProvider.objects.filter(enabled=True)]
    return [(each, last[0]) for each, last in found if last and last[0].warned(now) is not None]
