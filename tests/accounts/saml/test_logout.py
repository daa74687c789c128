"""Logout that an identity provider asks for."""

import base64
import zlib
from typing import Any
from urllib.parse import quote

import pytest
import xmlsec
from django.test import Client
from django.urls import reverse

from tests.accounts.saml.conftest import NOW
from tests.accounts.saml.idp import NAMES, Idp
from tests.accounts.saml.journey import people_in_sessions, sign_in

pytestmark = pytest.mark.django_db
ALGORITHM = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"


def query(idp: Idp, *, name: str = "ana-0001", index: str = "_session", kind: str = "SAMLRequest", **how: Any) -> str:
    document = (
        f'<samlp:LogoutRequest xmlns:samlp="{NAMES["samlp"]}" xmlns:saml="{NAMES["saml"]}" ID="_out" Version="2.0" '
        f'IssueInstant="{NOW:%Y-%m-%dT%H:%M:%SZ}" Destination="{reverse("saml-logout", args=["corp"])}">'
        f"<saml:Issuer>{idp.entity_id}</saml:Issuer><saml:NameID>{name}</saml:NameID>"
        f"<samlp:SessionIndex>{index}</samlp:SessionIndex></samlp:LogoutRequest>"
    ).replace('Destination="/', 'Destination="http://127.0.0.1:0/')
    packed = base64.b64encode(zlib.compress(document.encode())[2:-4]).decode()
    signed = f"{kind}={quote(packed, safe='')}&SigAlg={quote(ALGORITHM, safe='')}"
    if how.get("unsigned"):
        return signed
    context = xmlsec.SignatureContext()
    context.key = xmlsec.Key.from_memory(how.get("key", idp.key), xmlsec.KeyFormat.PEM)
    signature = base64.b64encode(context.sign_binary(signed.encode(), xmlsec.Transform.RSA_SHA256)).decode()
    return f"{signed}&Signature={quote(signature, safe='')}"


def ask(client: Client, text: str) -> Any:
    return client.get(f"{reverse('saml-logout', args=['corp'])}?{text}")


def test_a_signed_request_of_this_session_ends_it(client: Client, corp: Idp) -> None:
    sign_in(client, corp)
    response = ask(client, query(corp))
    assert response.status_code == 302
    assert response.url.startswith("https://corp.example.org/sso/slo?SAMLResponse=")
    assert people_in_sessions() == []


@pytest.mark.parametrize(
    "how",
    [{"unsigned": True}, {"name": "boss"}, {"index": "_another"}, {"kind": "SAMLResponse"}, {"name": ""}],
    ids=str,
)
def test_every_other_request_ends_nothing(client: Client, corp: Idp, how: dict[str, Any]) -> None:
    sign_in(client, corp)
    assert ask(client, query(corp, **how)).status_code == 403
    assert len(people_in_sessions()) == 1


def test_a_key_of_somebody_else_ends_nothing(client: Client, corp: Idp, other: Idp) -> None:
    sign_in(client, corp)
    assert ask(client, query(corp, key=other.key)).status_code == 403
    assert len(people_in_sessions()) == 1


@pytest.mark.parametrize(
    "text", ["", "SAMLRequest=", "SAMLRequest=%25&SigAlg=x&Signature=y", "SAMLRequest=abcd&SigAlg=x"]
)
def test_what_is_no_request_ends_nothing(client: Client, corp: Idp, text: str) -> None:
    sign_in(client, corp)
    assert ask(client, text).status_code == 403
    assert len(people_in_sessions()) == 1


def test_a_session_that_has_ended_is_answered_so_that_the_provider_goes_on(client: Client, corp: Idp) -> None:
    sign_in(client, corp)
    client.post(reverse("sign-out"))
    response = ask(client, query(corp))
    assert response.status_code == 302, "else its own logout would stop here, and its session live on"
    assert response.url.startswith("https://corp.example.org/sso/slo?SAMLResponse=")
    assert ask(client, query(corp, unsigned=True)).status_code == 403


def test_what_another_provider_began_goes_on(client: Client, corp: Idp, other: Idp) -> None:
    sign_in(client, other)
    assert ask(client, query(corp)).status_code == 302
    assert len(people_in_sessions()) == 1


def test_a_refusal_says_what_is_so_and_what_to_do(client: Client, corp: Idp) -> None:
    sign_in(client, corp)
    text = ask(client, query(corp, unsigned=True)).text
    assert "Not signed out" in text
    assert "Not signed in" not in text
    assert "Start again" not in text
    assert 'href="/"' in text


def test_signing_out_here_says_what_lives_on_there(client: Client, corp: Idp) -> None:
    sign_in(client, corp)
    response = client.post(reverse("sign-out"), follow=True)
    assert people_in_sessions() == []
    assert "At Corp you are still signed in" in response.text
