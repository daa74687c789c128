"""Logout that an identity provider asks for."""

import base64
import zlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
import time_machine
import xmlsec
from django.test import Client
from django.urls import reverse
from structlog.testing import capture_logs

from accounts.models import User
from accounts.tasks import read_providers
from portal.models import AuditEvent
from tests.accounts.saml.conftest import NOW
from tests.accounts.saml.idp import NAMES, Idp
from tests.accounts.saml.journey import arrive, begin, people_in_sessions, sign_in

pytestmark = pytest.mark.django_db

SHA_256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
SHA_1 = "http://www.w3.org/2000/09/xmldsig#rsa-sha1"
OURS = "http://127.0.0.1:0/saml/corp/logout/"


def request_of(idp: Idp, *, name: str = "ana-0001", indexes: Sequence[str] = ("_session",), **how: str) -> str:
    values = {"id": "_out", "at": f"{NOW:%Y-%m-%dT%H:%M:%SZ}", "issuer": idp.entity_id, "to": OURS, **how}
    destination = f'Destination="{values["to"]}"' if values["to"] else ""
    until = f'NotOnOrAfter="{values["until"]}"' if "until" in values else ""
    return (
        f'<samlp:LogoutRequest xmlns:samlp="{NAMES["samlp"]}" xmlns:saml="{NAMES["saml"]}" ID="{values["id"]}" '
        f'Version="2.0" IssueInstant="{values["at"]}" {until} {destination}>'
        f"<saml:Issuer>{values['issuer']}</saml:Issuer><saml:NameID>{name}</saml:NameID>"
        + "".join(f"<samlp:SessionIndex>{index}</samlp:SessionIndex>" for index in indexes)
        + "</samlp:LogoutRequest>"
    )


def response_of(idp: Idp) -> str:
    return (
        f'<samlp:LogoutResponse xmlns:samlp="{NAMES["samlp"]}" xmlns:saml="{NAMES["saml"]}" ID="_out" Version="2.0" '
        f'IssueInstant="{NOW:%Y-%m-%dT%H:%M:%SZ}" Destination="{OURS}" InResponseTo="_nothing"><saml:Issuer>'
        f'{idp.entity_id}</saml:Issuer><samlp:Status><samlp:StatusCode Value="{NAMES["samlp"][:-8]}status:Success"/>'
        f"</samlp:Status></samlp:LogoutResponse>"
    )


def packed(document: str) -> str:
    return quote(base64.b64encode(zlib.compress(document.encode())[2:-4]).decode(), safe="")


def query(key: str, document: str, *, kind: str = "SAMLRequest", algorithm: str = SHA_256) -> str:
    """What stands in the address behind the question mark; without a key it is not signed."""
    signed = f"{kind}={packed(document)}&SigAlg={quote(algorithm, safe='')}"
    if not key:
        return signed
    context = xmlsec.SignatureContext()
    context.key = xmlsec.Key.from_memory(key, xmlsec.KeyFormat.PEM)
    transform = (
        xmlsec.Transform.RSA_SHA256 if algorithm == SHA_256 else xmlsec.Transform.RSA_SHA1
    )  # what the library falls back to
    signature = base64.b64encode(context.sign_binary(signed.encode(), transform)).decode()
    return f"{signed}&Signature={quote(signature, safe='')}"


def asked(idp: Idp, **how: Any) -> str:
    return query(idp.key, request_of(idp, **how))


def of_all(idp: Idp, **how: Any) -> str:
    return asked(idp, indexes=(), **how)


def ask(client: Client, text: str) -> Any:
    return client.get(f"{reverse('saml-logout', args=['corp'])}?{text}")


def refused(client: Client, text: str, detail: str = "") -> None:
    """And the session is as it was."""
    before = people_in_sessions()
    with capture_logs() as lines:
        assert ask(client, text).status_code == 403
    told = [line for line in lines if line["event"] == "sign-in refused"]
    assert [line["reason"] for line in told] == ["logout"]
    assert detail in told[0]["detail"]
    assert people_in_sessions() == before != []
    assert client.get("/me/").status_code == 200


def is_in(client: Client) -> bool:
    return bool(client.get("/me/").status_code == 200)


def answered(response: Any) -> bool:
    return response.status_code == 302 and response.url.startswith("https://corp.example.org/sso/slo?SAMLResponse=")


@pytest.mark.parametrize("indexes", [("_session",), ("_another", "_session"), ()], ids=str)
def test_a_signed_request_of_this_session_ends_it(client: Client, corp: Idp, indexes: Sequence[str]) -> None:
    sign_in(client, corp)
    assert answered(ask(client, asked(corp, indexes=indexes)))
    assert people_in_sessions() == []


