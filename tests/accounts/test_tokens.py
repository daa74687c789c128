"""What a personal token opens, what it never opens, and what stays of its use."""

from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import OperationalError, connection
from django.test import Client

from accounts.actions import end_access, end_token, make_token
from accounts.models import ApiToken, IdentityProvider, RequestCount, ScimCredential, Scope, User
from accounts.scim.credentials import make_credential
from portal.models import AuditEvent
from tests.people import People
from tests.worlds import World

NOW = datetime(2026, 10, 8, 12, tzinfo=UTC)
CSV = "/teams/research/workloads.csv"

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("shared")]


@pytest.fixture(autouse=True)
def clock() -> Iterator[Any]:
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


def made(user: User, *scopes: Scope, days: int = 30) -> str:
    return make_token(user=user, name="a program", scopes=scopes or [Scope.READ], days=days, now=NOW)


def ask(secret: str, url: str = CSV, client: Client | None = None, **more: Any) -> Any:
    return (client or Client()).get(url, headers={"Authorization": f"Bearer {secret}"}, **more)


def test_a_token_is_answered_as_its_person_without_a_session(people: People) -> None:
    answer = ask(made(people.member))
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/csv; charset=utf-8")
    assert answer.wsgi_request.user == people.member
    assert not answer.cookies
    assert not Session.objects.exists()


def test_only_a_digest_is_kept(people: People) -> None:
    secret = made(people.member)
    assert secret.startswith("hpp_")
    assert secret not in str(ApiToken.objects.values().get())
    assert secret not in str(list(AuditEvent.objects.values()))


def test_making_and_ending_are_audited(people: People) -> None:
    made(people.member, Scope.READ, Scope.BILLING)
    token = ApiToken.objects.get()
    end_token(token=token, now=NOW)
    first, last = AuditEvent.objects.filter(target=f"token/{token.pk}").order_by("pk")
    assert (first.event, first.actor) == ("token.made", "member")
    assert first.details == {"name": "a program", "scopes": ["billing", "read"], "days": 30}
    assert last.event == "token.ended"


def wrong(answer: Any) -> bool:
    challenge = 'Bearer realm="portal", error="invalid_token"'
    return (answer.status_code, answer.headers.get("WWW-Authenticate")) == (401, challenge)


def test_a_wrong_token_is_refused(people: People) -> None:
    secret = made(people.member)
    for shown in ("hpp_x", secret[:-1], secret + "x", secret.upper(), ApiToken.objects.get().digest, "é", "x" * 5000):
        assert wrong(ask(shown)), shown


def test_a_token_ends_at_its_time(people: People, clock: Any) -> None:
    secret = made(people.member, days=1)
    clock.move_to(NOW + timedelta(days=1) - timedelta(microseconds=1))
    assert ask(secret).status_code == 200
    clock.move_to(NOW + timedelta(days=1))
    assert wrong(ask(secret))


def test_a_token_that_was_ended_is_refused(people: People) -> None:
    secret = made(people.member)
    end_token(token=ApiToken.objects.get(), now=NOW)
    assert wrong(ask(secret))


def test_tokens_end_with_their_persons_access_for_good(people: People) -> None:
    secret, other = made(people.member), made(people.viewer)
    end_access(user=people.member, by="scim", now=NOW)
    assert wrong(ask(secret))
    assert ask(other).status_code == 200


def test_archived_people_have_no_token(people: People) -> None:
    secret = made(people.member)
    User.objects.filter(pk=people.member.pk).update(archived_at=NOW)
    assert wrong(ask(secret))


def test_a_role_that_was_taken_is_gone_from_its_tokens(people: People) -> None:
    secret = made(people.member)
    people.member.memberships.all().delete()
    assert ask(secret).status_code == 404


@pytest.mark.parametrize("scope", [Scope.SUBMIT, Scope.QUOTA, Scope.BILLING])
def test_a_token_for_something_else_does_not_read(people: People, scope: Scope) -> None:
    answer = ask(made(people.member, scope))
    assert answer.status_code == 403
    assert answer["WWW-Authenticate"] == 'Bearer realm="portal", error="insufficient_scope"'


@pytest.mark.parametrize("url", ["/", "/me/", "/me/tokens/", "/teams/research/"])
def test_pages_answer_no_token(people: People, url: str) -> None:
    assert ask(made(people.member, *Scope), url).status_code == 403


def test_a_session_beside_the_token_changes_nothing(people: People) -> None:
    client = Client()
    client.force_login(people.team_admin)
    assert wrong(ask("hpp_x", "/me/", client))
    assert ask(made(people.member), "/teams/vision/workloads.csv", client).status_code == 404
    assert ask(made(people.member), client=client).wsgi_request.user == people.member
    assert client.get("/me/").status_code == 200


def test_a_token_never_writes_even_without_a_check_of_forms(people: People) -> None:
    client = Client(enforce_csrf_checks=True)
    headers = {"Authorization": f"Bearer {made(people.member, *Scope)}"}
    for url in ("/me/", "/me/tokens/", "/sign-out/", CSV):
        answer = client.post(url, {"name": "more", "scopes": "read", "days": "9"}, headers=headers)
        assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")
    assert ApiToken.objects.count() == 1


def test_the_head_alone_may_be_asked_for(people: People) -> None:
    headers = {"Authorization": f"Bearer {made(people.member)}"}
    assert Client().head(CSV, headers=headers).status_code == 200


