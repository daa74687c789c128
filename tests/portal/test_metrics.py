import math
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from prometheus_client.parser import text_string_to_metric_families

from accounts.models import IdentityProvider
from portal.models import SourceState, SyncRun
from tests.accounts.saml.idp import key_pair, metadata
from tests.factories import ClusterFactory, TeamFactory
from tests.people import People
from tests.stories import minute

TOKEN = "a token for scrapes"
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _now(time_machine: Any) -> Iterator[None]:
    time_machine.move_to(minute(100), tick=False)
    yield


def scrape(**meta: str) -> HttpResponse:
    return Client(**{"HTTP_HOST": "localhost", **meta}).get("/metrics")  # type: ignore[arg-type,return-value]


def samples() -> dict[tuple[str, ...], float]:
    """Values by name and label values in the order of the label names' alphabet."""
    families = text_string_to_metric_families(scrape().text)
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def run(source: str, at: float, seconds: int = 4, status: str = SyncRun.Status.CHANGED, **counts: int) -> None:
    began = minute(at)
    ended = began + timedelta(seconds=seconds)
    SyncRun.objects.create(source=source, cluster="gpu-one", started_at=began, ended_at=ended, status=status, **counts)


@pytest.fixture
def one() -> None:
    ClusterFactory(slug="gpu-one")
    SourceState.objects.create(source="workloads", cluster="gpu-one", last_good_at=minute(99), malformed=2)
    SourceState.objects.create(
        source="nodes", cluster="gpu-one", last_good_at=minute(50), failing_since=minute(98), last_error="secret words"
    )
    run("workloads", 10, seen=1)
    run("workloads", 98, seen=500, written=7, absent=3, malformed=2)
    run("workloads", 97, seen=3)
    for at in (20, 70, 98, 99):
        run("nodes", at, status=SyncRun.Status.FAILED, error="secret words")


def test_ages_and_failures(one: None) -> None:
    found = samples()
    assert found["portal_sync_age_seconds", "gpu-one", "workloads"] == 60
    assert found["portal_sync_age_seconds", "gpu-one", "nodes"] == 3000
    assert found["portal_sync_failing_seconds", "gpu-one", "nodes"] == 120
    assert found["portal_sync_failing_seconds", "gpu-one", "workloads"] == 0
    assert found["portal_sync_malformed_objects", "gpu-one", "workloads"] == 2
    assert found["portal_sync_failed_runs", "gpu-one", "nodes"] == 3  # the fourth was over an hour ago
    assert found["portal_sync_failed_runs", "gpu-one", "workloads"] == 0


def test_what_was_never_read_is_older_than_anything(one: None) -> None:
    assert samples()["portal_sync_age_seconds", "gpu-one", "cohorts"] == math.inf


def test_duration_and_rows_are_of_the_last_list(one: None) -> None:
    found = samples()
    assert found["portal_sync_duration_seconds", "gpu-one", "workloads"] == 4
    rows = {
        outcome: found["portal_sync_rows", "gpu-one", outcome, "workloads"] for outcome in ("seen", "written", "absent")
    }
    assert rows == {"seen": 500, "written": 7, "absent": 3}
    assert ("portal_sync_duration_seconds", "gpu-one", "cohorts") not in found


def test_archived_clusters_are_left_out(one: None) -> None:
    ClusterFactory(slug="gpu-old", archived_at=minute(0))
    SourceState.objects.create(source="workloads", cluster="gpu-old", last_good_at=minute(9))
    assert not [key for key in samples() if "gpu-old" in key]


def test_as_many_queries_for_many_clusters_as_for_few(one: None) -> None:
    for number in range(5):
        ClusterFactory(slug=f"gpu-{number}")
    with CaptureQueriesContext(connection) as queries:
        scrape()
    assert len(queries) == 6  # one of them for evictions, one for identity providers


