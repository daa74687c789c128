"""Every check of a response, before any session: the shape, the library's own, and those that it leaves out."""

import base64
import binascii
from collections import defaultdict
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from onelogin.saml2.errors import OneLogin_Saml2_ValidationError as Invalid
from onelogin.saml2.response import OneLogin_Saml2_Response as Response
from onelogin.saml2.settings import OneLogin_Saml2_Settings as Settings
from onelogin.saml2.xml_utils import OneLogin_Saml2_XML as Xml

from accounts.claims import Claims
from accounts.saml.refusals import Reason, Refused
from accounts.saml.shape import assertion_of, refuse_encrypted
from accounts.saml.xml import Element, children, only, text, time

LONGEST: Final = 1_500_000
"""Characters of base64: two thousand groups need a third of it."""
DRIFT: Final = timedelta(seconds=300)
_LONGEST_NAME_ID: Final = 191
_PERSISTENT: Final = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
_TRANSIENT: Final = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
_BEARER: Final = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
_time: Final = partial(time, reason=Reason.TIMES)
_CODES: Final = {
    code: name.lower().replace("_", " ") for name, code in vars(Invalid).items() if name.isupper()
}  # its messages quote what was sent


def claims_in(sent: str, config: dict[str, Any], received: dict[str, Any]) -> Claims:
    """What a response says, all of it checked. Raises Refused."""
    library = Settings(config)
    response = _parsed(sent, library)
    assertion = assertion_of(response.document)
    _check_by_library(response, received)
    sp = config["sp"]
    _check_addressees(response.document, assertion, sp["assertionConsumerService"]["url"], sp["entityId"])
    if text(only(assertion, "saml:Issuer", Reason.ISSUER)) != config["idp"]["entityId"]:
        raise Refused(Reason.ISSUER)
    return _claims(response.document, assertion, sp["assertionConsumerService"]["url"], sp["entityId"])


def _parsed(sent: str, library: Settings) -> Response:
    if len(sent) > LONGEST:
        raise Refused(Reason.TOO_LARGE)
    try:
        plain = base64.b64decode("".join(sent.split()), validate=True)
        refuse_encrypted(Xml.to_etree(plain))  # which the library decrypts before anything can be looked at
        return Response(library, base64.b64encode(plain).decode())
    except Refused:
        raise
    except binascii.Error as error:
        raise Refused(Reason.MALFORMED, "not base64") from error
    except Exception as error:  # parsers raise whatever they like at what a stranger sends
        raise Refused(Reason.MALFORMED, type(error).__name__) from error


def _check_by_library(response: Response, received: dict[str, Any]) -> None:
    try:
        response.is_valid(received, raise_exceptions=True)
    except Invalid as error:
        raise Refused(Reason.NOT_VALID, _CODES.get(error.code, "")) from error
    except Exception as error:  # the same
        raise Refused(Reason.NOT_VALID, type(error).__name__) from error


def _check_addressees(response: Element, assertion: Element, acs: str, entity_id: str) -> None:
    """The library takes what begins with our address, and anything where nothing is said."""
    if response.get("Destination") != acs:
        raise Refused(Reason.DESTINATION)
    conditions = only(assertion, "saml:Conditions", Reason.TIMES)
    if not conditions.get("NotBefore") or not conditions.get("NotOnOrAfter"):
        raise Refused(Reason.TIMES, "conditions without times")
    restrictions = children(conditions, "saml:AudienceRestriction")
    audiences = [{text(each) for each in children(one, "saml:Audience")} for one in restrictions]
    if not audiences or not all(entity_id in each for each in audiences):
        raise Refused(Reason.AUDIENCE)


def _claims(response: Element, assertion: Element, acs: str, entity_id: str) -> Claims:
    subject = only(assertion, "saml:Subject", Reason.NAME_ID)
    answers, until = _confirmation(response, subject, acs)
    statement = only(assertion, "saml:AuthnStatement", Reason.SHAPE)
    return Claims(
        name_id=_name_id(subject, entity_id),
        assertion_id=assertion.get("ID"),
        answers=answers,
        valid_until=_with_drift(max(until, _time(only(assertion, "saml:Conditions", Reason.TIMES), "NotOnOrAfter"))),
        session_index=statement.get("SessionIndex", ""),
        session_until=_time(statement, "SessionNotOnOrAfter") if statement.get("SessionNotOnOrAfter") else None,
        authenticated_at=_time(statement, "AuthnInstant"),
        attributes=_attributes(assertion),
    )


def _confirmation(response: Element, subject: Element, acs: str) -> tuple[str, datetime]:
    """The request that both message and assertion answer, and until when."""
    confirmation = only(subject, "saml:SubjectConfirmation", Reason.CONFIRMATION)
    data = only(confirmation, "saml:SubjectConfirmationData", Reason.CONFIRMATION)
    answers = data.get("InResponseTo", "")
    if not answers and not response.get("InResponseTo"):
        raise Refused(Reason.UNSOLICITED)
    if not answers or answers != response.get("InResponseTo"):
        raise Refused(Reason.CONFIRMATION, "it does not answer the message's request")
    if confirmation.get("Method") != _BEARER or data.get("Recipient") != acs or not data.get("NotOnOrAfter"):
        raise Refused(Reason.CONFIRMATION, "not for this address, or without end")
    return answers, _time(data, "NotOnOrAfter")


def _with_drift(end: datetime) -> datetime:
    try:
        return end + DRIFT
    except OverflowError as error:
        raise Refused(Reason.TIMES, "no end") from error


def _name_id(subject: Element, entity_id: str) -> str:
    element = only(subject, "saml:NameID", Reason.NAME_ID)
    name, format_ = text(element), element.get("Format", "")
    if format_ == _TRANSIENT:
        raise Refused(Reason.TRANSIENT)
    if format_ != _PERSISTENT:
        raise Refused(Reason.NOT_PERSISTENT)
    if element.get("SPNameQualifier", entity_id) != entity_id:
        raise Refused(Reason.NAME_ID, "a name for somebody else than us")
    if not name or len(name) > _LONGEST_NAME_ID or not name.isprintable():
        raise Refused(Reason.NAME_ID, "blank, too long or unprintable")
    return name


def _attributes(assertion: Element) -> dict[str, tuple[str, ...]]:
    """By name; one that is given twice has the values of both."""
    found: dict[str, list[str]] = defaultdict(list)
    for attribute in children(assertion, "saml:AttributeStatement/saml:Attribute"):
        found[attribute.get("Name", "")] += [text(value) for value in children(attribute, "saml:AttributeValue")]
    return {name: tuple(values) for name, values in found.items()}
