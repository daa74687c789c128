"""What a provider signs and is still not for us, or not now, or of nobody."""

import base64
import copy
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from lxml import etree

from accounts.models import IdpGroup, User
from tests.accounts.saml.changes import (
    ASSERTION,
    CONDITIONS,
    DATA,
    RESPONSE,
    Change,
    all_of,
    at,
    inside,
    refused,
    text,
    twice,
    with_,
    without,
)
from tests.accounts.saml.conftest import NOW
from tests.accounts.saml.idp import NAMES, Idp, find, request_id
from tests.accounts.saml.journey import arrive, begin, people_in_sessions, sign_in

pytestmark = pytest.mark.django_db

OURS, ACS = "http://127.0.0.1:0/saml/corp/metadata/", "http://127.0.0.1:0/saml/corp/acs/"
STATEMENT, CONFIRMATION = "//saml:AuthnStatement", "//saml:SubjectConfirmation"
STATUS = "urn:oasis:names:tc:SAML:2.0:status:"
FORMAT = "urn:oasis:names:tc:SAML:2.0:nameid-format:"


def other_audience(document: Any) -> None:
    element = copy.deepcopy(find(document, "//saml:AudienceRestriction"))
    element[0].text = "https://other.example.org/"
    find(document, "//saml:AudienceRestriction").addnext(element)


def child_of_value(document: Any) -> None:
    value = find(document, "//saml:AttributeValue")
    value.text = "admins"
    etree.SubElement(value, f"{{{NAMES['saml']}}}NameID").tail = "-not"


def child_of_name(document: Any) -> None:
    name = find(document, "//saml:NameID")
    name.text = "boss"
    etree.SubElement(name, f"{{{NAMES['saml']}}}NameID").tail = "-not"


SIGNED: dict[str, tuple[Change, str]] = {
    "no audience restriction": (without("//saml:AudienceRestriction"), "audience"),
    "no audience": (text("//saml:Audience", ""), "audience"),
    "audience of another": (text("//saml:Audience", "https://other.example.org/"), "not valid"),
    "our audience and a suffix": (text("//saml:Audience", f"{OURS}x"), "not valid"),
    "our audience without its end": (text("//saml:Audience", OURS[:-1]), "not valid"),
    "one of two audience restrictions": (other_audience, "audience"),
    "no recipient": (without(DATA, "Recipient"), "confirmation"),
    "recipient that holds ours": (with_(DATA, "Recipient", f"https://x.example.org/?{ACS}"), "confirmation"),
    "recipient and a suffix": (with_(DATA, "Recipient", f"{ACS}x"), "confirmation"),
    "other recipient": (with_(DATA, "Recipient", "https://x.example.org/"), "not valid"),
    "no destination": (without(RESPONSE, "Destination"), "destination"),
    "empty destination": (with_(RESPONSE, "Destination", ""), "not valid"),
    "destination and a suffix": (with_(RESPONSE, "Destination", f"{ACS}x"), "destination"),
    "other destination": (with_(RESPONSE, "Destination", "https://x.example.org/"), "not valid"),
    "destination of another provider's": (
        with_(RESPONSE, "Destination", ACS.replace("corp", "other")),
        "not valid",
    ),
    "issuer of the response": (text(f"{RESPONSE}/saml:Issuer", "https://x.example.org"), "not valid"),
    "issuer of the assertion": (text(f"{ASSERTION}/saml:Issuer", "https://x.example.org"), "not valid"),
    "no issuer of the assertion": (without(f"{ASSERTION}/saml:Issuer"), "not valid"),
    "confirmation without end": (without(DATA, "NotOnOrAfter"), "confirmation"),
    "confirmation ended this second": (with_(DATA, "NotOnOrAfter", at()), "not valid"),
    "confirmation of the future": (with_(DATA, "NotBefore", at(seconds=1)), "not valid"),
    "no confirmation": (without(CONFIRMATION), "not valid"),
    "confirmation without data": (without(DATA), "not valid"),
    "two confirmations": (twice(CONFIRMATION), "confirmation"),
    "sender vouches": (with_(CONFIRMATION, "Method", "urn:oasis:names:tc:SAML:2.0:cm:sender-vouches"), "not valid"),
    "holder of key": (with_(CONFIRMATION, "Method", "urn:oasis:names:tc:SAML:2.0:cm:holder-of-key"), "not valid"),
    "conditions without end": (without(CONDITIONS, "NotOnOrAfter"), "times"),
    "conditions without beginning": (without(CONDITIONS, "NotBefore"), "times"),
    "no conditions": (without(CONDITIONS), "not valid"),
    "two conditions": (twice(CONDITIONS), "not valid"),
    "expired": (with_(CONDITIONS, "NotOnOrAfter", at(minutes=-5)), "not valid"),
    "of the future": (with_(CONDITIONS, "NotBefore", at(minutes=5, seconds=1)), "not valid"),
    "without an end in this era": (with_(CONDITIONS, "NotOnOrAfter", "9999-12-31T23:59:59Z"), "times"),
    "an end that is no time": (with_(CONDITIONS, "NotOnOrAfter", "tomorrow"), "not valid"),
    "an end in another zone": (with_(DATA, "NotOnOrAfter", "2026-10-08T14:05:00+02:00"), "not valid"),
    "session over": (with_(STATEMENT, "SessionNotOnOrAfter", at()), "not valid"),
    "session until no time": (with_(STATEMENT, "SessionNotOnOrAfter", "2026-10-08T20:00:00-03:00"), "not valid"),
    "confirmation answers nothing": (without(DATA, "InResponseTo"), "confirmation"),
    "confirmation answers another": (with_(DATA, "InResponseTo", "_another"), "not valid"),
    "message answers nothing": (without(RESPONSE, "InResponseTo"), "confirmation"),
    "both answer nothing": (all_of(without(DATA, "InResponseTo"), without(RESPONSE, "InResponseTo")), "unsolicited"),
    "both answer what nobody asked": (
        all_of(with_(DATA, "InResponseTo", "_x"), with_(RESPONSE, "InResponseTo", "_x")),
        "unknown request",
    ),
    "no statement": (without(STATEMENT), "not valid"),
    "two statements": (twice(STATEMENT), "not valid"),
    "no attributes": (without("//saml:AttributeStatement"), "not valid"),
    "not a success": (with_("//samlp:StatusCode", "Value", f"{STATUS}Responder"), "not valid"),
    "no status": (without("//samlp:Status"), "not valid"),
    "no status code": (without("//samlp:StatusCode"), "not valid"),
    "no subject": (without("//saml:Subject"), "not valid"),
    "no name": (without("//saml:NameID"), "name id"),
    "empty name": (text("//saml:NameID", ""), "name id"),
    "name of blanks": (text("//saml:NameID", " \t\n "), "name id"),
    "name that nobody sees": (text("//saml:NameID", "\u200b"), "name id"),
    "name too long": (text("//saml:NameID", "n" * 192), "name id"),
    "two names": (twice("//saml:NameID"), "not valid"),
    "name of another's": (with_("//saml:NameID", "SPNameQualifier", "https://other.example.org/"), "name id"),
    "transient name": (with_("//saml:NameID", "Format", f"{FORMAT}transient"), "transient name id"),
    "e-mail as name": (
        with_("//saml:NameID", "Format", "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"),
        "name id not persistent",
    ),
    "name without format": (without("//saml:NameID", "Format"), "name id not persistent"),
    "an element in a value": (child_of_value, "values"),
    "an instruction in a value": (
        lambda document: find(document, "//saml:AttributeValue").append(etree.PI("x", "y")),
        "not valid",
    ),
    "an element in the name": (child_of_name, "not valid"),
    "two assertions": (twice(ASSERTION, "_second"), "shape"),
    "another version": (with_(RESPONSE, "Version", "1.1"), "not valid"),
    "something that the schema does not know": (inside(RESPONSE, "saml:Advice"), "not valid"),
}


