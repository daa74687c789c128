"""Attacks on signatures: wrapped, smuggled, confused, or of a kind that proves nothing. Their shapes, with own keys."""

import base64
import copy
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import pytest
import xmlsec
from django.test import Client
from lxml import etree

from accounts.models import IdentityProvider
from tests.accounts.saml.changes import (
    ASSERTION,
    RESPONSE,
    Change,
    inside,
    refused,
    text,
    twice,
    with_,
    without,
)
from tests.accounts.saml.conftest import NOW
from tests.accounts.saml.idp import NAMES, Idp, find, key_pair
from tests.accounts.saml.journey import arrive, begin

pytestmark = pytest.mark.django_db

SIGNATURE = "{http://www.w3.org/2000/09/xmldsig#}Signature"
OBJECT, EXTENSIONS = f"{{{NAMES['ds']}}}Object", f"{{{NAMES['samlp']}}}Extensions"
BOTH, ALONE = ("assertion", "response"), ("assertion",)


def bare(element: Any) -> Any:
    """A copy without its own signature."""
    again = copy.deepcopy(element)
    for signature in again.findall(SIGNATURE):
        again.remove(signature)
    return again


def forge(element: Any) -> Any:
    element.set("ID", "_forged")
    element.find(".//{*}NameID").text = "boss"
    return element


def xsw1(document: Any) -> None:
    """The signed message inside the signature of the forged one."""
    original = bare(document)
    forge(document).find(SIGNATURE).append(original)


def xsw2(document: Any) -> None:
    """The signed message before its signature."""
    original = bare(document)
    forge(document).find(SIGNATURE).addprevious(original)


def xsw3(document: Any) -> None:
    """A forged assertion before the signed one."""
    signed = find(document, ASSERTION)
    signed.addprevious(forge(bare(signed)))


def xsw4(document: Any) -> None:
    """A forged assertion around the signed one."""
    signed = find(document, ASSERTION)
    forged = forge(bare(signed))
    signed.addprevious(forged)
    forged.append(signed)


def xsw5(document: Any) -> None:
    """The signature in the forged assertion, what it covers at the end."""
    signed = find(document, ASSERTION)
    document.append(bare(signed))
    forge(signed)


def xsw6(document: Any) -> None:
    """What is covered inside the forged assertion's signature."""
    signed = find(document, ASSERTION)
    original = bare(signed)
    forge(signed).find(SIGNATURE).append(original)


def xsw7(document: Any) -> None:
    """The forged assertion among extensions, where the schema looks at nothing."""
    signed = find(document, ASSERTION)
    extensions = etree.Element(EXTENSIONS)
    extensions.append(forge(bare(signed)))
    signed.addprevious(extensions)


def xsw8(document: Any) -> None:
    """What is covered in an object of the forged assertion's signature."""
    signed = find(document, ASSERTION)
    original = bare(signed)
    etree.SubElement(forge(signed).find(SIGNATURE), OBJECT).append(original)


def among_extensions(document: Any) -> None:
    """The signed assertion among extensions, the forged one in its place."""
    signed = find(document, ASSERTION)
    signed.addnext(forge(bare(signed)))
    extensions = etree.Element(EXTENSIONS)
    document.insert(1, extensions)
    extensions.append(signed)


WRAPPED = {
    "XSW1": (xsw1, ("response",)),
    "XSW2": (xsw2, ("response",)),
    **{change.__name__.upper(): (change, ALONE) for change in (xsw3, xsw4, xsw5, xsw6, xsw7, xsw8)},
    "CVE-2025-47949, CVE-2025-46572": (among_extensions, ALONE),
    "XSW3, the message signed, too": (xsw3, BOTH),
    "XSW7, the message signed, too": (xsw7, BOTH),
}


@pytest.fixture
def half(corp: Idp) -> Idp:
    """Its messages need no signature: what is signed is the assertion alone, and all the rest is anybody's."""
    IdentityProvider.objects.update(signs_response=False)
    return corp


@pytest.mark.parametrize("vector", WRAPPED)
def test_wrapped(client: Client, half: Idp, vector: str) -> None:
    change, what = WRAPPED[vector]
    document = half.signed(half.response(begin(client, half)), what=what)
    change(document)
    refused(client, half, document, "shape")


def reference(attribute: str, value: str) -> Change:
    return with_(f"{ASSERTION}/ds:Signature//ds:Reference", attribute, value)


