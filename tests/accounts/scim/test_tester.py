"""An independent client's judgement of the whole: scim2-tester."""

from collections.abc import Iterator

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from scim2_client.engines.wsgi import WSGISCIMClient
from scim2_tester import Status, check_server

from tests.accounts.scim.client import Scim

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture(autouse=True)
def _one_connection() -> Iterator[None]:
    """As Django's own test client: the test's transaction goes on between requests."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def test_it_finds_no_error(corp: Scim) -> None:
    environ = {"HTTP_AUTHORIZATION": f"Bearer {corp.secret}"}
    client = WSGISCIMClient(WSGIHandler(), base_url="http://127.0.0.1/scim/v2", environ=environ)
    results = check_server(client)
    wrong = [f"{each.title}: {each.reason}" for each in results if each.status in (Status.ERROR, Status.CRITICAL)]
    assert not wrong, "\n".join(wrong)
    passed = [each for each in results if each.status == Status.SUCCESS]
    assert len(passed) > 100
