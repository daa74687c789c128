import json
import logging
from typing import Any

import pytest
from celery import Celery
from django.db import InterfaceError, OperationalError, connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from jobs.sync.sources import SOURCES
from portal.models import SourceState
from tests.factories import ClusterFactory, TeamFactory
from tests.servers import free_port
from tests.stories import minute

NOBODY_LISTENS = Celery("nobody", broker=f"redis://127.0.0.1:{free_port()}/0")


@pytest.fixture
def broken_database(db: None) -> Any:
    def refuse(*args: Any) -> None:
        raise OperationalError("password of db at 10.0.0.1 is wrong")

    with connection.execute_wrapper(refuse):
        yield


@pytest.fixture
def production(settings: Any) -> None:
    settings.DEMO = False
    settings.SECURE_SSL_REDIRECT = True
    settings.ALLOWED_HOSTS = ["portal.example.com"]


def get(path: str, **headers: str) -> HttpResponse:
    return Client(headers=headers).get(path)  # type: ignore[return-value]


def report(path: str = "/readyz") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(get(path).content)
    return found


def test_alive_without_a_database() -> None:
    response = get("/healthz")  # pytest-django refuses a query without the mark
    assert (response.status_code, response.text) == (200, "alive\n")


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.django_db
def test_probes_come_by_the_pods_address_without_tls_and_without_a_session(production: None, path: str) -> None:
    response = get(path, host="10.1.2.3:8000")
    assert response.status_code == 200
    assert not response.cookies
    assert "no-store" in response["Cache-Control"]


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_only_read(path: str) -> None:
    assert Client().post(path).status_code == 405


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_the_demos_probes_answer_loopback_only(path: str) -> None:
    assert Client(REMOTE_ADDR="10.0.0.8").get(path).status_code == 403


@pytest.mark.django_db
def test_ready_with_nothing_set_up() -> None:
    assert report() == {"database": "ok", "broker": "ok", "clusters": {}}


@pytest.mark.django_db
def test_ages_of_active_clusters(time_machine: Any) -> None:
    time_machine.move_to(minute(10), tick=False)
    ClusterFactory(slug="gpu-one")
    ClusterFactory(slug="gpu-old", archived_at=minute(0))
    SourceState.objects.create(source="workloads", cluster="gpu-one", last_good_at=minute(9))
    SourceState.objects.create(
        source="nodes", cluster="gpu-one", last_good_at=minute(2), failing_since=minute(3), last_error="secret words"
    )
    SourceState.objects.create(source="workloads", cluster="gpu-old", last_good_at=minute(9))
    assert get("/readyz").status_code == 200
    assert list(report()["clusters"]) == ["gpu-one"]
    sources = report()["clusters"]["gpu-one"]
    assert set(sources) == set(SOURCES)
    assert sources["workloads"] == {"age_seconds": 60, "stale": False, "failing": False}
    assert sources["nodes"] == {"age_seconds": 480, "stale": True, "failing": True}
    assert sources["cohorts"] == {"age_seconds": None, "stale": True, "failing": False}


@pytest.mark.django_db
def test_no_error_text_and_no_team_is_told() -> None:
    ClusterFactory(slug="gpu-one")
    TeamFactory(slug="research", name="Research")
    SourceState.objects.create(source="nodes", cluster="gpu-one", failing_since=minute(3), last_error="secret words")
    text = get("/readyz").text
    assert "secret words" not in text
    assert "esearch" not in text


def test_not_ready_without_a_database(broken_database: None, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "portal")
    response = get("/readyz")
    assert response.status_code == 503
    assert json.loads(response.content) == {"database": "unreachable", "broker": "ok", "clusters": {}}
    assert "10.0.0.1" not in response.text + caplog.text
    assert [record.msg["event"] for record in caplog.records if record.name.startswith("portal")] == ["not ready"]


@pytest.mark.django_db
def test_not_ready_when_the_connection_is_lost() -> None:
    def lose(*args: Any) -> None:
        raise InterfaceError("connection already closed")

    with connection.execute_wrapper(lose):
        assert get("/readyz").status_code == 503


@pytest.mark.django_db
def test_not_ready_without_a_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    ClusterFactory(slug="gpu-one")
    monkeypatch.setattr("portal.views.health.app", NOBODY_LISTENS)
    response = get("/readyz")
    assert response.status_code == 503
    told = json.loads(response.content)
    assert (told["database"], told["broker"]) == ("ok", "unreachable")
    assert "gpu-one" in told["clusters"]


@pytest.mark.django_db
def test_as_many_queries_for_many_clusters_as_for_few() -> None:
    for number in range(4):
        ClusterFactory(slug=f"gpu-{number}")
    with CaptureQueriesContext(connection) as queries:
        get("/readyz")
    assert len(queries) == 2
