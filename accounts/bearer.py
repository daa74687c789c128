"""Secrets that programs show instead of a session: made here, told once, kept as a digest alone."""

from datetime import datetime, timedelta
from hashlib import sha256
from secrets import token_urlsafe
from typing import Final

from django.db.models import Q
from django.http import HttpRequest

from accounts.models import ApiToken, ScimCredential

_BYTES: Final = 32
_USES_APART: Final = timedelta(minutes=1)


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


def note_use(bearer: ApiToken | ScimCredential, address: str, now: datetime) -> None:
    """When and from where: written at most once a minute. Not audited: programs ask all day."""
    before = now - _USES_APART
    if bearer.last_used_at is None or bearer.last_used_at <= before:
        was_not_noted = Q(last_used_at__isnull=True) | Q(last_used_at__lte=before)
        same = type(bearer).objects.filter(was_not_noted, pk=bearer.pk)
        same.update(last_used_at=now, last_used_from=address)