@pytest.mark.parametrize("vector", SIGNED)
def test_signed_but_not_for_us(client: Client, corp: Idp, vector: str) -> None:
    change, reason = SIGNED[vector]
    response = corp.response(begin(client, corp))
    change(response)
    refused(client, corp, corp.signed(response), reason)


@pytest.mark.parametrize(
    "change",
    [
        with_(CONDITIONS, "NotBefore", at(minutes=5)),
        with_(CONDITIONS, "NotOnOrAfter", at(minutes=-4, seconds=-59)),
        with_(STATEMENT, "SessionNotOnOrAfter", "9999-12-31T23:59:59Z"),
        with_(CONDITIONS, "NotBefore", "2026-10-08T11:00:00.123456Z"),
        without(STATEMENT, "SessionNotOnOrAfter"),
        with_("//saml:NameID", "SPNameQualifier", OURS),
        text("//saml:NameID", "n" * 191),
    ],
)
def test_what_differs_no_more_than_it_may(client: Client, corp: Idp, change: Change) -> None:
    response = corp.response(begin(client, corp))
    change(response)
    assert arrive(client, corp, corp.signed(response)).url == "/"


MALFORMED = {
    "nothing": "",
    "not base64": "%%%%",
    "half of base64": "PHNhb",
    "other letters": "ç" * 8,
    "not XML": base64.b64encode(b"not xml").decode(),
    "cut": base64.b64encode(b"<samlp:Response").decode(),
    "a prefix of no namespace": base64.b64encode(b"<samlp:Response/>").decode(),
    "a DTD": base64.b64encode(b"<!DOCTYPE r><r/>").decode(),
    "a DTD from elsewhere": base64.b64encode(b'<!DOCTYPE r SYSTEM "http://127.0.0.1:1/x.dtd"><r/>').decode(),
    "a file": base64.b64encode(b'<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><r>&e;</r>').decode(),
    "entities": base64.b64encode(b'<!DOCTYPE r [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><r>&c;</r>').decode(),
    "bytes": base64.b64encode(bytes(range(256))).decode(),
    "another coding": base64.b64encode(b'<?xml version="1.0" encoding="utf-16"?><r/>').decode(),
}


