"""Answers that are whole and are still refused: to nobody's request, another's, one of long ago, or a second time."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.urls import reverse

from accounts.models import IdentityProvider, UsedAssertion
from accounts.saml.refusals import Reason, Refused
from tests.accounts.saml.changes import ASSERTION, DATA, RESPONSE, refused, without
from tests.accounts.saml.conftest import NOW
from tests.accounts.saml.idp import Idp, find, key_pair, metadata, sent
from tests.accounts.saml.journey import arrive, begin, people_in_sessions, sign_in

pytestmark = pytest.mark.django_db


def stolen(idp: Idp, answers: str) -> Any:
    """The assertion alone is signed: whoever has it writes the message around it anew."""
    IdentityProvider.objects.update(signs_response=False)
    return idp.signed(idp.response(answers), what=["assertion"])


def test_an_assertion_in_another_message_answers_no_other_request(client: Client, corp: Idp) -> None:
    document = stolen(corp, "_stolen")
    document.set("InResponseTo", begin(client, corp))
    refused(client, corp, document, "not valid", "wrong subjectconfirmation")


def test_an_assertion_that_nobody_asked_for_answers_no_request(client: Client, corp: Idp) -> None:
    """One from a tile, put into a message that answers the thief's own request."""
    IdentityProvider.objects.update(signs_response=False)
    response = corp.response(begin(client, corp))
    without(DATA, "InResponseTo")(response)
    refused(client, corp, corp.signed(response, what=["assertion"]), "confirmation", "does not answer")


def test_an_assertion_does_not_become_one_that_nobody_asked_for(client: Client, corp: Idp) -> None:
    document = stolen(corp, begin(client, corp))
    without(RESPONSE, "InResponseTo")(document)
    refused(client, corp, document, "confirmation", "does not answer")
    refused(Client(), corp, document, "confirmation", "does not answer")


def test_an_expired_certificate(client: Client, corp: Idp) -> None:
    begun = begin(client, corp)
    key, certificate = key_pair(NOW, days=-1)
    corp.row.metadata = metadata(corp.entity_id, [certificate], "https://corp.example.org/sso")
    corp.row.save()
    refused(client, corp, corp.signed(corp.response(begun), key=key), "certificate expired")


def test_an_expired_certificate_beside_a_valid_one(client: Client, corp: Idp) -> None:
    key, certificate = key_pair(NOW, days=-1)
    both = [certificate, corp.certificate]
    IdentityProvider.objects.update(metadata=metadata(corp.entity_id, both, "https://corp.example.org/sso"))
    refused(client, corp, corp.signed(corp.response(begin(client, corp)), key=key), "not valid", "invalid signature")


def test_nobody_asked(client: Client, corp: Idp) -> None:
    response = corp.response("x")
    for path in (RESPONSE, DATA):
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


def test_what_waits_for_one_provider_is_not_taken_over_by_another(client: Client, corp: Idp, other: Idp) -> None:
    document = corp.signed(corp.response(begin(client, corp)))
    posted = arrive_no_further(corp, document)
    client.cookies["saml-arrival"] = posted.cookies["saml-arrival"].value
    assert client.get(reverse("saml-finish", args=["other"])).status_code == 403
    assert people_in_sessions() == []


def arrive_no_further(idp: Idp, document: Any) -> Any:
    return Client().post(reverse("saml-acs", args=[idp.row.slug]), {"SAMLResponse": sent(document)})


def test_the_provider_asserts_of_itself_alone(client: Client, corp: Idp, other: Idp) -> None:
    """One provider that says it is the other, at either address, with its own key."""
    said = {"issuer": other.entity_id, "audience": "http://127.0.0.1:0/saml/other/metadata/", "acs": other.acs}
    document = corp.signed(corp.response(begin(client, other), **said))
    refused(client, other, document, "not valid", "invalid signature")
    refused(client, corp, document, "not valid")


def test_an_answer_is_good_once(client: Client, corp: Idp) -> None:
    """Even if its request could be answered again: the same assertion in the same browser's next request."""
    document = corp.signed(corp.response(begin(client, corp)))
    arrive(client, corp, document)
    first = people_in_sessions()
    again = arrive(client, corp, document)
    assert again.status_code == 403
    assert people_in_sessions() == first


