"""What reaches standard error: one line per event, nothing that people typed."""

import io
import logging
import logging.config
import re
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path

from portal import logs


def broken(request: HttpRequest, name: str) -> HttpResponse:
    raise ZeroDivisionError("in the view")


urlpatterns = [path("broken/<str:name>/", broken, name="broken")]
handler500 = "portal.views.errors.server_error"


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """The console of a process, under the configuration of settings."""
    stream, kept = io.StringIO(), logging.root.handlers[:]
    handlers = {name: logging.getLogger(name) for name in ("django.request", "celery.app.trace")}
    levels = {name: logger.level for name, logger in handlers.items()}
    configuration = logs.configured("INFO")
    configuration["handlers"]["console"]["stream"] = stream
    logging.config.dictConfig(configuration)
    yield stream
    logging.root.handlers[:] = kept
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def test_a_line_has_keys_and_values(written: io.StringIO) -> None:
    structlog.get_logger("portal.test").info("list read", cluster="gpu-one", seen=7)
    assert re.fullmatch(
        r'timestamp=\S+Z level=info logger=portal.test event="list read" cluster=gpu-one seen=7\n', written.getvalue()
    )


def test_lines_of_libraries_look_alike(written: io.StringIO) -> None:
    logging.getLogger("some.library").warning("took %s s", 5)
    assert 'level=warning logger=some.library event="took 5 s"' in written.getvalue()


@pytest.mark.django_db
def test_a_foreign_host_name_is_one_line_without_it(settings: Any, written: io.StringIO) -> None:
    response = Client().get("/sign-in/", headers={"host": "zebra.example.com"})
    assert response.status_code == 400
    told = [line for line in written.getvalue().splitlines() if "refused" in line]
    assert len(told) == 1
    assert 'level=warning logger=django.security.DisallowedHost event="refused: DisallowedHost"' in told[0]
    assert "zebra" not in written.getvalue()
    assert "Traceback" not in written.getvalue()
    assert "request_id=" + response["X-Request-Id"] in told[0]


@pytest.mark.django_db
def test_a_form_without_its_token_is_one_line(written: io.StringIO) -> None:
    Client(enforce_csrf_checks=True).post("/sign-in/as/", {"username": "zebra"})
    told = written.getvalue()
    assert 'event="refused: csrf"' in told
    assert "Traceback" not in told
    assert "zebra" not in told


@pytest.mark.django_db
@pytest.mark.urls("tests.portal.test_logs")
def test_a_broken_view_leaves_its_traceback_and_no_address(settings: Any, written: io.StringIO) -> None:
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if "Login" not in name]
    response = Client(raise_request_exception=False).get("/broken/zebra/?q=zebra")
    told = written.getvalue()
    assert response.status_code == 500
    assert "ZeroDivisionError: in the view" in told
    assert 'event="request failed"' in told
    assert "view=broken status=500" in told
    assert told.count("request_id=" + response["X-Request-Id"]) == 2
    assert "zebra" not in told
