from datetime import UTC, datetime

import pytest
import time_machine
from django.contrib.sessions.models import Session

from accounts.sessions import SessionStore

EVENING = datetime(2026, 10, 8, 18, tzinfo=UTC)

pytestmark = pytest.mark.django_db


def begun() -> str:
    session = SessionStore()
    session["who"] = "somebody"
    session.set_expiry(datetime(2026, 10, 8, 20, tzinfo=UTC))
    session.create()
    return session.session_key or ""


@time_machine.travel(EVENING, tick=False)
def test_a_session_is_read_again() -> None:
    assert SessionStore(begun())["who"] == "somebody"


@pytest.mark.parametrize("later", [datetime(2026, 10, 8, 20, tzinfo=UTC), datetime(2026, 10, 9, tzinfo=UTC)])
def test_one_that_expired_is_as_if_it_never_was(later: datetime) -> None:
    with time_machine.travel(EVENING, tick=False):
        key = begun()
    with time_machine.travel(later, tick=False):
        found = SessionStore(key)
        assert found.get("who") is None
        assert found.session_key is None


@time_machine.travel(EVENING, tick=False)
def test_one_that_was_ended_is_gone_at_once() -> None:
    key = begun()
    Session.objects.all().delete()
    assert SessionStore(key).get("who") is None


@pytest.mark.parametrize("key", ["nobody-has-such-a-key", "' OR 1=1 --", "é" * 32])
def test_a_key_that_nobody_has(key: str) -> None:
    assert SessionStore(key).get("who") is None
