"""Secrets at rest."""

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command

from gateways.errors import ConfigurationError
from notices.actions import add_channel
from notices.models import Channel
from notices.sealing import seal, unseal
from portal.models import AuditEvent
from tests.people import People
from tests.stories import START

OLD, NEW = Fernet.generate_key().decode(), Fernet.generate_key().decode()


@pytest.fixture(autouse=True)
def _old(settings: object) -> None:
    settings.CHANNEL_KEYS = [OLD]  # type: ignore[attr-defined]


def test_what_is_sealed_opens_under_any_key_that_is_left(settings: object) -> None:
    sealed = seal("https://hooks.example/secret")
    assert "secret" not in sealed
    settings.CHANNEL_KEYS = [NEW, OLD]  # type: ignore[attr-defined]
    assert unseal(sealed) == "https://hooks.example/secret"
    settings.CHANNEL_KEYS = [NEW]  # type: ignore[attr-defined]
    with pytest.raises(ConfigurationError, match="no longer holds"):
        unseal(sealed)


def test_without_keys_nothing_is_sealed(settings: object) -> None:
    settings.CHANNEL_KEYS = []  # type: ignore[attr-defined]
    with pytest.raises(ConfigurationError, match="PORTAL_CHANNEL_KEYS"):
        seal("x")


@pytest.mark.django_db
def test_keys_are_rotated(people: People, settings: object, capsys: pytest.CaptureFixture[str]) -> None:
    webhook = {"address": "https://hooks.example/in", "key": "k" * 16}
    add_channel(user=people.member, kind="webhook", name="mine", secret=webhook, now=START)
    add_channel(user=people.member, kind="email", name="mail", secret={}, now=START)
    settings.CHANNEL_KEYS = [NEW, OLD]  # type: ignore[attr-defined]
    call_command("reseal_channels")
    assert capsys.readouterr().out == "1 secrets are sealed under the first key.\n"
    settings.CHANNEL_KEYS = [NEW]  # type: ignore[attr-defined]
    assert (
        unseal(Channel.objects.get(kind="webhook").secret)
        == '{"address": "https://hooks.example/in", "key": "kkkkkkkkkkkkkkkk"}'
    )
    settings.CHANNEL_KEYS = [OLD]  # type: ignore[attr-defined]
    with pytest.raises(CommandError, match="no longer holds"):
        call_command("reseal_channels")


@pytest.mark.django_db
def test_no_secret_stands_in_the_database_or_the_audit_trail(people: People) -> None:
    add_channel(user=people.member, kind="pager", name="on call", secret={"address": "0123456789abcdef"}, now=START)
    assert "0123456789abcdef" not in str(Channel.objects.values())
    event = AuditEvent.objects.get(event="channel.added")
    assert event.details == {"kind": "pager", "name": "on call"}
