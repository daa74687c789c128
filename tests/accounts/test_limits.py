"""A limit counts per address and window, for all processes; what is over is cleaned."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.http import HttpRequest
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext

from accounts.limits import Limit, address_of, is_beyond, is_beyond_by, too_many
from accounts.models import RequestCount
from accounts.tasks import read_providers

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 10, 8, 12, tzinfo=UTC)
LIMIT = Limit("knock", 2)


@pytest.fixture(autouse=True)
def _noon() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


def asked(address: str = "192.0.2.7", **more: Any) -> HttpRequest:
    return RequestFactory().get("/", REMOTE_ADDR=address, **more)


def beyond(address: str, *, limit: Limit = LIMIT, later: int = 0) -> bool:
    return is_beyond(asked(address), limit, NOW + timedelta(seconds=later))


def test_only_what_comes_after_the_limit_is_beyond() -> None:
    assert [beyond("192.0.2.7") for _ in range(4)] == [False, False, True, True]


def test_each_address_each_name_and_each_window_counts_apart() -> None:
    assert [beyond("192.0.2.7", later=59) for _ in range(3)][-1]
    assert not beyond("192.0.2.8", later=59)
    assert not beyond("192.0.2.7", limit=Limit("enter", 2), later=59)
    assert not beyond("192.0.2.7", later=60)


def test_who_has_many_addresses_of_version_6_counts_once() -> None:
    assert [beyond(f"2001:db8::{number:x}") for number in range(3)] == [False, False, True]
    assert not beyond("2001:db8:0:1::1")


def test_version_4_through_a_socket_of_version_6_counts_apart() -> None:
    assert [beyond(f"::ffff:192.0.2.{number}") for number in range(3)] == [False, False, False]
    assert [beyond("192.0.2.1"), beyond("::ffff:192.0.2.1")] == [False, True]
    assert address_of(asked("::ffff:192.0.2.1")) == "192.0.2.1"


def test_secrets_count_apart_whatever_address_shows_them() -> None:
    found = [is_beyond_by(key, LIMIT, NOW) for key in (1, 1, 2, 1, 1)]
    assert found == [False, False, False, True, True]


def test_an_address_has_no_zone() -> None:
    assert address_of(asked("fe80::1%eth0")) == "fe80::1"


def test_it_costs_one_statement() -> None:
    with CaptureQueriesContext(connection) as queries:
        beyond("192.0.2.7")
    assert len(queries) == 1


def test_the_answer_says_when_to_try_again() -> None:
    for later, left in ((0, "600"), (599, "1"), (599.5, "1"), (600, "600")):
        answer = too_many(Limit("knock", 2, 600), NOW + timedelta(seconds=later))
        assert (answer.status_code, answer["Retry-After"]) == (429, left)


def test_counts_of_windows_that_are_over_are_cleaned() -> None:
    beyond("192.0.2.7", later=-120)
    beyond("192.0.2.7")
    read_providers()
    assert RequestCount.objects.count() == 1


def test_what_a_stranger_says_of_its_address_is_not_believed(settings: Any) -> None:
    request = asked("192.0.2.7", headers={"x-forwarded-for": "198.51.100.1, 198.51.100.2"})
    assert address_of(request) == "192.0.2.7"
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    assert address_of(request) == "198.51.100.2"


def test_who_comes_from_nowhere_is_refused() -> None:
    with pytest.raises(PermissionDenied):
        address_of(asked(""))