def digest_of(element: Any) -> str:
    """What a signature of it would hold."""
    plain = etree.tostring(bare(element), method="c14n", exclusive=True)
    return base64.b64encode(sha256(plain).digest()).decode()


def smuggled_digest(document: Any) -> None:
    """CVE-2024-45409: the forged assertion's digest in another place, to be found first."""
    assertion = find(document, ASSERTION)
    assertion.find(".//{*}NameID").text = "boss"
    detail = etree.SubElement(find(document, "//samlp:Status"), f"{{{NAMES['samlp']}}}StatusDetail")
    etree.SubElement(detail, f"{{{NAMES['ds']}}}DigestValue").text = digest_of(assertion)


def commented_digest(document: Any) -> None:
    """CVE-2025-29775: the forged digest, and the signed one behind a comment."""
    assertion = find(document, ASSERTION)
    assertion.find(".//{*}NameID").text = "boss"
    value = find(assertion, ".//ds:DigestValue")
    comment = etree.Comment(digest_of(assertion))
    comment.tail, value.text = value.text, None
    value.append(comment)


def second_signed_info(document: Any) -> None:
    """CVE-2025-29774: one that is signed, one that is read."""
    assertion = find(document, ASSERTION)
    assertion.find(".//{*}NameID").text = "boss"
    signed = find(assertion, ".//ds:SignedInfo")
    forged = copy.deepcopy(signed)
    find(forged, ".//ds:DigestValue").text = digest_of(assertion)
    signed.addprevious(forged)


def empty_signed_info(document: Any) -> None:
    info = find(document, f"{ASSERTION}/ds:Signature/ds:SignedInfo")
    info.addprevious(etree.Element(info.tag))


def second_signature(document: Any) -> None:
    signature = find(document, f"{ASSERTION}/ds:Signature")
    signature.addnext(copy.deepcopy(signature))


def moved_signature(document: Any) -> None:
    find(document, "//saml:Subject").append(find(document, f"{ASSERTION}/ds:Signature"))


def namespaced_id(document: Any) -> None:
    """“The Fragile Lock”: an attribute of another namespace that libraries take for an ID as well."""
    data = find(document, "//saml:SubjectConfirmationData")
    data.set(f"{{{NAMES['samlp']}}}ID", find(document, ASSERTION).get("ID"))


AFTERWARDS: dict[str, tuple[Change, str]] = {
    "stripped": (without("//ds:Signature"), "signature shape"),
    "no value": (text(f"{ASSERTION}/ds:Signature/ds:SignatureValue", ""), "not valid"),
    "changed name": (text("//saml:NameID", "boss"), "not valid"),
    "changed value": (text("//saml:AttributeValue", "admins"), "not valid"),
    "changed answer": (with_("//saml:SubjectConfirmationData", "InResponseTo", "_another"), "not valid"),
    "doctored digest": (text(f"{ASSERTION}//ds:DigestValue", base64.b64encode(b"0" * 32).decode()), "not valid"),
    "CVE-2024-45409": (smuggled_digest, "not valid"),
    "CVE-2025-29775": (commented_digest, "not valid"),
    "CVE-2025-29774": (second_signed_info, "signature shape"),
    "an empty SignedInfo first": (empty_signed_info, "signature shape"),
    "no reference": (without(f"{ASSERTION}/ds:Signature//ds:Reference"), "signature shape"),
    "reference to all": (reference("URI", ""), "signature shape"),
    "reference to nothing": (without(f"{ASSERTION}/ds:Signature//ds:Reference", "URI"), "signature shape"),
    "reference elsewhere": (reference("URI", "#_elsewhere"), "signature shape"),
    "reference by XPointer": (reference("URI", "#xpointer(id('_acorp1'))"), "signature shape"),
    "reference to a file": (reference("URI", "file:///etc/passwd"), "signature shape"),
    "two references": (twice(f"{ASSERTION}/ds:Signature//ds:Reference"), "signature shape"),
    "two signatures": (second_signature, "signature shape"),
    "a signature in another place": (moved_signature, "signature shape"),
    "an object in the signature": (inside(f"{ASSERTION}/ds:Signature", "ds:Object"), "signature shape"),
    "IDs twice": (with_(ASSERTION, "ID", "_rcorp1"), "shape"),
    "an ID of another spelling": (with_("//saml:AuthnStatement", "Id", "_acorp1"), "shape"),
    "an ID of another namespace": (namespaced_id, "shape"),
    "no ID": (without(ASSERTION, "ID"), "signature shape"),
}