FORGED = {
    "of another person": (lambda idp: asked(idp, name="boss"), "of another session"),
    "of another session": (lambda idp: asked(idp, indexes=("_another",)), "of another session"),
    "of nobody": (lambda idp: asked(idp, name=""), "of nobody"),
    "of nobody at all": (lambda idp: of_all(idp, name=" "), "of nobody"),
    "not signed": (lambda idp: query("", request_of(idp)), "not signed"),
    "not signed, of all": (lambda idp: query("", request_of(idp, indexes=())), "not signed"),
    "signed with SHA-1": (lambda idp: query(idp.key, request_of(idp), algorithm=SHA_1), "another algorithm"),
    "signed in another way than said": (
        lambda idp: query(idp.key, request_of(idp), algorithm=SHA_256.replace("#rsa", "#ecdsa")),
        "another algorithm",
    ),
    "signed in an unknown way": (lambda idp: query(idp.key, request_of(idp), algorithm="x"), "another algorithm"),
    "signed by another algorithm than said": (lambda idp: asked(idp).replace("rsa-sha256", "rsa-sha512"), "signature"),
    "a response that nobody asked for": (
        lambda idp: query(idp.key, response_of(idp), kind="SAMLResponse"),
        "not signed",
    ),
    "an unsigned response": (lambda idp: query("", response_of(idp), kind="SAMLResponse"), "not signed"),
    "a request called a response": (lambda idp: query(idp.key, request_of(idp), kind="SAMLResponse"), "not signed"),
    "a response called a request": (lambda idp: query(idp.key, response_of(idp)), "ValidationError"),
    "issued by another": (lambda idp: asked(idp, issuer="https://x.example.org"), "invalid_logout_request"),
    "for another address": (lambda idp: asked(idp, to="https://x.example.org/"), "invalid_logout_request"),
    "ended": (lambda idp: asked(idp, until="2026-10-08T11:59:00Z"), "invalid_logout_request"),
    "of all, for no address": (lambda idp: of_all(idp, to=""), "for another address"),
    "of all, our address and a suffix": (lambda idp: of_all(idp, to=f"{OURS}x"), "for another address"),
    "of all, old": (lambda idp: of_all(idp, at="2026-10-08T11:54:59Z"), "too old"),
    "of all, of the future": (lambda idp: of_all(idp, at="2026-10-08T12:05:01Z"), "too old"),
    "of all, of no time": (lambda idp: of_all(idp, at="2026-10-08T12:00:00+02:00"), "no time"),
}


@pytest.mark.parametrize("vector", FORGED)
def test_every_other_request_ends_nothing(client: Client, corp: Idp, vector: str) -> None:
    make, detail = FORGED[vector]
    sign_in(client, corp)
    refused(client, make(corp), detail)


@pytest.mark.parametrize("name", ["SAMLRequest", "SAML%52equest", "%53AMLRequest"])
@pytest.mark.parametrize("comes_first", [True, False])
@pytest.mark.parametrize("indexes", [("_session",), ()], ids=str)
def test_what_is_read_is_what_was_signed(
    client: Client, corp: Idp, indexes: Sequence[str], comes_first: bool, name: str
) -> None:
    """A request that was signed for somebody else's session, and beside it the one that is to be believed."""
    sign_in(client, corp)
    signed, forged = asked(corp, name="boss"), f"{name}={packed(request_of(corp, indexes=indexes))}"
    refused(client, f"{forged}&{signed}" if comes_first else f"{signed}&{forged}", "a parameter twice, or escaped")


def test_a_key_of_somebody_else_ends_nothing(client: Client, corp: Idp, other: Idp) -> None:
    sign_in(client, corp)
    for indexes in (("_session",), ()):
        refused(client, query(other.key, request_of(corp, indexes=indexes)), "signature")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SAMLRequest=",
        f"SAMLRequest=%25&SigAlg={quote(SHA_256, safe='')}&Signature=y",
        "SAMLRequest=abcd&SigAlg=x",
        f"SAMLRequest={packed('not xml')}&SigAlg={quote(SHA_256, safe='')}&Signature=AAAA",
        f"SAMLRequest={packed('<!DOCTYPE r [<!ENTITY a b>]><r>&a;</r>')}&SigAlg=x&Signature=AAAA",
        f"SAMLRequest=%ff&SigAlg={quote(SHA_256, safe='')}&Signature=%ff",
    ],
)
def test_what_is_no_request_ends_nothing(client: Client, corp: Idp, text: str) -> None:
    sign_in(client, corp)
    refused(client, text)


def test_a_post_is_not_how_it_is_asked(client: Client, corp: Idp) -> None:
    sign_in(client, corp)
    assert client.post(f"{reverse('saml-logout', args=['corp'])}?{asked(corp)}").status_code in (403, 405)
    assert is_in(client)


def everybody(client: Client, corp: Idp, other: Idp) -> list[Client]:
    """Signed in: the person here and on a phone, a colleague, and somebody of the same name at another provider."""
    phone, colleague, namesake = Client(), Client(), Client()
    sign_in(client, corp)
    sign_in(phone, corp, index="_phone")
    sign_in(colleague, corp, name_id="bob-0002")
    sign_in(namesake, other)
    return [client, phone, colleague, namesake]


