"""Secrets that programs show instead of a session: made here, told once, kept as a digest alone."""

from hashlib import sha256
from secrets import token_urlsafe

from django.http import HttpRequest

_BYTES = 32


def new_secret(prefix: str) -> str:
    """`prefix` says to people and to secret scanners what they found."""
    return f"{prefix}_{token_urlsafe(_BYTES)}"


def digest(secret: str) -> str:
    """64 hexadecimal digits. Secrets are random and long, so that no slow hash is needed."""
    return sha256(secret.encode()).hexdigest()


def shown_secret(request: HttpRequest) -> str:
    """What the `Authorization` header bears, or nothing."""
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""
