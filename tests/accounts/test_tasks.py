from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.contrib.sessions.models import Session

from accounts.actions import connect_provider, note_session
from accounts.models import ProviderSession, RequestCount, UsedAssertion
from accounts.sessions import SessionStore
from accounts.tasks import read_providers
from tests.people import People

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 10, 8, 12, tzinfo=UTC)


def session(*, ends_at: datetime) -> str:
    store = SessionStore()
    store["who"] = "somebody"
    store.set_expiry(ends_at)
    store.create()
    return str(store.session_key)


@time_machine.travel(NOW, tick=False)
def test_what_has_run_out_goes_and_nothing_else(people: People) -> None:
    before, after = NOW - timedelta(seconds=1), NOW + timedelta(seconds=1)
    provider = connect_provider(slug="corp", name="Corp", kind="other", by=people.platform_admin, now=NOW)
    session(ends_at=before)
    kept = session(ends_at=after)
    for name, end in (("old", before), ("new", after)):
        UsedAssertion.objects.create(digest=name, valid_until=end)
        RequestCount.objects.create(key=name, ends_at=end, count=1)
        note_session(key=name, user=people.member, provider=provider, index="_session", ends_at=end)
    read_providers()
    assert list(Session.objects.values_list("pk", flat=True)) == [kept]
    assert list(UsedAssertion.objects.values_list("digest", flat=True)) == ["new"]
    assert list(ProviderSession.objects.values_list("pk", flat=True)) == ["new"]
    assert list(RequestCount.objects.values_list("key", flat=True)) == ["new"]
