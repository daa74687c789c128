"""An identity provider of our own: keys, metadata, and responses that are signed as a test wants them."""

import base64
import copy
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import xmlsec
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from lxml import etree

from accounts.models import IdentityProvider

PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
NAMES = {
    "samlp": "urn:oasis:names:tc:SAML:2.0:protocol",
    "saml": "urn:oasis:names:tc:SAML:2.0:assertion",
    "ds": "http://www.w3.org/2000/09/xmldsig#",
}
_TEMPLATE = """
<samlp:Response xmlns:samlp="{samlp}" xmlns:saml="{saml}" ID="_r{id}" Version="2.0" IssueInstant="{at}"
    Destination="{acs}" InResponseTo="{answers}"><saml:Issuer>{issuer}</saml:Issuer>
  <samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>
  <saml:Assertion ID="_a{id}" Version="2.0" IssueInstant="{at}"><saml:Issuer>{issuer}</saml:Issuer>
    <saml:Subject><saml:NameID Format="{format}">{name_id}</saml:NameID>
      <saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData
        NotOnOrAfter="{until}" Recipient="{acs}" InResponseTo="{answers}"/></saml:SubjectConfirmation></saml:Subject>
    <saml:Conditions NotBefore="{since}" NotOnOrAfter="{until}"><saml:AudienceRestriction>
      <saml:Audience>{audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>
    <saml:AuthnStatement AuthnInstant="{authenticated}" SessionIndex="{index}" SessionNotOnOrAfter="{session_until}">
      <saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef>
      </saml:AuthnContext></saml:AuthnStatement>
    <saml:AttributeStatement>{attributes}</saml:AttributeStatement>
  </saml:Assertion>
</samlp:Response>"""


def key_pair(now: datetime, *, days: int = 365) -> tuple[str, str]:
    """A key and its certificate, as PEM."""
    key = rsa.generate_private_key(65537, 2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "idp")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=400))
        .not_valid_after(now + timedelta(days=days))
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    return pem.decode(), certificate.public_bytes(serialization.Encoding.PEM).decode()


def metadata(entity_id: str, certificates: Sequence[str], sso: str) -> str:
    keys = "".join(
        '<md:KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>'
        + "".join(pem.split("\n")[1:-2])
        + "</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>"
        for pem in certificates
    )
    redirect = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
    return (
        f'<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="{NAMES["ds"]}" '
        f'entityID="{entity_id}"><md:IDPSSODescriptor protocolSupportEnumeration="{NAMES["samlp"]}">{keys}'
        f'<md:SingleLogoutService Binding="{redirect}" Location="{sso}/slo"/>'
        f'<md:SingleSignOnService Binding="{redirect}" Location="{sso}"/></md:IDPSSODescriptor></md:EntityDescriptor>'
    )


@dataclass
class Idp:
    """`portal`: the address of whom it speaks to. `last`: the number of the last response; no two have the same IDs."""

    row: IdentityProvider
    key: str
    certificate: str
    now: datetime
    portal: str = "http://127.0.0.1:0"
    last: int = field(default=0)

    @property
    def acs(self) -> str:
        return f"{self.portal}/saml/{self.row.slug}/acs/"

    @property
    def entity_id(self) -> str:
        return f"https://{self.row.slug}.example.org/idp"

    def response(self, answers: str, *, attributes: Mapping[str, Sequence[str]] | None = None, **other: str) -> Any:
        self.last += 1
        values = {
            **NAMES,
            "id": f"{self.row.slug}{self.last}",
            "at": _text(self.now),
            "authenticated": _text(self.now),
            "since": _text(self.now - timedelta(minutes=5)),
            "until": _text(self.now + timedelta(minutes=5)),
            "session_until": _text(self.now + timedelta(hours=8)),
            "acs": self.acs,
            "audience": f"{self.portal}/saml/{self.row.slug}/metadata/",
            "issuer": self.entity_id,
            "format": PERSISTENT,
            "name_id": "ana-0001",
            "index": "_session",
            "answers": answers,
            "attributes": _attributes(attributes or {"email": ["ana@example.org"], "displayName": ["Ana Lima"]}),
        }
        return etree.fromstring(_TEMPLATE.format(**{**values, **other}).strip())

    def signed(self, response: Any, *, what: Sequence[str] = ("assertion", "response"), **how: Any) -> Any:
        """The document with its parts signed, the assertion first."""
        document = copy.deepcopy(response)
        for part in what:
            sign(
                document if part == "response" else find(document, "//saml:Assertion"),
                how.get("key", self.key),
                **{k: v for k, v in how.items() if k != "key"},
            )
        return document


def _attributes(attributes: Mapping[str, Sequence[str]]) -> str:
    return "".join(
        f'<saml:Attribute Name="{name}">'
        + "".join(f"<saml:AttributeValue>{value}</saml:AttributeValue>" for value in values)
        + "</saml:Attribute>"
        for name, values in attributes.items()
    )


def _text(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def find(document: Any, path: str) -> Any:
    return document.xpath(path, namespaces=NAMES)[0]


def sign(
    element: Any,
    key: str,
    *,
    method: Any = xmlsec.Transform.RSA_SHA256,
    digest: Any = xmlsec.Transform.SHA256,
    transforms: Sequence[Any] = (xmlsec.Transform.ENVELOPED, xmlsec.Transform.EXCL_C14N),
    change: Callable[[Any], None] = lambda template: None,
) -> None:
    """A signature of the element, put where the schema has it: after its Issuer."""
    template = xmlsec.template.create(element, xmlsec.Transform.EXCL_C14N, method, ns="ds")
    element.insert(1, template)
    reference = xmlsec.template.add_reference(template, digest, uri=f"#{element.get('ID')}")
    for transform in transforms:
        xmlsec.template.add_transform(reference, transform)
    change(template)
    xmlsec.tree.add_ids(element.getroottree().getroot(), ["ID"])
    context = xmlsec.SignatureContext()
    context.key = xmlsec.Key.from_memory(key, xmlsec.KeyFormat.PEM)
    context.sign(template)


def sent(document: Any) -> str:
    return base64.b64encode(etree.tostring(document)).decode()


def request_id(address: str) -> str:
    """The ID of the AuthnRequest that the portal sends people with."""
    text = parse_qs(urlsplit(address).query)["SAMLRequest"][0]
    return str(etree.fromstring(zlib.decompress(base64.b64decode(text), -15)).get("ID"))
