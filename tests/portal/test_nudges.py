from typing import Any

import pytest
from celery import current_app
from django.db import transaction
from structlog.testing import capture_logs

from portal.nudges import nudge

pytestmark = pytest.mark.django_db


def test_a_task_is_sent_once_what_was_written_stands(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, **options: sent.append((name, args, options)))
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        nudge("jobs.heal_caches", 7)
        assert sent == []
    assert sent == [("jobs.heal_caches", (7,), {"retry": False})], "nobody waits for a broker that is down"


def test_nothing_is_sent_of_what_was_taken_back(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    monkeypatch.setattr(current_app, "send_task", lambda *_, **__: pytest.fail("it was sent"))
    with django_capture_on_commit_callbacks(execute=True):
        try:
            with transaction.atomic():
                nudge("jobs.heal_caches", 7)
                raise ValueError
        except ValueError:
            pass


def test_a_broker_that_is_down_costs_a_line(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no broker")

    monkeypatch.setattr(current_app, "send_task", refuse)
    with capture_logs() as lines, django_capture_on_commit_callbacks(execute=True):
        nudge("jobs.heal_caches", 7)
        nudge("accounts.read_metadata_of", 1)
    assert [(line["task"], line["args"], line["error"]) for line in lines] == [
        ("jobs.heal_caches", (7,), "no broker"),
        ("accounts.read_metadata_of", (1,), "no broker"),
    ]