def test_one_that_names_no_session_ends_all_of_the_person_and_of_nobody_else(
    client: Client, corp: Idp, other: Idp
) -> None:
    """SAML 2.0, core, 3.7.1: without a SessionIndex every session of the NameID is meant."""
    people = everybody(client, corp, other)
    assert answered(ask(Client(), of_all(corp)))
    assert [is_in(each) for each in people] == [False, False, True, True]
    event = AuditEvent.objects.get(event="sessions.ended")
    assert (event.actor, event.target) == ("identity_provider/corp", "person/corp:ana-0001")
    sign_in(client, corp)
    assert is_in(client), "nothing keeps them from signing in again"


def test_a_session_that_is_named_ends_in_a_frame_of_the_providers_page_too(
    client: Client, corp: Idp, other: Idp
) -> None:
    """To which browsers send no cookie of ours; and no other session ends, however it is called."""
    people, frame = everybody(client, corp, other), Client()
    assert answered(ask(frame, asked(corp)))
    assert [is_in(each) for each in people] == [False, True, True, True]
    assert len(people_in_sessions()) == 3
    event = AuditEvent.objects.get(event="sessions.ended")
    assert (event.actor, event.target) == ("identity_provider/corp", "person/corp:ana-0001")
    assert answered(ask(frame, asked(corp)))
    assert AuditEvent.objects.filter(event="sessions.ended").count() == 1, "nothing was left to end"


def test_a_session_that_was_made_fresh_is_still_the_providers(client: Client, corp: Idp) -> None:
    """Its key is another one since then."""
    sign_in(client, corp)
    sign_in(client, corp, index="_anew")
    assert answered(ask(Client(), asked(corp)))
    assert is_in(client)
    assert answered(ask(Client(), asked(corp, indexes=("_anew",))))
    assert not is_in(client)


@pytest.mark.parametrize("indexes", [("",), ("_session", ""), ("é" * 300,)], ids=["empty", "with an empty", "long"])
def test_names_of_sessions_that_are_unusual(client: Client, corp: Idp, indexes: Sequence[str]) -> None:
    sign_in(client, corp)
    assert answered(ask(Client(), asked(corp, indexes=indexes)))
    assert is_in(client) is ("_session" not in indexes)


def test_it_ends_them_where_another_person_is_signed_in(client: Client, corp: Idp) -> None:
    colleague = Client()
    sign_in(client, corp)
    sign_in(colleague, corp, name_id="bob-0002", index="_bob")
    assert answered(ask(colleague, of_all(corp)))
    assert [is_in(each) for each in (client, colleague)] == [False, True]


def test_it_is_good_once(client: Client, corp: Idp) -> None:
    """Whoever has its address out of a browser's history ends nothing with it, then or later."""
    sign_in(client, corp)
    assert answered(ask(client, of_all(corp)))
    sign_in(client, corp)
    refused(client, of_all(corp), "used before")
    with time_machine.travel(NOW + timedelta(minutes=10), tick=False):
        read_providers()
        corp.now = NOW + timedelta(minutes=10)
        refused(client, of_all(corp), "too old")


def test_one_about_somebody_unknown_is_answered(client: Client, corp: Idp) -> None:
    assert answered(ask(client, of_all(corp)))
    assert not User.objects.exists()
    assert not AuditEvent.objects.filter(event="sessions.ended").exists()


def test_a_session_whose_provider_gave_it_no_name_is_ended_by_one_of_all_alone(client: Client, corp: Idp) -> None:
    document = corp.response(begin(client, corp))
    del document.find(".//{*}AuthnStatement").attrib["SessionIndex"]
    assert arrive(client, corp, corp.signed(document)).url == "/"
    refused(client, asked(corp), "of another session")
    assert answered(ask(client, of_all(corp)))
    assert people_in_sessions() == []


def test_a_session_that_has_ended_is_answered_so_that_the_provider_goes_on(client: Client, corp: Idp) -> None:
    sign_in(client, corp)
    client.post(reverse("sign-out"))
    assert answered(ask(client, asked(corp))), "else its own logout would stop here, and its session live on"
    assert ask(client, query("", request_of(corp))).status_code == 403


def test_what_another_provider_began_goes_on(client: Client, corp: Idp, other: Idp) -> None:
    sign_in(client, other)
    assert answered(ask(client, asked(corp)))
    assert answered(ask(client, of_all(corp)))
    assert len(people_in_sessions()) == 1
    assert is_in(client)


def test_a_refusal_says_what_is_so_and_what_to_do(client: Client, corp: Idp) -> None:
    sign_in(client, corp)
    text = ask(client, query("", request_of(corp))).text
    assert "Not signed out" in text
    assert "Not signed in" not in text
    assert "Start again" not in text
    assert 'href="/"' in text


def test_signing_out_here_says_what_lives_on_there(client: Client, corp: Idp) -> None:
    sign_in(client, corp)
    response = client.post(reverse("sign-out"), follow=True)
    assert people_in_sessions() == []
    assert "At Corp you are still signed in" in response.text