@pytest.mark.parametrize("vector", MALFORMED)
def test_what_is_no_document(client: Client, corp: Idp, vector: str) -> None:
    refused(client, corp, MALFORMED[vector], "malformed")


@pytest.mark.parametrize(
    "document",
    [
        b"<html/>",
        b'<Response xmlns="urn:oasis:names:tc:SAML:1.0:protocol"/>',
        f'<samlp:LogoutResponse xmlns:samlp="{NAMES["samlp"]}"/>'.encode(),
        f'<samlp:Response xmlns:samlp="{NAMES["samlp"]}"/>'.encode(),
        f'<saml:Assertion xmlns:saml="{NAMES["saml"]}"/>'.encode(),
        b"<!-- nothing but --><a>" + b"<a>" * 200 + b"</a>" * 200 + b"</a>",
    ],
)
def test_another_document(client: Client, corp: Idp, document: bytes) -> None:
    refused(client, corp, base64.b64encode(document).decode(), "shape")


def test_a_very_large_one(client: Client, corp: Idp) -> None:
    refused(client, corp, "A" * 1_600_000, "too large")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"SAMLResponse=" + b"A" * 2_700_000, "application/x-www-form-urlencoded"),
        (b"&".join(b"a%d=1" % number for number in range(1_001)), "application/x-www-form-urlencoded"),
        (b"SAMLResponse=%00", "application/x-www-form-urlencoded"),
        (b"SAMLResponse=%ff", "application/x-www-form-urlencoded"),
        (b'{"SAMLResponse": "x"}', "application/json"),
        (b"--cut", "multipart/form-data; boundary=x"),
        (b"", "multipart/form-data"),
    ],
    ids=["large", "many fields", "NUL", "no UTF-8", "JSON", "cut form", "form without boundary"],
)
def test_a_form_that_is_none(client: Client, corp: Idp, content: bytes, kind: str) -> None:
    answer = client.generic("POST", reverse("saml-acs", args=["corp"]), content, kind)
    assert 400 <= answer.status_code < 500
    assert people_in_sessions() == []


def test_another_method_and_another_name(client: Client, corp: Idp) -> None:
    address = reverse("saml-acs", args=["corp"])
    assert [client.get(address).status_code, client.put(address).status_code] == [405, 405]
    assert client.post(reverse("saml-acs", args=["nobody"])).status_code == 404


def rewrite(path: str, write: str) -> Change:
    """The element's text as it is written in XML."""

    def change(document: Any) -> None:
        element = find(document, path)
        for each in etree.fromstring(f"<x>{write}</x>", etree.XMLParser(strip_cdata=False)).iter():
            if each.getparent() is None:
                element.text = each.text
            else:
                element.append(each)

    return change


@pytest.mark.parametrize("written", ["g-admin<!-- x -->-not", "<!-- x -->g-admin-not"])
@pytest.mark.parametrize("path", ["//saml:NameID", "//saml:AttributeValue"])
def test_nothing_that_is_no_text_shortens_a_name_or_a_value(client: Client, corp: Idp, written: str, path: str) -> None:
    """As in CVE-2017-11427 and CVE-2025-54369."""
    response = corp.response(begin(client, corp), attributes={"groups": ["x"]})
    rewrite(path, written)(response)
    assert arrive(client, corp, corp.signed(response)).url == "/"
    name = User.objects.get().username.partition(":")[2]
    group = IdpGroup.objects.get().value
    assert (name if path == "//saml:NameID" else group) == "g-admin-not"


def test_marked_text_is_whole(client: Client, corp: Idp) -> None:
    response = corp.response(begin(client, corp), attributes={"groups": ["x"]})
    find(response, "//saml:AttributeValue").text = etree.CDATA("g-<b>&")
    assert arrive(client, corp, corp.signed(response)).url == "/"
    assert IdpGroup.objects.get().value == "g-<b>&"


def test_an_attribute_that_comes_twice_has_all_its_values(client: Client, corp: Idp) -> None:
    response = corp.response(begin(client, corp), attributes={"groups": ["g-1"]})
    twice("//saml:Attribute")(response)
    response.xpath("//saml:AttributeValue", namespaces=NAMES)[1].text = "g-2"
    assert arrive(client, corp, corp.signed(response)).url == "/"
    assert set(IdpGroup.objects.values_list("value", flat=True)) == {"g-1", "g-2"}


def test_what_is_too_long_to_be_known_is_left_out(client: Client, corp: Idp) -> None:
    """A column holds 200 characters of a group and 254 of an address."""
    said = {
        "groups": ["g" * 201, "g" * 200],
        "email": [f"{'a' * 60}@{'.'.join(['b' * 60] * 3)}.example.org"],
        "displayName": ["N" * 500],
    }
    assert sign_in(client, corp, attributes=said).url == "/"
    assert [group.value for group in IdpGroup.objects.all()] == ["g" * 200]
    user = User.objects.get()
    assert (user.email, user.name) == ("", "N" * 200)


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
