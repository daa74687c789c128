"""What people of an identity provider are called here."""

from hashlib import sha256
from typing import Final

_LONGEST: Final = 150


def username_of(slug: str, name_id: str) -> str:
    """`corp:NAMEID`; a NameID that is too long for that stands there as its SHA-256."""
    name = f"{slug}:{name_id}"
    return name if len(name) <= _LONGEST else f"{slug}:{sha256(name_id.encode()).hexdigest()}"
