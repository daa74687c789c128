"""Everything that is refused, through the addresses that a browser uses: 4xx, a line with the reason, no session."""

import base64
import copy
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
import xmlsec
from django.test import Client
from django.urls import reverse
from lxml import etree
from structlog.testing import capture_logs

from accounts.models import User
from tests.accounts.saml.conftest import NOW
from tests.accounts.saml.idp import NAMES, Idp, find, key_pair, metadata, request_id
from tests.accounts.saml.journey import arrive, begin, people_in_sessions, sign_in

pytestmark = pytest.mark.django_db

Change = Callable[[Any], None]


def refused(client: Client, idp: Idp, document: Any, reason: str) -> None:
    with capture_logs() as lines:
        response = arrive(client, idp, document)
    assert response.status_code == 403, response
    told = [line for line in lines if line["event"] == "sign-in refused"]
    assert [line["reason"] for line in told] == [reason], told
    assert "ana-0001" not in str(told)
    assert people_in_sessions() == []
    assert User.objects.count() == 0


def without(path: str, name: str = "") -> Change:
    def change(document: Any) -> None:
        for element in document.xpath(path, namespaces=NAMES):
            if name:
                del element.attrib[name]
            else:
                element.getparent().remove(element)

    return change


def with_(path: str, name: str, value: str) -> Change:
    return lambda document: find(document, path).set(name, value)


def text(path: str, value: str) -> Change:
    def change(document: Any) -> None:
        find(document, path).text = value

    return change


def twice(path: str) -> Change:
    def change(document: Any) -> None:
        element = find(document, path)
        element.addnext(copy.deepcopy(element))

    return change