def test_nor_after_signing_out_or_in_another_browser(client: Client, corp: Idp) -> None:
    document = corp.signed(corp.response(begin(client, corp)))
    arrive(client, corp, document)
    client.post(reverse("sign-out"))
    for browser in (client, Client()):
        assert arrive(browser, corp, document).status_code == 403
        assert people_in_sessions() == []


def test_what_arrived_is_taken_over_once(client: Client, corp: Idp) -> None:
    """By whoever has the cookie of the way from the provider, too."""
    document = corp.signed(corp.response(begin(client, corp)))
    posted = arrive_no_further(corp, document)
    client.cookies["saml-arrival"] = thief_cookie = posted.cookies["saml-arrival"].value
    assert client.get(posted.url).url == "/"
    thief = Client()
    thief.cookies["saml-arrival"] = thief_cookie
    answer = thief.get(posted.url)
    assert answer.status_code == 403
    assert "no arrival" in answer.text


def test_an_assertion_used_twice_is_refused(client: Client, corp: Idp) -> None:
    one, two = begin(client, corp), begin(client, corp)
    first, second = corp.response(one), corp.response(two)
    find(second, ASSERTION).set("ID", find(first, ASSERTION).get("ID"))
    assert arrive(client, corp, corp.signed(first)).url == "/"
    again = arrive(client, corp, corp.signed(second))
    assert again.status_code == 403
    assert "already" in again.text


def test_it_is_remembered_as_long_as_it_would_be_valid(client: Client, corp: Idp) -> None:
    sign_in(client, corp)
    assert UsedAssertion.objects.get().valid_until == NOW + timedelta(minutes=10), "its end, and the clocks' difference"


def test_the_last_address_alone_signs_nobody_in(client: Client, corp: Idp) -> None:
    begin(client, corp)
    assert client.get(reverse("saml-finish", args=["corp"])).status_code == 403
    client.cookies["saml-arrival"] = "a" * 32
    assert client.get(reverse("saml-finish", args=["corp"])).status_code == 403
    assert people_in_sessions() == []


def test_the_session_of_before_is_not_the_one_after(client: Client, corp: Idp) -> None:
    """Who knew the browser's session before the sign-in has nothing by it."""
    begun = begin(client, corp)
    before = client.cookies["sessionid"].value
    assert arrive(client, corp, corp.signed(corp.response(begun))).url == "/"
    assert client.cookies["sessionid"].value != before
    spy = Client()
    spy.cookies["sessionid"] = before
    assert spy.get("/me/").status_code == 302


def test_the_other_language_is_no_way_back_to_an_address_that_takes_forms_alone(client: Client, corp: Idp) -> None:
    page = arrive(client, corp, "").text
    assert 'name="next" value="/"' in page
    assert 'value="/saml/' not in page


def test_the_page_tells_what_to_quote_and_how_to_go_on(client: Client, corp: Idp) -> None:
    page = arrive(client, corp, "").text
    assert '<p class="raw">Corp, 2026-10-08 12:00:00 UTC, malformed: ' in page
    assert 'data-copy="Corp, 2026-10-08 12:00:00 UTC, malformed: ' in page
    assert 'href="/sign-in/?choose=1"' in page
    assert "/saml/corp/login/" not in page


def test_who_came_from_a_tile_reads_where_it_should_point(client: Client, corp: Idp) -> None:
    response = corp.response("x")
    for path in (RESPONSE, DATA):
        without(path, "InResponseTo")(response)
    assert 'data-copy="http://127.0.0.1:0/saml/corp/login/"' in arrive(client, corp, corp.signed(response)).text


@pytest.mark.parametrize("text", ["", "<x/>"])
def test_metadata_that_cannot_be_read_any_more_is_none(client: Client, corp: Idp, text: str) -> None:
    document = corp.signed(corp.response(begin(client, corp)))
    IdentityProvider.objects.update(metadata=text)
    refused(client, corp, document, "no metadata")
    assert client.get(reverse("saml-login", args=["corp"])).status_code == 403


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_a_sentence(reason: Reason) -> None:
    assert len(str(Refused(reason).sentence)) > 40
