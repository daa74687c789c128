"""What an admin should do after trying a provider out."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from accounts.claims import ENTRA_DIRECTORY_ROLES, ENTRA_GROUPS, OVERAGE
from accounts.models import IdentityProvider
from accounts.saml.expiry import signing_certificates
from accounts.saml.findings import Findings
from accounts.saml.refusals import Reason

_LIKELY: Final = (ENTRA_GROUPS, "groups", "memberOf", "Groups", "group", "Teams")
"""What groups are called where nobody chose a name."""
_PASTE: Final = _("What was pasted there is not what this page says: compare the entity ID and the ACS URL once more.")
_PERSISTENT: Final = _(
    "Have it send a persistent NameID: in IAM Identity Center map Subject to ${user:subject} with the format "
    "persistent; in Entra ID take user.objectid with the format Persistent as unique user identifier."
)
_OF_ANOTHER: Final = _("The metadata is of another application than the one that answered. Take that of this one.")
_CLOCKS: Final = _("Compare both clocks: they may differ by five minutes at most.")
_BY_REASON: Final[dict[str, Promise]] = {
    Reason.AUDIENCE: _PASTE,
    Reason.DESTINATION: _PASTE,
    Reason.CONFIRMATION: _PASTE,
    Reason.NAME_ID: _PERSISTENT,
    Reason.TRANSIENT: _PERSISTENT,
    Reason.NOT_PERSISTENT: _PERSISTENT,
    Reason.ISSUER: _OF_ANOTHER,
    Reason.ENCRYPTED: _(
        "Switch the encryption of assertions off there, the way here is encrypted already: in Entra ID deactivate the "
        "token encryption of the application, in AD FS set EncryptClaims to false, in Okta choose Unencrypted, in "
        "Keycloak switch Encrypt assertions off."
    ),
    Reason.CERTIFICATE_EXPIRED: _("Renew the certificate there; then have the metadata read or paste it again."),
    Reason.NO_METADATA: _("Give the metadata first."),
    Reason.TIMES: _CLOCKS,
    Reason.SIGNATURE_SHAPE: _("Have it sign the response and the assertion, with SHA-256 and no other transforms."),
    Reason.SHAPE: _("Is every attribute mapped there, Subject above all? An empty one makes the response invalid."),
    Reason.NOT_VALID: _(
        "Is the metadata that of this application, with the certificate that signs now? Does it sign with SHA-256? Is "
        "every attribute mapped there, Subject above all? Do both clocks agree?"
    ),
}
_BY_DETAIL: Final[dict[str, Promise]] = {
    "wrong destination": _PASTE,
    "empty destination": _PASTE,
    "wrong audience": _PASTE,
    "wrong issuer": _OF_ANOTHER,
    "assertion too early": _CLOCKS,
    "assertion expired": _CLOCKS,
    "no attributestatement": _(
        "It sends no attributes at all, not even an empty one for the groups. Map at least the e-mail address there."
    ),
    "status code is not success": _(
        "It refused to sign you in. Are you, or is a group of yours, assigned to this application there?"
    ),
}
"""Of what the library finds, which is not valid whatever it is."""
_ELSE: Final = _("Look the detail up in the documentation of sign-in, or send it to whoever looks after the portal.")


def todo(provider: IdentityProvider, findings: Findings) -> Promise:
    """After a refusal."""
    is_half = findings.signs_assertion and not findings.signs_response
    if findings.reason == Reason.NOT_VALID and is_half and provider.signs_response:
        return _(
            "It signs the assertion alone, and the portal wants the response signed. Have it sign both; where it "
            "cannot, clear “It signs the response” and try again."
        )
    if findings.reason == Reason.NOT_VALID and findings.detail in _BY_DETAIL:
        return _BY_DETAIL[findings.detail]
    return _BY_REASON.get(findings.reason, _ELSE)


def warnings(provider: IdentityProvider, findings: Findings, now: datetime) -> Iterator[Promise]:
    """What would not keep anybody out and is still not as it should be."""
    yield from _about_groups(provider, findings)
    yield from _about_signatures(provider, findings)
    last = next(iter(signing_certificates(provider)), None)
    if last is not None and last.warned(now) is not None:
        yield _("Its last certificate ends soon or has ended.")


def _about_groups(provider: IdentityProvider, findings: Findings) -> Iterator[Promise]:
    arrived = findings.attributes
    if OVERAGE in arrived:
        yield _(
            "You are in more groups than it tells of: it sent a link instead, which is never followed. Whoever comes "
            "so keeps the groups known before. Have it send only the groups assigned to the application."
        )
    elif ENTRA_DIRECTORY_ROLES in arrived and provider.groups_attribute not in arrived:
        yield _("It sends directory roles, no groups. Choose groups assigned to the application for the claim.")
    elif provider.groups_attribute not in arrived:
        yield _("The attribute with the groups did not arrive: whoever comes so is in no group.")
    yield from (
        format_lazy(_("Groups seem to arrive as {name}."), name=name)
        for name in _LIKELY
        if name in arrived and provider.groups_attribute not in arrived
    )


def _about_signatures(provider: IdentityProvider, findings: Findings) -> Iterator[Promise]:
    if findings.signs_response and not provider.signs_response:
        yield _("It does sign the response: mark “It signs the response”, so that nothing else is accepted.")
    if not findings.signs_response and not provider.signs_response:
        yield _("It signs the assertion alone. If it can sign the response, too, have it do so.")
