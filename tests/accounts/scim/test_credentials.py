"""The command that makes and ends SCIM's secrets."""

from datetime import timedelta
from importlib import import_module
from io import StringIO
from typing import Any

import pytest
import time_machine
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import IdentityProvider, ScimCredential
from accounts.scim.credentials import running_out
from portal.models import AuditEvent
from tests.accounts.scim.client import Scim
from tests.accounts.scim.conftest import connected

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("scim_token", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue().strip()


def test_a_secret_is_told_once_and_kept_as_a_digest() -> None:
    scim = Scim(connected("corp"), run("make", "corp"))
    assert scim.secret.startswith("scim_")
    assert scim.get("/Users").status_code == 200
    kept = ScimCredential.objects.values_list("digest", flat=True).get()
    assert scim.secret not in kept
    assert not AuditEvent.objects.filter(details__icontains=scim.secret).exists()
    assert AuditEvent.objects.filter(event="scim_credential.made", actor="manage.py").exists()


def test_one_takes_over_from_the_other() -> None:
    provider = connected("corp")
    old, new = Scim(provider, run("make", "corp")), Scim(provider, run("make", "corp", "--days", "10"))
    assert [old.get("/Users").status_code, new.get("/Users").status_code] == [200, 200]
    with pytest.raises(CommandError):
        run("make", "corp")
    run("end", "corp", str(ScimCredential.objects.earliest("pk").pk))
    assert [old.get("/Users").status_code, new.get("/Users").status_code] == [401, 200]
    run("make", "corp")


def test_a_list_of_none_says_so() -> None:
    connected("corp")
    assert run("list", "corp") == "corp has none in force."


def test_the_last_use_is_noted_within_a_minute_with_where_it_came_from(corp: Scim) -> None:
    assert "used never" in run("list", "corp")
    with time_machine.travel(timezone.now() + timedelta(minutes=5), tick=False):
        first = timezone.now()
        corp.get("/Users")
    with time_machine.travel(first + timedelta(seconds=59), tick=False):
        corp.get("/Users")
    assert ScimCredential.objects.get().last_used_at == first
    with time_machine.travel(first + timedelta(seconds=60), tick=False):
        corp.get("/Users")
    assert ScimCredential.objects.get().last_used_at == first + timedelta(seconds=60)
    assert f"used {first:%Y-%m-%d}" in run("list", "corp")
    assert ScimCredential.objects.get().last_used_from == "127.0.0.1"


@pytest.mark.parametrize("arguments", [("make", "nobody"), ("end", "corp", "99"), ("make", "corp", "--days", "0")])
def test_what_cannot_be_done_is_told(arguments: tuple[str, ...]) -> None:
    connected("corp")
    with pytest.raises(CommandError):
        run(*arguments)


def test_another_providers_secret_is_not_ended(corp: Scim) -> None:
    connected("other")
    with pytest.raises(CommandError):
        run("end", "other", str(ScimCredential.objects.get().pk))
    assert corp.get("/Users").status_code == 200


def test_who_made_earlier_ones_is_told_by_the_audit_trail(corp: Scim) -> None:
    run("make", "corp")
    ScimCredential.objects.update(made_by="")
    import_module("accounts.migrations.0009_bearers").tell_who_made_them(apps, None)
    assert set(ScimCredential.objects.values_list("made_by", flat=True)) == {"manage.py"}


def secret(scim: Scim, days: int, used_minutes_ago: int | None = None, scope: str = "write") -> None:
    """Another one, that ends in so many days."""
    now = timezone.now()
    scim.provider.scim_credentials.create(
        digest=f"{days} {used_minutes_ago} {scope}",
        scope=scope,
        created_at=now - timedelta(days=300),
        expires_at=now + timedelta(days=days, hours=1),
        last_used_at=None if used_minutes_ago is None else now - timedelta(minutes=used_minutes_ago),
    )


@pytest.mark.parametrize(
    ("secrets", "told"),
    [
        ([(59,)], [59]),
        ([(60,)], []),
        ([(-3,)], [-3]),
        ([(20,), (400,)], []),
        ([(20, 5), (400,)], [20]),
        ([(-1, 90), (400,)], [-1]),
        ([(20, 90), (400, 5)], []),
        ([(400, 90), (20, 5, "read")], []),
        ([(20, 5, "read")], []),
    ],
    ids=[
        "soon", "far away", "over", "another one instead", "another one that was not pasted yet",
        "nor when it was over", "another one that took over", "one that only reads", "nobody writes",
    ],
)  # fmt: skip
def test_the_one_in_use_is_told_of_before_it_ends(corp: Scim, secrets: list[tuple[Any, ...]], told: list[int]) -> None:
    ScimCredential.objects.all().delete()
    for each in secrets:
        secret(corp, *each)
    assert [each.days_left(timezone.now()) for each in running_out(timezone.now())] == told
    IdentityProvider.objects.update(enabled=False)
    assert running_out(timezone.now()) == []


def test_each_providers_secret_is_told_of_in_one_query(corp: Scim, other: Scim) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert [each.provider.name for each in running_out(timezone.now())] == ["Corp", "Other"]
    assert len(queries) == 1
