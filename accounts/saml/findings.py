"""What a response holds, told to an admin who tries a provider out: read without believing any of it."""

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from onelogin.saml2.xml_utils import OneLogin_Saml2_XML as Xml

from accounts.saml.checks import LONGEST
from accounts.saml.xml import Element, children


@dataclass(frozen=True, slots=True)
class Findings:
    """`reason` and `detail` are the refusal's, empty if there is none. `name_id_format` is an URN."""

    reason: str = ""
    detail: str = ""
    signs_response: bool = False
    signs_assertion: bool = False
    name_id: str = ""
    name_id_format: str = ""
    attributes: Mapping[str, list[str]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def document_of(sent: str) -> Element | None:
    """What was sent, as far as it is XML at all."""
    if len(sent) > LONGEST:
        return None
    try:
        return Xml.to_etree(base64.b64decode("".join(sent.split()), validate=True))
    except Exception:  # parsers raise whatever they like at what a stranger sends
        return None


def findings_in(document: Element | None, reason: str = "", detail: str = "") -> Findings:
    """As they stand there; of several assertions the first. The checks have refused what is not to be believed."""
    if document is None:
        return Findings(reason, detail)
    assertion = next(iter(children(document, "saml:Assertion")), None)
    if assertion is None:
        return Findings(reason, detail, signs_response=_is_signed(document))
    name_id = next(iter(children(assertion, "saml:Subject/saml:NameID")), None)
    return Findings(
        reason,
        detail,
        signs_response=_is_signed(document),
        signs_assertion=_is_signed(assertion),
        name_id=_words(name_id) if name_id is not None else "",
        name_id_format=name_id.get("Format", "") if name_id is not None else "",
        attributes=_attributes(assertion),
    )


def _is_signed(element: Element) -> bool:
    return bool(children(element, "ds:Signature"))


def _words(element: Element) -> str:
    return str(element.xpath("string()")).strip()


def _attributes(assertion: Element) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for attribute in children(assertion, "saml:AttributeStatement/saml:Attribute"):
        values = [_words(value) for value in children(attribute, "saml:AttributeValue")]
        found.setdefault(attribute.get("Name", ""), []).extend(values)
    return found
