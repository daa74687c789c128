"""A provider's request to end a session: signed, and of this very session, or nothing ends."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from onelogin.saml2.auth import OneLogin_Saml2_Auth as Auth
from onelogin.saml2.logout_request import OneLogin_Saml2_Logout_Request as LogoutRequest

from accounts.models import IdentityProvider
from accounts.saml.config import as_received, config_of
from accounts.saml.refusals import Reason, Refused


def answer_logout(request: HttpRequest, provider: IdentityProvider, session: Mapping[str, str], now: datetime) -> str:
    """Where to send the browser with our answer; empty if the provider takes none. Raises Refused.

    Without a session here, which may have ended before, the answer is the same: else the provider's own logout would
    stop at the portal, and what it began elsewhere would live on. The portal sends no requests, so that every response
    is one that nobody asked for.
    """
    sent = request.GET.dict()
    if "SAMLResponse" in sent or not all(sent.get(name) for name in ("SAMLRequest", "Signature", "SigAlg")):
        raise Refused(Reason.LOGOUT, "not signed")
    config = config_of(provider, now)
    received = as_received("saml-logout", provider.slug, get_data=sent)
    received |= {"query_string": request.META.get("QUERY_STRING", ""), "validate_signature_from_qs": True}
    auth = Auth(received, config)
    address = _processed(auth)
    if session:
        _check_session(auth.get_last_request_xml(), config["sp"]["privateKey"], session)
    return address if config["idp"].get("singleLogoutService") else ""


def _processed(auth: Auth) -> str:
    try:
        address: str = auth.process_slo(keep_local_session=True) or ""
    except Exception as error:  # whatever the library raises at what a stranger sends
        raise Refused(Reason.LOGOUT, type(error).__name__) from error
    if auth.get_errors():
        raise Refused(Reason.LOGOUT, str(auth.get_errors()[0]))
    return address


def _check_session(xml: Any, key: str, session: Mapping[str, str]) -> None:
    name_id = LogoutRequest.get_nameid(xml, key or None)
    indexes = LogoutRequest.get_session_indexes(xml)
    if name_id != session["name_id"] or session["session_index"] not in indexes:
        raise Refused(Reason.LOGOUT, "of another session")
