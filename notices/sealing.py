"""Secrets of channels at rest: encrypted under PORTAL_CHANNEL_KEYS, of which the first seals and all open."""

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from gateways.errors import ConfigurationError


def seal(text: str) -> str:
    """Raises ConfigurationError without keys."""
    return _box().encrypt(text.encode()).decode()


def unseal(sealed: str) -> str:
    """Raises ConfigurationError without the key that sealed it."""
    try:
        return _box().decrypt(sealed).decode()
    except InvalidToken as error:
        raise ConfigurationError("It was sealed under a key that PORTAL_CHANNEL_KEYS no longer holds.") from error


def reseal(sealed: str) -> str:
    """The same secret under the first key. Raises ConfigurationError."""
    return seal(unseal(sealed))


def _box() -> MultiFernet:
    if not settings.CHANNEL_KEYS:
        raise ConfigurationError("The portal has no keys for secrets: set PORTAL_CHANNEL_KEYS.")
    return MultiFernet([Fernet(key) for key in settings.CHANNEL_KEYS])