def test_a_token_elsewhere_than_in_its_header_is_none(people: People) -> None:
    secret = made(people.member)
    basic = b64encode(f"member:{secret}".encode()).decode()
    headers = ({"Authorization": f"Basic {basic}"}, {"X-Api-Key": secret}, {"Authorization": secret})
    shown = [Client().get(CSV, headers=each) for each in headers]
    shown += [Client().get(CSV, {name: secret}) for name in ("token", "access_token")]
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = secret
    assert {each.url.partition("?")[0] for each in (*shown, client.get(CSV))} == {"/sign-in/"}


def test_tokens_and_secrets_of_scim_do_not_stand_in_for_each_other(people: People) -> None:
    provider = IdentityProvider.objects.create(
        slug="corp", groups_attribute="groups", signs_response=True, enabled=True
    )
    scope, valid = ScimCredential.Scope.WRITE, timedelta(days=9)
    _, secret = make_credential(provider=provider, scope=scope, valid=valid, by="root", now=NOW)
    assert wrong(ask(secret))
    assert ask(secret, "/scim/v2/Users").status_code == 200
    assert ask(made(people.platform_admin, *Scope), "/scim/v2/Users").status_code == 401


def test_where_no_sign_in_is_needed_no_token_is_looked_at(people: People) -> None:
    assert ask("hpp_x", "/sign-in/").status_code == 200
    assert ask("hpp_x", "/nothing/").status_code == 404


def test_errors_come_without_a_page(people: People) -> None:
    answer = ask(made(people.member), "/teams/vision/workloads.csv")
    assert told(answer) == (404, {"error": "Not Found"})
    assert not answer.cookies


def told(answer: Any) -> tuple[int, Any]:
    assert answer["Content-Type"] == "application/json"
    return answer.status_code, answer.json()


@pytest.mark.parametrize("url", ["/nothing/", "/teams/research/nothing", "/saml/nobody/metadata/"])
def test_an_address_that_is_not_there_is_told_without_a_page(people: People, url: str) -> None:
    for secret in (made(people.member), "hpp_x"):
        assert told(ask(secret, url)) == (404, {"error": "Not Found"})
    assert ask("", url)["Content-Type"].startswith("text/html"), "to people with a page"


def test_every_refusal_is_told_without_a_page(people: People) -> None:
    assert told(ask("hpp_x")) == (401, {"error": "invalid_token"})
    assert told(ask(made(people.member, Scope.QUOTA))) == (403, {"error": "insufficient_scope"})
    assert told(ask(made(people.stranger), "/platform/workloads.csv")) == (403, {"error": "Forbidden"})
    answer = ask(made(people.member), "/sign-in/as/")
    assert (told(answer), answer["Allow"]) == ((405, {"error": "Method Not Allowed"}), "POST")


def test_an_outage_is_told_without_a_page_too(people: People) -> None:
    def refuse(*args: Any) -> None:
        raise OperationalError("connection to server at 10.0.0.7 failed")

    secret = made(people.member)
    with connection.execute_wrapper(refuse):
        answer = ask(secret, client=Client(raise_request_exception=False))
    assert (told(answer), answer["Retry-After"]) == ((503, {"error": "Service Unavailable"}), "30")


def test_a_missing_slash_is_added_for_programs_too(people: People) -> None:
    answer = ask(made(people.member), "/teams/research/workloads")
    assert (answer.status_code, answer["Location"]) == (301, "/teams/research/workloads/")


def test_last_use_is_written_once_a_minute(people: People, clock: Any) -> None:
    secret = made(people.member)
    for seconds, expected in ((0, 0), (59, 0), (60, 60), (90, 60)):
        clock.move_to(NOW + timedelta(seconds=seconds))
        ask(secret, REMOTE_ADDR=f"127.0.0.{seconds + 1}")
        token = ApiToken.objects.get()
        assert token.last_used_at == NOW + timedelta(seconds=expected)
        assert token.last_used_from == f"127.0.0.{expected + 1}"


def test_a_refused_use_is_none(people: People) -> None:
    ask(made(people.member, Scope.BILLING))
    assert ApiToken.objects.get().last_used_at is None


def test_wrong_tokens_are_limited_by_address_and_right_ones_are_not(people: People) -> None:
    secret = made(people.member)
    assert wrong(ask("hpp_x"))
    RequestCount.objects.update(count=29)
    assert wrong(ask("hpp_x"))
    answer = ask("hpp_x")
    assert (told(answer), answer["Retry-After"]) == ((429, {"error": "Too Many Requests"}), "60")
    assert ask(secret).status_code == 200


def test_each_token_is_limited_by_itself(people: People, clock: Any) -> None:
    busy, other = made(people.member), made(people.member)
    assert ask(busy).status_code == 200
    RequestCount.objects.update(count=599)
    clock.shift(timedelta(seconds=48))
    assert ask(busy).status_code == 200
    answer = ask(busy, REMOTE_ADDR="127.0.0.2")
    assert (told(answer), answer["Retry-After"]) == ((429, {"error": "Too Many Requests"}), "12")
    assert ask(other).status_code == 200
    clock.shift(timedelta(seconds=12))
    assert ask(busy).status_code == 200


def test_cookies_of_sessions_are_not_made_by_tokens(people: People) -> None:
    client = Client()
    ask(made(people.member), client=client)
    assert settings.SESSION_COOKIE_NAME not in client.cookies
    assert client.get(CSV).status_code == 302


def test_lists_are_those_of_the_page(shared: World, people: People) -> None:
    client = Client()
    client.force_login(people.member)
    assert ask(made(people.member)).getvalue() == client.get(CSV).getvalue()  # type: ignore[attr-defined]
