"""What an identity provider says of a person who signs in."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

_ENTRA: Final = "http://schemas.microsoft.com"
_WS: Final = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims"
OVERAGE: Final = f"{_ENTRA}/claims/groups.link"
"""Entra sends it instead of the groups of people who are in too many. What it points to is never fetched."""
ENTRA_GROUPS: Final = f"{_ENTRA}/ws/2008/06/identity/claims/groups"
ENTRA_DIRECTORY_ROLES: Final = f"{_ENTRA}/ws/2008/06/identity/claims/wids"
"""What it sends where somebody chose directory roles instead of groups."""
_EMAIL: Final = (f"{_WS}/emailaddress", "email", "mail", "urn:oid:0.9.2342.19200300.100.1.3")
_NAME: Final = (f"{_ENTRA}/identity/claims/displayname", "displayName", "name", "urn:oid:2.16.840.1.113730.3.1.241")
_GIVEN: Final = (f"{_WS}/givenname", "givenName", "urn:oid:2.5.4.42")
_FAMILY: Final = (f"{_WS}/surname", "surname", "sn", "urn:oid:2.5.4.4")
_LONGEST_GROUP: Final = 200
"""Characters. Nothing can be mapped to a longer one."""


@dataclass(frozen=True, slots=True)
class Claims:
    """`session_until`: when the provider wants the session to end. `authenticated_at`: when it last asked for
    credentials. `valid_until`: from then on the assertion cannot be used, by our clock or one that is up to the drift
    behind."""

    name_id: str
    assertion_id: str
    answers: str
    valid_until: datetime
    session_index: str
    session_until: datetime | None
    authenticated_at: datetime
    attributes: Mapping[str, tuple[str, ...]]

    @property
    def email(self) -> str:
        return self._first(_EMAIL)

    @property
    def name(self) -> str:
        """As they are shown; empty if nothing was said of it."""
        parts = (self._first(_GIVEN), self._first(_FAMILY))
        return self._first(_NAME) or " ".join(part for part in parts if part)

    def groups(self, attribute: str) -> frozenset[str] | None:
        """Their groups; None if there are more than the provider tells of. No such attribute means no groups: whoever
        is taken out of the last one must lose what it gave."""
        if OVERAGE in self.attributes:
            return None
        return frozenset(value for value in self.attributes.get(attribute, ()) if 0 < len(value) <= _LONGEST_GROUP)

    def _first(self, names: Iterable[str]) -> str:
        return next((value for name in names for value in self.attributes.get(name, ()) if value), "")

    def as_json(self) -> dict[str, Any]:
        until = self.session_until.isoformat() if self.session_until else None
        times = {"valid_until": self.valid_until.isoformat(), "authenticated_at": self.authenticated_at.isoformat()}
        return {**asdict(self), **times, "session_until": until}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> "Claims":
        until = kept["session_until"]
        return cls(
            **{
                **kept,
                "valid_until": datetime.fromisoformat(kept["valid_until"]),
                "authenticated_at": datetime.fromisoformat(kept["authenticated_at"]),
                "session_until": datetime.fromisoformat(until) if until else None,
                "attributes": {name: tuple(values) for name, values in kept["attributes"].items()},
            }
        )
