"""The library's settings, for one identity provider: every switch that makes it stricter is on."""

from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.urls import reverse
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Constants

from accounts.models import IdentityProvider
from accounts.saml.metadata import BadMetadata, Facts, read_metadata
from accounts.saml.refusals import Reason, Refused


def our_address(view: str, slug: str) -> str:
    """As everybody sees it, whatever a request says of its host."""
    return f"{settings.PORTAL_ADDRESS}{reverse(view, args=[slug])}"


def facts_of(provider: IdentityProvider) -> Facts:
    """From the last good copy; nothing is fetched. Raises Refused if there is none, or none that can be read by now."""
    try:
        return read_metadata(provider.metadata)
    except BadMetadata as error:
        raise Refused(Reason.NO_METADATA) from error


def config_of(provider: IdentityProvider, now: datetime) -> dict[str, Any]:
    """To sign people in. Raises Refused without metadata or if no certificate of theirs is valid."""
    facts = facts_of(provider)
    certificates = facts.valid_certificates(now)
    if not certificates:
        raise Refused(Reason.CERTIFICATE_EXPIRED)
    idp: dict[str, Any] = {
        "entityId": facts.entity_id,
        "singleSignOnService": {"url": facts.sso_url, "binding": Constants.BINDING_HTTP_REDIRECT},
        "x509cert": certificates[0],
        "x509certMulti": {"signing": certificates},
    }
    if facts.slo_url:
        idp["singleLogoutService"] = {"url": facts.slo_url, "binding": Constants.BINDING_HTTP_REDIRECT}
    return {**sp_config(provider.slug, signs_response=provider.signs_response), "idp": idp}


def sp_config(slug: str, *, signs_response: bool = True) -> dict[str, Any]:
    """Our side alone, which is there before the identity provider's is known."""
    has_key = bool(settings.SAML_KEY)
    sp = {
        "entityId": our_address("saml-metadata", slug),
        "assertionConsumerService": {"url": our_address("saml-acs", slug), "binding": Constants.BINDING_HTTP_POST},
        "singleLogoutService": {"url": our_address("saml-logout", slug), "binding": Constants.BINDING_HTTP_REDIRECT},
        "NameIDFormat": Constants.NAMEID_PERSISTENT,
        "x509cert": settings.SAML_CERTIFICATE,
        "privateKey": settings.SAML_KEY,
    }
    security = {
        "authnRequestsSigned": has_key,
        "logoutRequestSigned": has_key,
        "logoutResponseSigned": has_key,
        "signMetadata": has_key,
        "wantMessagesSigned": signs_response,
        "wantNameId": True,
        "wantAttributeStatement": True,
        "allowRepeatAttributeName": True,
        "rejectDeprecatedAlgorithm": True,
        "requestedAuthnContext": False,
        "allowSingleLabelDomains": True,
        "signatureAlgorithm": Constants.RSA_SHA256,
        "digestAlgorithm": Constants.SHA256,
        "metadataValidUntil": "",
        "metadataCacheDuration": "P1D",
    }
    return {"strict": True, "sp": sp, "security": security}


def as_received(view: str, slug: str, **sent: Any) -> dict[str, Any]:
    """The library's idea of a request, at our own address instead of the one that a Host header names."""
    address = urlsplit(our_address(view, slug))
    return {
        "https": "on" if address.scheme == "https" else "off",
        "http_host": address.netloc,
        "script_name": address.path,
        **sent,
    }
