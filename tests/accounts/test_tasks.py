from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.contrib.sessions.models import Session

from accounts.models import RequestCount, UsedAssertion
from accounts.sessions import SessionStore
from accounts.tasks import read_providers

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 10, 8, 12, tzinfo=UTC)


def session(*, ends_at: datetime) -> str:
    store = SessionStore()
    store["who"] = "somebody"
    store.set_expiry(ends_at)
    store.create()
    return str(store.session_key)


@time_machine.travel(NOW, tick=False)
def test_what_has_run_out_goes_and_nothing_else() -> None:
    before, after = NOW - timedelta(seconds=1), NOW + timedelta(seconds=1)
    session(ends_at=before)
    kept = session(ends_at=after)
    for name, end in (("old", before), ("new", after)):
        UsedAssertion.objects.create(digest=name, valid_until=end)
        RequestCount.objects.create(key=name, ends_at=end, count=1)
    read_providers()
    assert list(Session.objects.values_list("pk", flat=True)) == [kept]
    assert list(UsedAssertion.objects.values_list("digest", flat=True)) == ["new"]
    assert list(RequestCount.objects.values_list("key", flat=True)) == ["new"]
