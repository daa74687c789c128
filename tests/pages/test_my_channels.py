"""Channels: added, removed, theirs alone, and no secret on any page; and what no channel took."""

import json
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.http import HttpResponse
from django.test import Client

from accounts.models import User
from notices.actions import add_channel
from notices.models import Channel, Message
from notices.sealing import unseal
from portal.models import AuditEvent
from tests.pages.reading import visit, words
from tests.people import People
from tests.stories import START

pytestmark = pytest.mark.django_db

URL = "/me/channels/"
DEAD = "/platform/undelivered/"
WEBHOOK = {"kind": "webhook", "name": "mine", "address": "https://hooks.example/very-secret", "key": "k" * 20}
UUID = "9c0f6c5e-0d0b-5f0e-8a55-6f1f0a9d2b11"


@pytest.fixture(autouse=True)
def _keys(settings: Any) -> None:
    settings.CHANNEL_KEYS = [Fernet.generate_key().decode()]


def post(user: User, url: str, data: dict[str, str] | None = None) -> HttpResponse:
    client = Client()
    client.force_login(user)
    return client.post(url, data or {})  # type: ignore[return-value]


def test_a_channel_is_added_and_its_secret_never_shown(people: People) -> None:
    assert post(people.member, URL, WEBHOOK).status_code == 302
    channel = Channel.objects.get()
    assert json.loads(unseal(channel.secret)) == {"address": WEBHOOK["address"], "key": WEBHOOK["key"]}
    page = visit(people.member, URL).text
    assert "mine" in page
    assert "very-secret" not in page
    assert channel.secret not in page


def test_a_form_with_a_fault_does_not_give_the_secret_back(people: People) -> None:
    page = post(people.member, URL, {**WEBHOOK, "name": ""}).text
    assert "very-secret" not in page
    assert "k" * 20 not in page
    assert "f-err" in page


@pytest.mark.parametrize(
    "wrong",
    [
        {"address": "http://hooks.example/"},
        {"address": ""},
        {"key": ""},
        {"key": "short"},
        {"kind": "slack"},
        {"kind": "pager", "address": "no key!"},
        {"kind": "pigeon"},
        {"name": "x" * 61},
    ],
)
def test_what_cannot_be_a_channel(people: People, wrong: dict[str, str]) -> None:
    response = post(people.member, URL, {**WEBHOOK, **wrong})
    assert (response.status_code, Channel.objects.count()) == (200, 0)
    assert "f-err" in response.text


def test_without_keys_only_mail_can_be_added(people: People, settings: Any) -> None:
    settings.CHANNEL_KEYS, settings.MAIL_URL = [], "smtp://mail.example.org"
    assert "Only e-mail can be added" in visit(people.member, URL).text
    assert "f-err" in post(people.member, URL, WEBHOOK).text
    assert post(people.member, URL, {"kind": "email", "name": "mail"}).status_code == 302
    assert list(Channel.objects.values_list("kind", flat=True)) == ["email"]


def test_without_a_mail_server_no_mail_is_promised(people: People) -> None:
    response = post(people.member, URL, {"kind": "email", "name": "mail"})
    assert "The portal has no mail server. Ask the platform admin to set one." in words(response)
    assert not Channel.objects.exists()


def test_a_channel_is_its_owners_alone(people: People) -> None:
    channel = add_channel(user=people.member, kind="email", name="my mail", secret={}, now=START)
    assert "my mail" not in visit(people.platform_admin, URL).text
    assert post(people.platform_admin, f"{URL}{channel.pk}/remove/").status_code == 404
    assert post(people.member, f"{URL}{channel.pk}/remove/").status_code == 302
    assert not Channel.objects.exists()
    assert AuditEvent.objects.filter(event="channel.removed", actor="member").count() == 1


@pytest.fixture
def given_up(people: People) -> Message:
    channel = add_channel(user=people.member, kind="webhook", name="mine", secret={"address": "very-secret"}, now=START)
    return Message.objects.create(
        id=UUID,
        channel=channel,
        made_at=START,
        next_at=START,
        attempts=10,
        last_error="hooks.example: 500",
        dead_at=START,
    )


def test_platform_admins_see_what_was_given_up_and_send_it_again(given_up: Message, people: People) -> None:
    page = visit(people.platform_admin, DEAD).text
    assert "hooks.example: 500" in page
    assert people.member.name in page
    assert "very-secret" not in page
    assert post(people.platform_admin, f"{DEAD}{UUID}/again/").status_code == 302
    given_up.refresh_from_db()
    assert (given_up.dead_at, given_up.attempts) == (None, 0)
    assert "Everything was taken" in visit(people.platform_admin, DEAD).text
    assert post(people.platform_admin, f"{DEAD}{UUID}/again/").status_code == 404


@pytest.mark.parametrize("role", ["member", "team_admin", "finops", "auditor"])
def test_nobody_else_does(given_up: Message, people: People, role: str) -> None:
    assert post(getattr(people, role), f"{DEAD}{UUID}/again/").status_code == 403
    assert DEAD not in visit(getattr(people, role), "/me/").text