def time(hours: float) -> str:
    return (NOW + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")


def other_audience(document: Any) -> None:
    element = copy.deepcopy(find(document, "//saml:AudienceRestriction"))
    element[0].text = "https://other.example.org/"
    find(document, "//saml:AudienceRestriction").addnext(element)


def child_of_value(document: Any) -> None:
    value = find(document, "//saml:AttributeValue")
    value.text = "admins"
    etree.SubElement(value, f"{{{NAMES['saml']}}}NameID").tail = "-not"


DATA, CONDITIONS = "//saml:SubjectConfirmationData", "//saml:Conditions"
SIGNED = {
    "no audience": (without("//saml:AudienceRestriction"), "audience"),
    "audience of another": (text("//saml:Audience", "https://other.example.org/"), "not valid"),
    "our audience and a suffix": (text("//saml:Audience", "http://127.0.0.1:0/saml/corp/metadata/x"), "not valid"),
    "one of two audiences": (other_audience, "audience"),
    "no recipient": (without(DATA, "Recipient"), "confirmation"),
    "recipient that holds ours": (
        with_(DATA, "Recipient", "https://x.example.org/?http://127.0.0.1:0/saml/corp/acs/"),
        "confirmation",
    ),
    "other recipient": (with_(DATA, "Recipient", "https://x.example.org/"), "not valid"),
    "no destination": (without("/samlp:Response", "Destination"), "destination"),
    "destination and a suffix": (
        with_("/samlp:Response", "Destination", "http://127.0.0.1:0/saml/corp/acs/x"),
        "destination",
    ),
    "other destination": (with_("/samlp:Response", "Destination", "https://x.example.org/"), "not valid"),
    "issuer of the response": (text("/samlp:Response/saml:Issuer", "https://x.example.org"), "not valid"),
    "issuer of the assertion": (text("//saml:Assertion/saml:Issuer", "https://x.example.org"), "not valid"),
    "confirmation without end": (without(DATA, "NotOnOrAfter"), "confirmation"),
    "confirmation ended": (with_(DATA, "NotOnOrAfter", time(-0.1)), "not valid"),
    "conditions without end": (without(CONDITIONS, "NotOnOrAfter"), "times"),
    "conditions without beginning": (without(CONDITIONS, "NotBefore"), "times"),
    "no conditions": (without(CONDITIONS), "not valid"),
    "expired": (with_(CONDITIONS, "NotOnOrAfter", time(-0.1)), "not valid"),
    "of the future": (with_(CONDITIONS, "NotBefore", time(0.1)), "not valid"),
    "session over": (with_("//saml:AuthnStatement", "SessionNotOnOrAfter", time(-1)), "not valid"),
    "confirmation answers nothing": (without(DATA, "InResponseTo"), "confirmation"),
    "confirmation answers another": (with_(DATA, "InResponseTo", "_another"), "not valid"),
    "message answers nothing": (without("/samlp:Response", "InResponseTo"), "confirmation"),
    "sender vouches": (
        with_("//saml:SubjectConfirmation", "Method", "urn:oasis:names:tc:SAML:2.0:cm:sender-vouches"),
        "not valid",
    ),
    "two confirmations": (twice("//saml:SubjectConfirmation"), "confirmation"),
    "no statement": (without("//saml:AuthnStatement"), "not valid"),
    "not a success": (
        with_("//samlp:StatusCode", "Value", "urn:oasis:names:tc:SAML:2.0:status:Responder"),
        "not valid",
    ),
    "no name": (without("//saml:NameID"), "name id"),
    "empty name": (text("//saml:NameID", ""), "name id"),
    "name of blanks": (text("//saml:NameID", "   "), "name id"),
    "name too long": (text("//saml:NameID", "n" * 192), "name id"),
    "name of another's": (with_("//saml:NameID", "SPNameQualifier", "https://other.example.org/"), "name id"),
    "transient name": (
        with_("//saml:NameID", "Format", "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"),
        "transient name id",
    ),
    "e-mail as name": (
        with_("//saml:NameID", "Format", "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"),
        "name id not persistent",
    ),
    "name without format": (without("//saml:NameID", "Format"), "name id not persistent"),
    "an element in a value": (child_of_value, "values"),
    "two assertions": (twice("//saml:Assertion"), "shape"),
    "version": (with_("/samlp:Response", "Version", "1.1"), "not valid"),
}


@pytest.mark.parametrize("vector", SIGNED)
def test_signed_but_not_for_us(client: Client, corp: Idp, vector: str) -> None:
    change, reason = SIGNED[vector]
    response = corp.response(begin(client, corp))
    change(response)
    refused(client, corp, corp.signed(response), reason)


def strip(document: Any) -> None:
    without("//ds:Signature")(document)


def wrap(place: str, *, keeps: bool) -> Change:
    """XSW: an assertion of another beside, before or around the signed one."""

    def change(document: Any) -> None:
        signed = find(document, "/samlp:Response/saml:Assertion")
        forged = copy.deepcopy(signed)
        without("ds:Signature")(forged)
        forged.set("ID", "_forged")
        find(forged, "saml:Subject/saml:NameID").text = "boss"
        if place == "before":
            signed.addprevious(forged)
        elif place == "after":
            signed.addnext(forged)
        elif place == "around":
            signed.addprevious(forged)
            forged.append(signed)
        elif place == "object":
            signature = find(signed, "ds:Signature")
            signed.addprevious(forged)
            forged.insert(1, signature)
            etree.SubElement(signature, f"{{{NAMES['ds']}}}Object").append(signed)
        else:
            document.remove(signed)
            document.append(forged)
            extensions = etree.Element(f"{{{NAMES['samlp']}}}Extensions")
            document.insert(1, extensions)
            extensions.append(signed)
        if not keeps:
            without("/samlp:Response/ds:Signature")(document)

    return change


def reference(attribute: str, value: str) -> Change:
    return with_("//saml:Assertion/ds:Signature//ds:Reference", attribute, value)


AFTERWARDS = {
    "stripped": (strip, "signature shape"),
    "changed name": (text("//saml:NameID", "boss"), "not valid"),
    "changed value": (text("//saml:AttributeValue", "admins"), "not valid"),
    "doctored digest": (text("//ds:DigestValue", base64.b64encode(b"0" * 32).decode()), "not valid"),
    "reference to all": (reference("URI", ""), "signature shape"),
    "reference elsewhere": (reference("URI", "#_elsewhere"), "signature shape"),
    "two references": (twice("//saml:Assertion/ds:Signature//ds:Reference"), "signature shape"),
    "IDs twice": (with_("//saml:Assertion", "ID", "_rcorp1"), "shape"),
    **{f"wrapped {place}": (wrap(place, keeps=True), "shape") for place in ("before", "after", "around", "object")},
    "wrapped in extensions": (wrap("extensions", keeps=True), "shape"),
    "wrapped after, message unsigned": (wrap("after", keeps=False), "shape"),
}


@pytest.mark.parametrize("vector", AFTERWARDS)
def test_changed_after_it_was_signed(client: Client, corp: Idp, vector: str) -> None:
    change, reason = AFTERWARDS[vector]
    document = corp.signed(corp.response(begin(client, corp)))
    change(document)
    refused(client, corp, document, reason)


SIGNATURES = {
    "SHA-1 signature": {"method": xmlsec.Transform.RSA_SHA1},
    "SHA-1 digest": {"digest": xmlsec.Transform.SHA1},
    "inclusive canonical form": {"transforms": (xmlsec.Transform.ENVELOPED, xmlsec.Transform.C14N)},
}


@pytest.mark.parametrize("vector", SIGNATURES)
def test_signed_in_a_way_that_is_not_accepted(client: Client, corp: Idp, vector: str) -> None:
    document = corp.signed(corp.response(begin(client, corp)), **SIGNATURES[vector])
    refused(client, corp, document, "signature shape" if "canonical" in vector else "not valid")


@pytest.mark.parametrize("algorithm", ["REC-xslt-19991116", "REC-xpath-19991116"])
def test_transforms_that_may_change_what_is_read(client: Client, corp: Idp, algorithm: str) -> None:
    document = corp.signed(corp.response(begin(client, corp)))
    with_("//saml:Assertion/ds:Signature//ds:Transform", "Algorithm", f"http://www.w3.org/TR/1999/{algorithm}")(
        document
    )
    refused(client, corp, document, "signature shape")


def test_the_message_must_be_signed_where_the_provider_can(client: Client, corp: Idp) -> None:
    refused(client, corp, corp.signed(corp.response(begin(client, corp)), what=["assertion"]), "not valid")
    corp.row.signs_response = False
    corp.row.save()
    answer = corp.signed(corp.response(begin(client, corp)), what=["assertion"])
    assert arrive(client, corp, answer).url == "/"


def test_an_assertion_in_another_message_answers_no_other_request(client: Client, corp: Idp) -> None:
    """What a thief has is put into a message that answers the thief's own request."""
    corp.row.signs_response = False
    corp.row.save()
    document = corp.signed(corp.response("_stolen"), what=["assertion"])
    document.set("InResponseTo", begin(client, corp))
    refused(client, corp, document, "not valid")


def test_a_key_of_somebody_else_with_its_own_certificate(client: Client, corp: Idp) -> None:
    key, certificate = key_pair(NOW)

    def tell(template: Any) -> None:
        info = xmlsec.template.ensure_key_info(template)
        data = etree.SubElement(info, f"{{{NAMES['ds']}}}X509Data")
        etree.SubElement(data, f"{{{NAMES['ds']}}}X509Certificate").text = "".join(certificate.split("\n")[1:-2])

    document = corp.signed(corp.response(begin(client, corp)), key=key, change=tell)
    refused(client, corp, document, "not valid")


def test_an_expired_certificate(client: Client, corp: Idp) -> None:
    begun = begin(client, corp)
    key, certificate = key_pair(NOW, days=-1)
    corp.row.metadata = metadata(corp.entity_id, [certificate], "https://corp.example.org/sso")
    corp.row.save()
    refused(client, corp, corp.signed(corp.response(begun), key=key), "certificate expired")


def test_nobody_asked(client: Client, corp: Idp) -> None:
    response = corp.response("x")
    for path in ("/samlp:Response", DATA):
        without(path, "InResponseTo")(response)
    refused(client, corp, corp.signed(response), "unsolicited")


def test_a_request_that_this_browser_did_not_make(client: Client, corp: Idp) -> None:
    asked = begin(Client(), corp)
    refused(client, corp, corp.signed(corp.response(asked)), "unknown request")


def test_a_request_of_eleven_minutes_ago(client: Client, corp: Idp) -> None:
    asked = begin(client, corp)
    with time_machine.travel(NOW + timedelta(minutes=11), tick=False):
        corp.now = NOW + timedelta(minutes=11)
        refused(client, corp, corp.signed(corp.response(asked)), "unknown request")


def test_a_request_made_to_another_provider(client: Client, corp: Idp, other: Idp) -> None:
    refused(client, corp, corp.signed(corp.response(begin(client, other))), "unknown request")


def test_an_answer_of_one_provider_at_the_other(client: Client, corp: Idp, other: Idp) -> None:
    refused(client, other, corp.signed(corp.response(begin(client, other))), "not valid")


def test_an_answer_is_good_once(client: Client, corp: Idp) -> None:
    """Even if its request could be answered again: the same assertion in the same browser's next request."""
    document = corp.signed(corp.response(begin(client, corp)))
    arrive(client, corp, document)
    first = people_in_sessions()
    again = arrive(client, corp, document)
    assert again.status_code == 403
    assert people_in_sessions() == first


def test_an_assertion_used_twice_is_refused(client: Client, corp: Idp) -> None:
    one, two = begin(client, corp), begin(client, corp)
    first, second = corp.response(one), corp.response(two)
    find(second, "//saml:Assertion").set("ID", find(first, "//saml:Assertion").get("ID"))
    assert arrive(client, corp, corp.signed(first)).url == "/"
    again = arrive(client, corp, corp.signed(second))
    assert again.status_code == 403
    assert "already" in again.text


@pytest.mark.parametrize("has_key", [False, True])
@pytest.mark.parametrize("what", ["Assertion", "Attribute"])
def test_what_is_encrypted(
    client: Client, corp: Idp, keys: tuple[tuple[str, str], ...], settings: Any, what: str, has_key: bool
) -> None:
    """Found before the library tries to decrypt it; and groups that cannot be read are not no groups."""
    if has_key:
        settings.SAML_KEY, settings.SAML_CERTIFICATE = keys[1]
    document = corp.response(begin(client, corp))
    plain = find(document, f"//saml:{what}")
    encrypted = etree.SubElement(plain.getparent(), f"{{{NAMES['saml']}}}Encrypted{what}")
    encrypted.append(plain)
    refused(client, corp, corp.signed(document, what=["response"]), "encrypted")


MALFORMED = {
    "nothing": "",
    "not base64": "%%%%",
    "not XML": base64.b64encode(b"not xml").decode(),
    "cut": base64.b64encode(b"<samlp:Response").decode(),
    "a DTD": base64.b64encode(b'<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><r>&e;</r>').decode(),
    "entities": base64.b64encode(b'<!DOCTYPE r [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><r>&c;</r>').decode(),
    "bytes": base64.b64encode(bytes(range(256))).decode(),
}


@pytest.mark.parametrize("vector", MALFORMED)
def test_what_is_no_response(client: Client, corp: Idp, vector: str) -> None:
    refused(client, corp, MALFORMED[vector], "malformed")


def test_another_document(client: Client, corp: Idp) -> None:
    refused(client, corp, base64.b64encode(b"<html/>").decode(), "shape")


def test_a_very_large_one(client: Client, corp: Idp) -> None:
    refused(client, corp, "A" * 1_600_000, "too large")


def test_the_last_address_alone_signs_nobody_in(client: Client, corp: Idp) -> None:
    begin(client, corp)
    assert client.get(reverse("saml-finish", args=["corp"])).status_code == 403
    client.cookies["saml-arrival"] = "a" * 32
    assert client.get(reverse("saml-finish", args=["corp"])).status_code == 403
    assert people_in_sessions() == []


def test_comments_do_not_shorten_a_name(client: Client, corp: Idp) -> None:
    response = corp.response(begin(client, corp))
    name = find(response, "//saml:NameID")
    name.text = "ana"
    name.append(etree.Comment("x"))
    name[0].tail = "-0002"
    assert arrive(client, corp, corp.signed(response)).url == "/"
    assert User.objects.get().username == "corp:ana-0002"


def test_no_attribute_names_somebody_else(client: Client, corp: Idp) -> None:
    subject = {"urn:oasis:names:tc:SAML:attribute:subject-id": ["boss"], "username": ["boss"], "uid": ["boss"]}
    sign_in(client, corp, attributes=subject)
    assert User.objects.get().username == "corp:ana-0001"


def test_nothing_joins_an_identity_to_somebody_who_is_signed_in(client: Client, corp: Idp) -> None:
    boss = User.objects.create(username="boss", name="Boss", created_at=NOW)
    client.force_login(boss)
    address = client.get(reverse("saml-login", args=["corp"]), {"process": "connect"}).url
    arrive(client, corp, corp.signed(corp.response(request_id(address))))
    assert client.get("/me/").wsgi_request.user.username == "corp:ana-0001"


def test_the_other_language_is_no_way_back_to_an_address_that_takes_forms_alone(client: Client, corp: Idp) -> None:
    page = arrive(client, corp, "").text
    assert 'name="next" value="/"' in page
    assert 'value="/saml/' not in page