@pytest.mark.parametrize("vector", AFTERWARDS)
def test_changed_after_it_was_signed(client: Client, half: Idp, vector: str) -> None:
    change, reason = AFTERWARDS[vector]
    document = half.signed(half.response(begin(client, half)), what=ALONE)
    change(document)
    refused(client, half, document, reason)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (twice(f"{RESPONSE}/ds:Signature//ds:Reference"), "signature shape"),
        (without(f"{RESPONSE}/ds:Signature"), "not valid"),
        (without(f"{ASSERTION}/ds:Signature"), "not valid"),
        (without(RESPONSE, "ID"), "signature shape"),
        (text("//samlp:Status", "x"), "not valid"),
    ],
    ids=["two references", "the message's stripped", "the assertion's stripped", "no ID", "changed beside it"],
)
def test_changed_though_the_message_is_signed(client: Client, corp: Idp, change: Change, reason: str) -> None:
    document = corp.signed(corp.response(begin(client, corp)))
    change(document)
    refused(client, corp, document, reason)


@pytest.mark.parametrize("element", ["samlp:Response", "saml:Assertion"])
def test_a_namespace_that_canonical_form_does_not_know(client: Client, half: Idp, element: str) -> None:
    """“Void canonicalization”: a relative address of one makes libraries take the digest of nothing."""
    document = half.signed(half.response(begin(client, half)), what=ALONE)
    find(document, f"{ASSERTION}//ds:DigestValue").text = base64.b64encode(sha256(b"").digest()).decode()
    written = etree.tostring(document).replace(f"<{element} ".encode(), f'<{element} xmlns:x="1" '.encode(), 1)
    refused(client, half, base64.b64encode(written).decode(), "not valid")


def test_the_signature_of_something_else_that_the_provider_said(client: Client, half: Idp) -> None:
    """Of a former sign-in, in the place of this one's, under both names."""
    former = half.signed(half.response("_former"), what=ALONE)
    document = half.response(begin(client, half), name_id="boss")
    assertion, signed = find(document, ASSERTION), find(former, ASSERTION)
    assertion.insert(1, signed.find(SIGNATURE))
    refused(client, half, document, "signature shape", "it does not cover its parent")
    assertion.set("ID", signed.get("ID"))
    refused(client, half, document, "not valid", "invalid signature")


SIGNATURES: dict[str, tuple[dict[str, Any], str]] = {
    "SHA-1 signature": ({"method": xmlsec.Transform.RSA_SHA1}, "signature shape"),
    "SHA-1 digest": ({"digest": xmlsec.Transform.SHA1}, "signature shape"),
    "MD5 signature": ({"method": xmlsec.Transform.RSA_MD5}, "signature shape"),
    "RIPEMD-160 digest": ({"digest": xmlsec.Transform.RIPEMD160}, "signature shape"),
    "inclusive canonical form": (
        {"transforms": (xmlsec.Transform.ENVELOPED, xmlsec.Transform.C14N)},
        "signature shape",
    ),
    "canonical form with comments": (
        {"transforms": (xmlsec.Transform.ENVELOPED, xmlsec.Transform.EXCL_C14N_COMMENTS)},
        "signature shape",
    ),
    "XPath": ({"transforms": (xmlsec.Transform.ENVELOPED, xmlsec.Transform.XPATH)}, "signature shape"),
    "XSLT": ({"transforms": (xmlsec.Transform.ENVELOPED, xmlsec.Transform.XSLT)}, "signature shape"),
}
XPATH = "not(ancestor-or-self::saml:NameID)"
XSLT = """<xsl:stylesheet xmlns:xsl="http://www.w3.org/1999/XSL/Transform" version="1.0"><xsl:template match="/">
<signed/></xsl:template></xsl:stylesheet>"""


def fill_in(template: Any) -> None:
    """What such a transform lets out of the signature: the name, or everything."""
    for transform in template.iter(f"{{{NAMES['ds']}}}Transform"):
        if transform.get("Algorithm").endswith("xpath-19991116"):
            inner = etree.SubElement(transform, f"{{{NAMES['ds']}}}XPath", nsmap={"saml": NAMES["saml"]})
            inner.text = XPATH
        if transform.get("Algorithm").endswith("xslt-19991116"):
            transform.append(etree.fromstring(XSLT))


