import time
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from accounts.models import IdpMembership, RequestCount, User
from portal.models import AuditEvent
from tests.accounts.saml.conftest import NOW
from tests.accounts.saml.idp import Idp, metadata, sent
from tests.accounts.saml.journey import arrive, begin, people_in_sessions, sign_in

pytestmark = pytest.mark.django_db


def test_the_first_sign_in_makes_a_person(client: Client, corp: Idp) -> None:
    response = sign_in(client, corp)
    assert (response.status_code, response.url) == (302, "/")
    user = User.objects.get()
    assert (user.username, user.name, user.email) == ("corp:ana-0001", "Ana Lima", "ana@example.org")
    assert people_in_sessions() == [str(user.pk)]
    assert client.get("/me/").status_code == 200
    assert AuditEvent.objects.filter(event="person.signed_in", target="person/corp:ana-0001").count() == 1


def test_the_second_one_finds_the_person_again_and_follows_their_name(client: Client, corp: Idp) -> None:
    sign_in(client, corp)
    sign_in(Client(), corp, attributes={"displayName": ["Ana Souza"], "email": ["souza@example.org"]})
    assert list(User.objects.values_list("name", "email")) == [("Ana Souza", "souza@example.org")]


def test_it_leads_to_the_page_that_was_asked_for(client: Client, corp: Idp) -> None:
    assert sign_in(client, corp, "/search/?q=llm").url == "/search/?q=llm"


ELSEWHERE = ["//evil.example", "https://evil.example/", "/\\evil.example", "http:///evil.example", "javascript:1"]


@pytest.mark.parametrize("target", ELSEWHERE)
def test_no_other_site_is_led_to(client: Client, corp: Idp, target: str) -> None:
    assert sign_in(client, corp, target).url == "/"


@pytest.mark.parametrize("target", [*ELSEWHERE, "/search/"])
def test_what_came_beside_the_answer_leads_nowhere(client: Client, corp: Idp, target: str) -> None:
    answer = sent(corp.signed(corp.response(begin(client, corp))))
    posted = Client().post(corp.acs, {"SAMLResponse": answer, "RelayState": target})
    assert posted.url == "/saml/corp/finish/"
    client.cookies["saml-arrival"] = posted.cookies["saml-arrival"].value
    assert client.get(posted.url).url == "/"


def test_two_people_of_one_address_are_two(client: Client, corp: Idp) -> None:
    sign_in(client, corp, name_id="ana-0001")
    sign_in(Client(), corp, name_id="ana-0002")
    assert User.objects.filter(email="ana@example.org").count() == 2


def test_one_providers_name_is_not_anothers(client: Client, corp: Idp, other: Idp) -> None:
    sign_in(client, corp)
    sign_in(Client(), other)
    assert set(User.objects.values_list("username", flat=True)) == {"corp:ana-0001", "other:ana-0001"}


def test_a_person_of_the_set_up_file_is_found_by_provider_and_name(client: Client, corp: Idp) -> None:
    known = User.objects.create(username="corp:ana-0001", name="Ana", created_at=NOW)
    sign_in(client, corp)
    assert User.objects.get() == known


def test_archived_people_do_not_come_back(client: Client, corp: Idp) -> None:
    sign_in(client, corp)
    User.objects.update(archived_at=NOW)
    response = sign_in(Client(), corp)
    assert response.status_code == 403
    assert "Your access to the portal has ended" in response.text


@pytest.mark.parametrize(("said", "hours"), [(8, 8), (48, settings.SESSION_COOKIE_AGE / 3600)])
def test_the_session_ends_at_the_earlier_of_both_ends(client: Client, corp: Idp, said: int, hours: float) -> None:
    until = (NOW + timedelta(hours=said)).strftime("%Y-%m-%dT%H:%M:%SZ")
    sign_in(client, corp, session_until=until)
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    assert Session.objects.get(pk=key).expire_date == NOW + timedelta(hours=hours)


def test_two_tabs_both_end_signed_in(client: Client, corp: Idp) -> None:
    first, second = begin(client, corp), begin(client, corp, "/me/")
    assert arrive(client, corp, corp.signed(corp.response(first))).status_code == 302
    assert arrive(client, corp, corp.signed(corp.response(second))).url == "/me/"


def test_during_a_rollover_both_keys_sign(client: Client, corp: Idp, keys: tuple[tuple[str, str], ...]) -> None:
    corp.row.metadata = metadata(corp.entity_id, [keys[1][1], keys[0][1]], "https://corp.example.org/sso")
    corp.row.save()
    assert sign_in(client, corp).url == "/"
    corp.key = keys[1][0]
    assert sign_in(Client(), corp).url == "/"


def test_a_provider_that_is_not_enabled_is_not_there(client: Client, corp: Idp) -> None:
    corp.row.enabled = False
    corp.row.save()
    assert client.get(reverse("saml-login", args=["corp"])).status_code == 404


def test_our_metadata_is_there_before_theirs(client: Client, corp: Idp) -> None:
    corp.row.metadata = ""
    corp.row.enabled = False
    corp.row.save()
    text = client.get(reverse("saml-metadata", args=["corp"])).text
    assert 'entityID="http://127.0.0.1:0/saml/corp/metadata/"' in text
    assert 'Location="http://127.0.0.1:0/saml/corp/acs/"' in text


def test_allauths_own_pages_are_not_there(client: Client, corp: Idp) -> None:
    for path in ("/accounts/login/", "/accounts/signup/", "/accounts/saml/corp/login/", "/accounts/3rdparty/"):
        assert client.get(path).status_code == 404


def test_too_many_requests_are_not_looked_at(client: Client, corp: Idp) -> None:
    address = reverse("saml-acs", args=["corp"])
    assert client.post(address).status_code == 403
    RequestCount.objects.update(count=299)
    assert [client.post(address).status_code for _ in range(3)] == [403, 429, 429]
    assert begin(client, corp)


def test_with_a_key_requests_and_metadata_are_signed(
    client: Client, corp: Idp, keys: tuple[tuple[str, str], ...], settings: Any
) -> None:
    settings.SAML_KEY, settings.SAML_CERTIFICATE = keys[1]
    address = client.get(reverse("saml-login", args=["corp"])).url
    assert "&Signature=" in address
    text = client.get(reverse("saml-metadata", args=["corp"])).text
    assert "SignatureValue" in text
    assert 'use="signing"' in text
    assert 'use="encryption"' not in text, "or providers would encrypt"
    assert 'AuthnRequestsSigned="true"' in text


def test_what_a_request_says_of_its_host_is_never_asked(client: Client, corp: Idp) -> None:
    client.defaults["HTTP_HOST"] = "localhost"
    assert sign_in(client, corp).url == "/"
    assert "http://127.0.0.1:0/saml/corp/acs/" in client.get(reverse("saml-metadata", args=["corp"])).text


def test_two_thousand_groups_arrive_within_a_second(client: Client, corp: Idp) -> None:
    groups = [f"{number:036}" for number in range(2000)]
    answer = corp.signed(corp.response(begin(client, corp), attributes={"groups": groups}))
    begun = time.perf_counter()  # the first page that a process shows takes seconds of reading modules
    arrive(client, corp, answer)
    assert time.perf_counter() - begun < 3, "on a busy machine"
    assert IdpMembership.objects.count() == 2000
