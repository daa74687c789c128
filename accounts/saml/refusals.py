"""Why a sign-in is refused: a word for the log, a sentence for the person."""

from enum import StrEnum
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class Reason(StrEnum):
    """What was found, in the order in which it is looked for."""

    MALFORMED = "malformed"
    TOO_LARGE = "too large"
    SHAPE = "shape"
    ENCRYPTED = "encrypted"
    SIGNATURE_SHAPE = "signature shape"
    CERTIFICATE_EXPIRED = "certificate expired"
    NOT_VALID = "not valid"
    UNSOLICITED = "unsolicited"
    DESTINATION = "destination"
    AUDIENCE = "audience"
    ISSUER = "issuer"
    TIMES = "times"
    CONFIRMATION = "confirmation"
    VALUES = "values"
    NAME_ID = "name id"
    TRANSIENT = "transient name id"
    NOT_PERSISTENT = "name id not persistent"
    NO_ARRIVAL = "no arrival"
    UNKNOWN_REQUEST = "unknown request"
    NOT_ANEW = "not asked anew"
    REPLAYED = "replayed"
    ARCHIVED = "archived"
    NO_METADATA = "no metadata"
    LOGOUT = "logout"


class Refused(Exception):
    """Raised before any session is made. `detail` holds nothing of what was sent, so that it can be logged."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail

    @property
    def is_of_logout(self) -> bool:
        """Whether nobody wanted to sign in."""
        return self.reason is Reason.LOGOUT

    @property
    def sentence(self) -> Promise:
        return _SENTENCES.get(self.reason, _OTHERWISE)


_OTHERWISE: Final = _(
    "What the identity provider sent could not be accepted. Start again; if that does not help, tell the platform "
    "admin."
)
_AGAIN: Final = _("This sign-in took more than ten minutes, or it was begun in another browser. Start again.")
_SENTENCES: Final[dict[Reason, Promise]] = {
    Reason.UNSOLICITED: _(
        "A sign-in begins here, not at the identity provider: otherwise somebody else could sign you in as "
        "themselves. Start again; the tile at the identity provider should point to this portal's address."
    ),
    Reason.UNKNOWN_REQUEST: _AGAIN,
    Reason.NO_ARRIVAL: _AGAIN,
    Reason.NOT_ANEW: _(
        "The identity provider was to ask for your credentials anew and did not. You are signed in as before. Sign out "
        "there and start again; if that does not help, tell the platform admin."
    ),
    Reason.REPLAYED: _("Somebody has signed in with this very answer already. Start again."),
    Reason.CERTIFICATE_EXPIRED: _(
        "The certificate with which the identity provider signs has expired. The platform admin has to renew it there."
    ),
    Reason.TRANSIENT: _(
        "The identity provider calls you by another name at each sign-in (a transient NameID), so that the portal "
        "cannot know you again. The platform admin has to choose a persistent one there."
    ),
    Reason.NOT_PERSISTENT: _(
        "The identity provider calls you by a name that may change (its NameID is not persistent). The platform admin "
        "has to choose a persistent one there."
    ),
    Reason.ENCRYPTED: _(
        "The identity provider encrypts what it says, and the portal reads only what is signed. The platform admin has "
        "to turn the encryption of assertions off there; the way here is encrypted already."
    ),
    Reason.ARCHIVED: _("Your access to the portal has ended. Ask the platform admin if you need it again."),
    Reason.NO_METADATA: _(
        "The portal does not know yet how to reach this identity provider: it asks every 15 minutes. If this stays so, "
        "tell the platform admin."
    ),
    Reason.LOGOUT: _(
        "The identity provider's request to end your session is not signed, or not about this session. Nothing has "
        "changed. To end your session here, choose Sign out in the portal."
    ),
}
