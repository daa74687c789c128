"""Typed reading of environment variables. What is missing or malformed stops the start with a sentence."""

import os
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import dj_database_url
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured

_DATABASES = ("postgres", "postgresql", "sqlite")
_WORDS = {"true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False}


def env_str(name: str, default: str | None = None) -> str:
    """The variable's text; without a default it must be set and not empty."""
    value = os.environ.get(name, "").strip() or default
    if value is None:
        raise ImproperlyConfigured(f"The environment variable {name} is not set. See docs/settings.md.")
    return value


def env_choice(name: str, choices: Sequence[str], default: str | None = None) -> str:
    """One of `choices`."""
    value = env_str(name, default)
    if value not in choices:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be one of: {', '.join(choices)}.")
    return value


def env_bool(name: str, default: bool) -> bool:
    """true or false (also yes, no, on, off, 1, 0)."""
    value = env_str(name, str(default)).lower()
    if value not in _WORDS:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be true or false.")
    return _WORDS[value]


def env_int(name: str, default: int, *, least: int = 0) -> int:
    """A whole number, not below `least`."""
    value = env_str(name, str(default))
    if not value.isascii() or not value.isdecimal() or int(value) < least:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be a whole number, {least} or more.")
    return int(value)


def env_list(name: str, default: str | None = None) -> list[str]:
    """Comma-separated parts, at least one, none of them empty."""
    parts = [part.strip() for part in env_str(name, default).split(",") if part.strip()]
    if not parts:
        raise ImproperlyConfigured(f"{name} lists nothing; give at least one name.")
    return parts


def env_secret(name: str, default: str | None = None) -> str:
    """A secret from the variable itself or from the file that NAME_FILE gives."""
    path = os.environ.get(f"{name}_FILE", "").strip()
    if not path:
        return env_str(name, default)
    try:
        value = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(f"{name}_FILE names a file that cannot be read: {error}.") from error
    if not value:
        raise ImproperlyConfigured(f"{name}_FILE names an empty file: {path}.")
    return value


def env_address(name: str, default: str) -> str:
    """HOST:PORT, the host as an IP address ([::1]:8000 for version 6)."""
    value = env_str(name, default)
    host, _, port = value.rpartition(":")
    try:
        ip_address(host.strip("[]"))
        int(port)
    except ValueError as error:
        raise ImproperlyConfigured(
            f"{name} is {value!r}; it must be an IP address and a port, such as 127.0.0.1:8000."
        ) from error
    return value


def env_url(name: str, schemes: Sequence[str], default: str | None = None) -> str:
    """An address with one of the schemes, from the variable or the file that NAME_FILE gives. Never quoted in errors:
    it may hold a password."""
    value = env_secret(name, default)
    if value.partition("://")[0] not in schemes or "://" not in value:
        raise ImproperlyConfigured(f"{name} must begin with one of: {', '.join(f'{each}://' for each in schemes)}.")
    return value


def env_keys(name: str) -> list[str]:
    """Comma-separated Fernet keys, from the variable or the file that NAME_FILE gives; none if it is not set."""
    keys = [key.strip() for key in env_secret(name, "").split(",") if key.strip()]
    for number, key in enumerate(keys, 1):
        try:
            Fernet(key)
        except ValueError as error:
            raise ImproperlyConfigured(f"{name}: key {number} is no Fernet key (32 bytes, base64url).") from error
    return keys


def env_database(name: str, default: str) -> dict[str, Any]:
    """Django's settings of the database at an address, from the variable or the file that NAME_FILE gives."""
    try:
        parsed: dict[str, Any] = dict(dj_database_url.parse(env_url(name, _DATABASES, default)))
    except ValueError:
        parsed = {}
    if not parsed.get("NAME"):
        raise ImproperlyConfigured(
            f"{name} is no whole address of a database, such as postgres://user:password@host:5432/name. What is no "
            "letter or digit in the password is written as %XX."
        )
    return parsed
