"""Who signed in long ago signs in anew, and the identity provider has to ask for credentials."""

import base64
import zlib
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from django.test import Client
from lxml import etree

from accounts.models import ApiToken
from tests.accounts.saml.conftest import NOW
from tests.accounts.saml.idp import Idp, request_id
from tests.accounts.saml.journey import arrive, begin, sign_in
from tests.pages.reading import words
from tests.people import People

pytestmark = pytest.mark.django_db

URL = "/me/tokens/"
GIVEN = {"name": "nightly report", "scopes": ["read"], "days": "30"}
ANEW = "/saml/corp/login/?anew=1&next=%2Fme%2Ftokens%2F"


@pytest.fixture(autouse=True)
def clock(_noon: None) -> Iterator[Any]:
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


def written(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def asked(address: str) -> Any:
    text = parse_qs(urlsplit(address).query)["SAMLRequest"][0]
    return etree.fromstring(zlib.decompress(base64.b64decode(text), -15))


def later(idp: Idp, clock: Any, minutes: int) -> None:
    idp.now = NOW + timedelta(minutes=minutes)
    clock.move_to(idp.now)


def test_a_fresh_sign_in_is_enough(client: Client, corp: Idp, clock: Any) -> None:
    sign_in(client, corp)
    later(corp, clock, 14)
    assert client.post(URL, GIVEN).status_code == 200
    assert ApiToken.objects.count() == 1


def test_an_older_one_is_sent_to_its_provider_and_nothing_is_done(client: Client, corp: Idp, clock: Any) -> None:
    sign_in(client, corp)
    later(corp, clock, 15)
    answer = client.post(URL, GIVEN)
    assert (answer.status_code, answer.url) == (302, ANEW)
    assert not ApiToken.objects.exists()


def test_the_page_is_read_and_tokens_are_ended_without(client: Client, corp: Idp, clock: Any) -> None:
    sign_in(client, corp)
    client.post(URL, GIVEN)
    later(corp, clock, 60)
    text = client.get(URL)
    assert "Sign in anew" in words(text)
    assert ANEW.replace("&", "&amp;") in text.text
    assert 'name="days"' not in text.text
    assert client.post(f"{URL}{ApiToken.objects.get().pk}/end/").url == URL


def test_the_provider_has_to_ask_anew(client: Client, corp: Idp) -> None:
    assert asked(client.get(ANEW).url).get("ForceAuthn") == "true"
    assert asked(client.get("/saml/corp/login/").url).get("ForceAuthn") is None


def test_after_that_it_is_done(client: Client, corp: Idp, clock: Any) -> None:
    sign_in(client, corp)
    later(corp, clock, 60)
    answer = arrive(client, corp, corp.signed(corp.response(request_id(client.get(ANEW).url))))
    assert answer.url == URL
    assert client.post(URL, GIVEN).status_code == 200
    assert ApiToken.objects.count() == 1


def test_a_provider_that_did_not_ask_is_refused_and_the_session_stays(client: Client, corp: Idp, clock: Any) -> None:
    sign_in(client, corp)
    later(corp, clock, 60)
    begun = request_id(client.get(ANEW).url)
    answer = arrive(client, corp, corp.signed(corp.response(begun, authenticated=written(NOW))))
    assert answer.status_code == 403
    assert "not asked anew" in answer.text
    assert client.get("/me/").status_code == 200
    assert client.post(URL, GIVEN).status_code == 302


def test_clocks_may_differ_by_five_minutes(client: Client, corp: Idp) -> None:
    begun = request_id(client.get(ANEW).url)
    asked_at = written(NOW - timedelta(minutes=5))
    assert arrive(client, corp, corp.signed(corp.response(begun, authenticated=asked_at))).url == URL


def test_what_counts_is_when_the_provider_asked_not_when_the_session_began(client: Client, corp: Idp) -> None:
    sign_in(client, corp, authenticated=written(NOW - timedelta(hours=3)))
    assert client.get("/me/").status_code == 200
    assert client.post(URL, GIVEN).url == ANEW


def test_a_clock_that_is_ahead_makes_no_sign_in_fresher(client: Client, corp: Idp, clock: Any) -> None:
    sign_in(client, corp, authenticated=written(NOW + timedelta(hours=3)))
    later(corp, clock, 15)
    assert client.post(URL, GIVEN).url == ANEW


def test_a_clock_at_the_end_of_all_years_is_as_good(client: Client, corp: Idp, clock: Any) -> None:
    begun = request_id(client.get(ANEW).url)
    assert arrive(client, corp, corp.signed(corp.response(begun, authenticated="9999-12-31T23:59:59Z"))).url == URL
    later(corp, clock, 15)
    assert client.post(URL, GIVEN).url == ANEW


def test_a_session_from_before_this_was_known_is_not_fresh(client: Client, corp: Idp) -> None:
    sign_in(client, corp)
    session = client.session
    del session["saml"]["authenticated_at"]
    session.save()
    assert client.post(URL, GIVEN).url == ANEW


def test_who_came_without_a_provider_is_asked_by_none(people: People, client: Client, clock: Any) -> None:
    client.force_login(people.member)
    clock.move_to(NOW + timedelta(hours=3))
    assert client.post(URL, GIVEN).status_code == 200


@pytest.mark.parametrize("time", ["2026-10-08T12:00:00+02:00", "yesterday", ""])
def test_a_time_that_is_none_is_refused(client: Client, corp: Idp, time: str) -> None:
    answer = arrive(client, corp, corp.signed(corp.response(begin(client, corp), authenticated=time)))
    assert answer.status_code == 403
    assert client.get("/me/").status_code == 302