@pytest.mark.parametrize("what", [BOTH, ALONE], ids=str)
@pytest.mark.parametrize("vector", SIGNATURES)
def test_signed_in_a_way_that_is_not_accepted(client: Client, half: Idp, vector: str, what: Sequence[str]) -> None:
    """By the provider itself, which should not."""
    how, reason = SIGNATURES[vector]
    document = half.signed(half.response(begin(client, half)), what=what, change=fill_in, **how)
    refused(client, half, document, reason)


@pytest.mark.parametrize("transform", [xmlsec.Transform.XPATH, xmlsec.Transform.XSLT], ids=str)
def test_a_name_that_such_a_signature_does_not_hold(client: Client, half: Idp, transform: Any) -> None:
    transforms = (xmlsec.Transform.ENVELOPED, transform)
    document = half.signed(half.response(begin(client, half)), what=ALONE, change=fill_in, transforms=transforms)
    text("//saml:NameID", "boss")(document)
    refused(client, half, document, "signature shape")


def test_the_certificate_as_a_password(client: Client, half: Idp) -> None:
    """HMAC, with what everybody knows as its secret."""
    document = half.response(begin(client, half))
    assertion = find(document, ASSERTION)
    template = xmlsec.template.create(assertion, xmlsec.Transform.EXCL_C14N, xmlsec.Transform.HMAC_SHA256, ns="ds")
    assertion.insert(1, template)
    part = xmlsec.template.add_reference(template, xmlsec.Transform.SHA256, uri=f"#{assertion.get('ID')}")
    xmlsec.template.add_transform(part, xmlsec.Transform.ENVELOPED)
    xmlsec.template.add_transform(part, xmlsec.Transform.EXCL_C14N)
    xmlsec.tree.add_ids(document, ["ID"])
    context = xmlsec.SignatureContext()
    context.key = xmlsec.Key.from_binary_data(xmlsec.KeyData.HMAC, half.certificate.encode())
    context.sign(template)
    refused(client, half, document, "signature shape", "another algorithm")


@pytest.mark.parametrize("tells", [True, False])
def test_a_key_of_somebody_else(client: Client, corp: Idp, tells: bool) -> None:
    """With its own certificate beside it, or without."""
    key, certificate = key_pair(NOW)

    def tell(template: Any) -> None:
        data = etree.SubElement(xmlsec.template.ensure_key_info(template), f"{{{NAMES['ds']}}}X509Data")
        etree.SubElement(data, f"{{{NAMES['ds']}}}X509Certificate").text = "".join(certificate.split("\n")[1:-2])

    how = {"change": tell} if tells else {}
    refused(client, corp, corp.signed(corp.response(begin(client, corp)), key=key, **how), "not valid")


def test_unsigned(client: Client, half: Idp) -> None:
    refused(client, half, half.response(begin(client, half)), "signature shape", "no signature")


def test_the_message_must_be_signed_where_the_provider_can(client: Client, corp: Idp) -> None:
    refused(client, corp, corp.signed(corp.response(begin(client, corp)), what=ALONE), "not valid", "no signed message")
    IdentityProvider.objects.update(signs_response=False)
    assert arrive(client, corp, corp.signed(corp.response(begin(client, corp)), what=ALONE)).url == "/"


def test_the_message_alone_is_enough(client: Client, corp: Idp) -> None:
    assert arrive(client, corp, corp.signed(corp.response(begin(client, corp)), what=("response",))).url == "/"


@pytest.mark.parametrize("has_key", [False, True])
@pytest.mark.parametrize(
    ("what", "path"), [("Assertion", ASSERTION), ("Attribute", "//saml:Attribute"), ("ID", "//saml:NameID")]
)
def test_what_is_encrypted(
    client: Client, corp: Idp, keys: tuple[tuple[str, str], ...], settings: Any, what: str, path: str, has_key: bool
) -> None:
    """Found before the library tries to decrypt it; and groups that cannot be read are not no groups."""
    if has_key:
        settings.SAML_KEY, settings.SAML_CERTIFICATE = keys[1]
    document = corp.response(begin(client, corp))
    plain = find(document, path)
    encrypted = etree.SubElement(plain.getparent(), f"{{{NAMES['saml']}}}Encrypted{what}")
    encrypted.append(plain)
    refused(client, corp, corp.signed(document, what=["response"]), "encrypted", f"Encrypted{what}")
