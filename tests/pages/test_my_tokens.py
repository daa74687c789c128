"""Tokens as their person sees them: made, shown once, ended."""

import re
from datetime import timedelta

import pytest
from django.http import HttpResponse
from django.test import Client

from accounts.actions import make_token
from accounts.models import ApiToken, Scope, User
from tests.pages.reading import visit, words
from tests.people import People
from tests.stories import START

pytestmark = pytest.mark.django_db

URL = "/me/tokens/"
GIVEN = {"name": "nightly report", "scopes": ["read", "billing"], "days": "30"}


def post(user: User, url: str, data: dict[str, object] | None = None) -> HttpResponse:
    client = Client()
    client.force_login(user)
    return client.post(url, data or {})  # type: ignore[return-value]


def test_a_secret_is_shown_once_and_works(people: People) -> None:
    answer = post(people.member, URL, GIVEN)
    (secret,) = set(re.findall(r"hpp_[\w-]{40,}", answer.text))
    assert "no-store" in answer["Cache-Control"]
    assert f'data-copy="{secret}" data-called="the token"' in answer.text
    token = ApiToken.objects.get()
    assert (token.user, token.scopes, token.expires_at) == (
        people.member,
        ["billing", "read"],
        START + timedelta(days=30),
    )
    page = visit(people.member, URL)
    assert "nightly report" in page.text
    assert secret not in page.text
    assert token.digest not in page.text


@pytest.mark.parametrize(
    "wrong",
    [
        {"days": "366"},
        {"days": "0"},
        {"days": ""},
        {"days": "١e9"},
        {"scopes": []},
        {"scopes": ["everything"]},
        {"name": ""},
        {"name": "x" * 61},
    ],
)
def test_what_cannot_be_a_token(people: People, wrong: dict[str, object]) -> None:
    answer = post(people.member, URL, {**GIVEN, **wrong})
    assert (answer.status_code, ApiToken.objects.count()) == (200, 0)
    assert "f-err" in answer.text
    assert "hpp_" not in answer.text


def test_a_year_is_not_too_long(people: People) -> None:
    post(people.member, URL, {**GIVEN, "days": "365"})
    assert ApiToken.objects.get().expires_at == START + timedelta(days=365)


def test_the_page_says_what_each_scope_opens_today(people: People) -> None:
    text = words(visit(people.member, URL))
    assert "read opens /teams/…/usage.csv /teams/…/workloads.csv /teams/…/evictions.csv" in text
    for scope in ("submit", "quota", "billing"):
        assert f"{scope} opens nothing yet" in text


def test_a_token_is_its_persons_alone(people: People) -> None:
    make_token(user=people.member, name="mine", scopes=[Scope.READ], days=9, now=START)
    address = f"{URL}{ApiToken.objects.get().pk}/end/"
    assert "mine" not in words(visit(people.platform_admin, URL))
    assert post(people.platform_admin, address).status_code == 404
    assert post(people.member, address).status_code == 302
    assert "No token" in words(visit(people.member, URL))
    assert post(people.member, address).status_code == 404
    assert ApiToken.objects.get().ended_at == START


def test_the_page_says_when_and_from_where_it_was_used_last(people: People) -> None:
    make_token(user=people.member, name="mine", scopes=[Scope.READ], days=9, now=START)
    assert "never" in words(visit(people.member, URL))
    ApiToken.objects.update(last_used_at=START - timedelta(hours=2), last_used_from="192.0.2.7")
    assert "2 h 0 min ago from 192.0.2.7" in words(visit(people.member, URL))


def test_a_token_that_expired_is_shown_as_such(people: People) -> None:
    make_token(user=people.member, name="mine", scopes=[Scope.READ], days=9, now=START - timedelta(days=10))
    assert "expired 1 d 0 h ago" in words(visit(people.member, URL))


def test_the_example_reads_the_persons_own_team(people: People) -> None:
    assert "/teams/research/workloads.csv" in words(visit(people.member, URL))
    assert "/teams/TEAM/workloads.csv" in words(visit(people.finops, URL))
