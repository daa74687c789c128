"""A platform admin for when no identity provider answers: let in once, told to everybody, gone at their time."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import ApiToken, BreakGlass, IdentityProvider, RequestCount, User
from accounts.tasks import read_providers
from portal.models import AuditEvent
from teams.roles import holders_of
from tests.pages.reading import visit, words
from tests.people import People

NOW = datetime(2026, 10, 8, 12, tzinfo=UTC)
URL = "/sign-in/break-glass/"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def clock() -> Iterator[Any]:
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


def command(*arguments: str) -> str:
    out = StringIO()
    call_command("break_glass", *arguments, stdout=out)
    return out.getvalue()


def broken(name: str = "ana", hours: int = 4) -> str:
    """The password."""
    told = command(name, "--hours", str(hours), "--reason", "the IdP is <b>down</b>")
    return re.findall(r"hpb_\S+", told)[0]


def enter(password: str, client: Client | None = None) -> Any:
    return (client or Client()).post(URL, {"password": password})


def test_the_command_says_where_and_until_when() -> None:
    told = command("ana", "--hours", "4", "--reason", "down")
    assert "ana may be platform admin until 2026-10-08 16:00 UTC" in told
    assert "http://127.0.0.1:0/sign-in/break-glass/" in told


def test_the_password_lets_in_as_platform_admin_even_if_no_provider_answers(client: Client) -> None:
    IdentityProvider.objects.create(
        slug="corp", name="Corp", metadata="broken", groups_attribute="groups", signs_response=True, enabled=True
    )
    answer = enter(f" {broken()} ", client)
    assert (answer.status_code, answer.url) == (302, "/")
    assert client.get("/platform/").status_code == 200
    assert client.get("/platform/undelivered/").status_code == 200


def roles(event: str) -> list[tuple[str, str, str, str]]:
    found = AuditEvent.objects.filter(event=event).order_by("pk")
    return [(each.target, each.actor, each.details["role"], each.details["source"]) for each in found]


@pytest.mark.parametrize("how", ["early", "at its time", "by another"])
def test_the_role_is_gained_and_lost_in_the_audit_trail(how: str, clock: Any) -> None:
    broken()
    role = ("person/break-glass ana", "manage.py break_glass", "platform_admin", "break-glass access")
    assert (roles("role.gained"), roles("role.lost")) == ([role], [])
    if how == "early":
        command("ana", "--end")
    elif how == "by another":
        broken()
    else:
        clock.move_to(NOW + timedelta(hours=5))
        read_providers()
    assert [(target, *what) for target, _, *what in roles("role.lost")] == [(role[0], *role[2:])]
    assert len(roles("role.gained")) == (2 if how == "by another" else 1)


def test_the_password_works_once() -> None:
    password = broken()
    assert enter(password).status_code == 302
    assert enter(password).status_code == 403


@pytest.mark.parametrize("wrong", ["", "hpb_x", "é", "x" * 5000])
def test_no_other_password_does(wrong: str, client: Client, caplog: pytest.LogCaptureFixture) -> None:
    broken()
    assert enter(wrong, client).status_code == 403
    assert client.get("/platform/").status_code == 302
    assert "break-glass password" in caplog.text


def test_only_a_digest_is_kept() -> None:
    password = broken()
    assert password not in str([*BreakGlass.objects.values(), *User.objects.values(), *AuditEvent.objects.values()])


def test_guesses_are_limited() -> None:
    password = broken()
    enter("hpb_x")
    RequestCount.objects.update(count=9)
    assert [enter("hpb_x").status_code, enter(password).status_code] == [403, 429]


def test_without_any_the_page_is_not_there(client: Client) -> None:
    assert client.get(URL).status_code == enter("x").status_code == 404


def test_it_ends_at_its_time_at_the_next_request(client: Client, clock: Any) -> None:
    password = broken()
    enter(password, client)
    clock.move_to(NOW + timedelta(hours=4) - timedelta(seconds=1))
    assert client.get("/platform/").status_code == 200
    clock.move_to(NOW + timedelta(hours=4))
    assert client.get("/platform/").status_code == 302
    assert client.get(URL).status_code == 404


def test_a_password_that_was_not_used_ends_as_well(clock: Any) -> None:
    password = broken()
    clock.move_to(NOW + timedelta(hours=4))
    assert enter(password).status_code == 404


def test_it_is_ended_early_at_the_next_request(client: Client) -> None:
    enter(broken(), client)
    assert "has ended" in command("ana", "--end")
    assert client.get("/platform/").status_code == 302
    assert client.get(URL).status_code == 404
    with pytest.raises(CommandError, match="no break-glass access"):
        command("ana", "--end")


def test_made_again_it_ends_the_one_before(client: Client) -> None:
    first, again = broken(), broken(hours=1)
    assert enter(first, client).status_code == 403
    assert enter(again, client).status_code == 302
    assert User.objects.count() == 1
    broken()
    assert client.get("/platform/").status_code == 302


def test_everybody_signed_in_reads_who_and_why_on_every_page(people: People) -> None:
    broken()
    for url in ("/", "/me/", "/teams/research/", "/platform/"):
        page = visit(people.member, url) if url != "/" else visit(people.stranger, url)
        text = words(page)
        assert "ana may be platform admin without an identity provider until 8 Oct 2026 16:00:00 UTC" in text, url
        assert "Reason: the IdP is <b>down</b>" in text
        assert "<b>down" not in page.text


def test_strangers_read_until_when_alone(people: People) -> None:
    broken()
    text = words(visit(None, "/sign-in/"))
    assert "Break-glass access is open" in text
    assert "ana" not in text.replace("Manage", "")
    assert "Reason" not in text


def test_afterwards_no_page_says_so(people: People, clock: Any) -> None:
    broken()
    clock.move_to(NOW + timedelta(hours=4))
    assert "Break-glass" not in visit(people.member, "/me/").text


def test_as_long_as_there_is_none_pages_ask_nothing_more(people: People) -> None:
    client = Client()
    client.force_login(people.member)
    client.get("/me/")
    with CaptureQueriesContext(connection) as queries:
        client.get("/me/")
    assert not [each for each in queries if 'FROM "accounts_breakglass"' in each["sql"]]


def test_all_of_it_is_audited(client: Client) -> None:
    enter(broken(), client)
    command("ana", "--end")
    events = AuditEvent.objects.filter(target="person/break-glass ana").exclude(event__startswith="role.")
    made, entered, _, ended = events.order_by("pk")
    assert [each.event for each in events] == [
        "break_glass.made",
        "break_glass.signed_in",
        "access.ended",
        "break_glass.ended",
    ]
    assert (made.actor, made.details["reason"]) == ("manage.py break_glass", "the IdP is <b>down</b>")
    assert entered.details == {"address": "127.0.0.1"}
    assert ended.actor == "manage.py break_glass"


def test_the_end_at_its_time_is_audited_by_the_worker(clock: Any) -> None:
    broken()
    read_providers()
    assert BreakGlass.objects.get().ended_at is None
    clock.move_to(NOW + timedelta(hours=5))
    read_providers()
    assert BreakGlass.objects.get().ended_at == User.objects.get().archived_at == NOW + timedelta(hours=4)
    assert AuditEvent.objects.get(event="break_glass.ended").actor == "portal"


def test_it_makes_no_tokens(client: Client) -> None:
    enter(broken(), client)
    answer = client.post("/me/tokens/", {"name": "x", "scopes": ["read"], "days": "9"})
    assert "Break-glass access makes no tokens" in answer.text
    assert not ApiToken.objects.exists()


def test_nobody_is_told_anything_as_a_break_glass_admin(client: Client) -> None:
    broken()
    assert holders_of([]) == []


@pytest.mark.parametrize(
    "wrong",
    [
        ["ana"],
        ["ana", "--hours", "4"],
        ["ana", "--reason", "x"],
        ["ana", "--hours", "0", "--reason", "x"],
        ["ana", "--hours", "25", "--reason", "x"],
        ["ana", "--hours", "4", "--reason", " "],
        ["ana", "--hours", "4", "--reason", "x" * 301],
        ["ana\n", "--hours", "4", "--reason", "x"],
        ["", "--hours", "4", "--reason", "x"],
        ["a" * 101, "--hours", "4", "--reason", "x"],
    ],
)
def test_what_the_command_refuses(wrong: list[str]) -> None:
    with pytest.raises(CommandError):
        command(*wrong)
    assert not BreakGlass.objects.exists()
