"""A provider's request to end sessions: signed, and of this very session or of all of a person's, or nothing ends."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from allauth.socialaccount.models import SocialAccount
from django.http import HttpRequest
from onelogin.saml2.auth import OneLogin_Saml2_Auth as Auth
from onelogin.saml2.logout_request import OneLogin_Saml2_Logout_Request as LogoutRequest
from onelogin.saml2.xml_utils import OneLogin_Saml2_XML as Xml

from accounts.actions import end_sessions, end_sessions_from
from accounts.models import IdentityProvider
from accounts.saml.adapter import app_of
from accounts.saml.arrivals import use_once
from accounts.saml.checks import DRIFT
from accounts.saml.config import as_received, config_of, our_address
from accounts.saml.refusals import Reason, Refused
from accounts.saml.shape import RSA
from accounts.saml.xml import Element, time


@dataclass(frozen=True, slots=True)
class Logout:
    """What a signed request asks for. `indexes`: of the provider's sessions of the person; without any, all of them
    are meant. `answer` is where to send the browser, empty if the provider takes no answer."""

    name_id: str
    indexes: frozenset[str]
    answer: str

    @property
    def is_of_all(self) -> bool:
        return not self.indexes

    def is_of(self, session: Mapping[str, str]) -> bool:
        is_named = self.is_of_all or session["session_index"] in self.indexes
        return is_named and self.name_id == session["name_id"]


def read_logout(request: HttpRequest, provider: IdentityProvider, now: datetime) -> Logout:
    """Raises Refused. The portal sends no requests, so that every response is one that nobody asked for."""
    sent = request.GET.dict()
    if "SAMLResponse" in sent or not all(sent.get(name) for name in ("SAMLRequest", "Signature", "SigAlg")):
        raise Refused(Reason.LOGOUT, "not signed")
    if sent["SigAlg"] not in RSA:
        raise Refused(Reason.LOGOUT, "signed by another algorithm than SHA-256, SHA-384 or SHA-512 with RSA")
    _check_written(request)
    config = config_of(provider, now)
    received = as_received("saml-logout", provider.slug, get_data=sent)
    received |= {"query_string": request.META.get("QUERY_STRING", ""), "validate_signature_from_qs": True}
    auth = Auth(received, config)
    address = _processed(auth)
    logout = _read(auth, config, address if config["idp"].get("singleLogoutService") else "")
    if logout.is_of_all:
        _check_new(Xml.to_etree(auth.get_last_request_xml()), provider.slug, now)
    return logout


def _check_written(request: HttpRequest) -> None:
    """The signature is of what stands in the address, and what is read is what that means: a parameter that stands
    there twice, or whose name is escaped, could be signed with one value and read with another."""
    written = [part.partition("=")[0] for part in request.META.get("QUERY_STRING", "").split("&")]
    if written != [*request.GET]:
        raise Refused(Reason.LOGOUT, "a parameter twice, or escaped")


def _processed(auth: Auth) -> str:
    try:
        address: str = auth.process_slo(keep_local_session=True) or ""
    except Exception as error:  # whatever the library raises at what a stranger sends
        raise Refused(Reason.LOGOUT, type(error).__name__) from error
    if auth.get_errors():
        raise Refused(Reason.LOGOUT, str(auth.get_errors()[0]))
    return address


def _read(auth: Auth, config: Mapping[str, Any], answer: str) -> Logout:
    xml, key = auth.get_last_request_xml(), config["sp"]["privateKey"] or None
    try:
        name_id = (LogoutRequest.get_nameid(xml, key) or "").strip()
        indexes = frozenset(index or "" for index in LogoutRequest.get_session_indexes(xml))
    except Exception as error:  # the same
        raise Refused(Reason.LOGOUT, type(error).__name__) from error
    if not name_id:
        raise Refused(Reason.LOGOUT, "of nobody")
    return Logout(name_id, indexes, answer)


def _check_new(document: Element, slug: str, now: datetime) -> None:
    """What ends everything is for us, of this moment, and good once: else whoever keeps it would end it again."""
    if document.get("Destination") != our_address("saml-logout", slug):
        raise Refused(Reason.LOGOUT, "for another address")
    issued = time(document, "IssueInstant", Reason.LOGOUT)
    if abs(issued - now) > DRIFT:
        raise Refused(Reason.LOGOUT, "too old or of the future")
    try:
        use_once(document.get("ID"), slug, issued + 2 * DRIFT, now)
    except Refused as refused:
        raise Refused(Reason.LOGOUT, "used before") from refused


def end_elsewhere(provider: IdentityProvider, logout: Logout, now: datetime) -> None:
    """What it asks for wherever the person is signed in, and of nobody else."""
    accounts = SocialAccount.objects.filter(provider=app_of(provider).provider_id, uid=logout.name_id)
    for account in accounts.select_related("user"):
        if logout.is_of_all:
            end_sessions(user=account.user, by=f"identity_provider/{provider.slug}", now=now)
        else:
            end_sessions_from(provider=provider, user=account.user, indexes=logout.indexes, now=now)