def test_requests_are_counted_by_view(people: People) -> None:
    client = Client()
    client.force_login(people.member)
    before = samples().get(("portal_request_seconds_count", "200", "team"), 0)
    client.get("/teams/research/?page=7")
    client.get("/nothing/here/")
    found = samples()
    assert found["portal_request_seconds_count", "200", "team"] == before + 1
    assert found["portal_request_seconds_count", "404", "none"] >= 1
    assert found["portal_request_seconds_bucket", "+Inf", "200", "team"] == before + 1


def test_no_name_of_a_team_and_no_text_of_an_error(one: None, people: People) -> None:
    TeamFactory(slug="zebra", name="Zebra Crossing")
    client = Client()
    client.force_login(people.platform_admin)
    client.get("/teams/zebra/")
    text = scrape().text
    assert not re.search("(?i)zebra|research|secret", text)


def test_request_times_are_there_without_a_database(one: None) -> None:
    def refuse(*args: Any) -> None:
        raise OperationalError

    Client().get("/nothing/here/")
    with connection.execute_wrapper(refuse):
        text = scrape().text
    assert "portal_request_seconds_count" in text
    assert "portal_sync_age_seconds" not in text


@pytest.mark.parametrize("forwarded", ["HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_FORWARDED"])
def test_a_proxy_on_this_machine_makes_nobody_local(forwarded: str) -> None:
    assert scrape().status_code == 200
    assert scrape(**{forwarded: "127.0.0.1"}).status_code == 404


def test_behind_a_proxy_only_the_token_counts(settings: Any) -> None:
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.METRICS_TOKEN = TOKEN
    assert scrape().status_code == 404
    assert scrape(HTTP_AUTHORIZATION=f"Bearer {TOKEN}").status_code == 200


@pytest.fixture
def production(settings: Any) -> Any:
    settings.DEMO = False
    settings.ALLOWED_HOSTS = ["portal.example.com"]
    settings.SECURE_SSL_REDIRECT = True
    return settings


@pytest.mark.parametrize("address", ["10.0.0.8", "2001:db8::1", ""])
def test_from_elsewhere_the_address_does_not_exist(production: Any, address: str) -> None:
    response = scrape(REMOTE_ADDR=address)
    assert response.status_code == 404
    assert "portal_" not in response.text


@pytest.mark.parametrize(
    ("token", "brought", "status"),
    [
        (TOKEN, f"Bearer {TOKEN}", 200),
        (TOKEN, f"Bearer {TOKEN}x", 404),
        (TOKEN, "Bearer ", 404),
        (TOKEN, TOKEN, 404),
        (TOKEN, "Bearer tökén", 404),
        ("", "Bearer ", 404),
        ("", "", 404),
    ],
)
def test_a_token_opens_it(production: Any, token: str, brought: str, status: int) -> None:
    production.METRICS_TOKEN = token
    response = scrape(REMOTE_ADDR="10.0.0.8", HTTP_AUTHORIZATION=brought, HTTP_HOST="10.1.2.3:8000")
    assert response.status_code == status


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "[::1]:8000", "localhost"])
def test_this_machine_is_asked_by_its_own_name(host: str) -> None:
    assert scrape(HTTP_HOST=host).status_code == 200


@pytest.mark.parametrize("host", ["attacker.example", "attacker.example:8000", "10.0.0.1", "[", ""])
def test_a_name_pointed_at_this_machine_reads_nothing(host: str) -> None:
    assert scrape(HTTP_HOST=host).status_code == 404


def test_how_long_certificates_last(db: None) -> None:
    text = metadata("https://corp.example.org", [key_pair(minute(100), days=20)[1]], "https://corp.example.org/sso")
    for slug, enabled in (("corp", True), ("off", False)):
        IdentityProvider.objects.create(
            slug=slug, name=slug, metadata=text, groups_attribute="groups", signs_response=True, enabled=enabled
        )
    found = samples()
    assert found["portal_identity_provider_certificate_seconds", "corp"] == 20 * 86400
    assert ("portal_identity_provider_certificate_seconds", "off") not in found
