"""Reading of SAML documents, by absolute paths only: nothing is looked for anywhere in a document."""

from datetime import UTC, datetime
from typing import Any, Final

from lxml import etree
from onelogin.saml2.utils import OneLogin_Saml2_Utils as Utils

from accounts.saml.refusals import Reason, Refused

Element = Any
NAMES: Final = {
    "samlp": "urn:oasis:names:tc:SAML:2.0:protocol",
    "saml": "urn:oasis:names:tc:SAML:2.0:assertion",
    "ds": "http://www.w3.org/2000/09/xmldsig#",
}


def named(name: str) -> str:
    """`saml:Issuer` with its namespace, as lxml writes it."""
    prefix, _, local = name.partition(":")
    return f"{{{NAMES[prefix]}}}{local}"


def children(parent: Element, path: str) -> list[Element]:
    found: list[Element] = parent.findall(path, NAMES)
    return found


def only(parent: Element, path: str, reason: Reason) -> Element:
    """The one element of the path. Raises Refused if there is none or another."""
    found = children(parent, path)
    if len(found) != 1:
        raise Refused(reason, f"{len(found)} of {path}")
    return found[0]


def text(element: Element) -> str:
    """All of its text, comments left out as the signature leaves them out. Raises Refused for elements inside it."""
    if any(not isinstance(child, etree._Comment | etree._ProcessingInstruction) for child in element):
        raise Refused(Reason.VALUES, "an element inside a value")
    return str(element.xpath("string()")).strip()


def time(element: Element, name: str, reason: Reason) -> datetime:
    """What the attribute says, in UTC, as SAML has all times. Raises Refused if it is none."""
    try:
        return datetime.fromtimestamp(Utils.parse_SAML_to_time(element.get(name)), UTC)
    except Exception as error:  # the library raises whatever it likes
        raise Refused(reason, f"{name} is no time") from error
