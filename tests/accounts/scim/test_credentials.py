"""The command that makes and ends SCIM's secrets."""

from datetime import timedelta
from importlib import import_module
from io import StringIO

import pytest
import time_machine
from django.apps import apps
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import ScimCredential
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
