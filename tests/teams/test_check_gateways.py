from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db.migrations.recorder import MigrationRecorder

from gateways.errors import Denied, Unavailable
from gateways.records import Page
from gateways.rights import Right
from teams.management.commands import check_gateways
from teams.models import Cluster
from tests.factories import ClusterFactory
from tests.stories import START, cluster_queue

pytestmark = pytest.mark.django_db


class Answers:
    """Stands for Kubernetes and Kueue; `error` is what every call raises."""

    error: Exception | None = None
    missing: tuple[Right, ...] = ()

    def __init__(self, api: object) -> None:
        pass

    def server_version(self) -> str:
        return self._or("v1.36.3")

    def identity(self) -> str:
        return self._or("uid-of-kube-system")

    def kueue_version(self) -> str | None:
        return self._or("0.19.2")

    def list_cluster_queues(self) -> Any:
        yield self._or(Page((cluster_queue(),), (), 1, False, True))

    def _or(self, value: Any) -> Any:
        if Answers.error:
            raise Answers.error
        return value


@pytest.fixture(autouse=True)
def _answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_gateways, "connect", lambda connection: None)
    monkeypatch.setattr(check_gateways, "Kubernetes", Answers)
    monkeypatch.setattr(check_gateways, "Kueue", Answers)
    monkeypatch.setattr(check_gateways, "missing_rights", lambda api: Answers.missing)
    monkeypatch.setattr(check_gateways, "_broker", lambda: "a broker answers")
    monkeypatch.setattr(Answers, "error", None)
    monkeypatch.setattr(Answers, "missing", ())


def check() -> tuple[list[str], int]:
    out = StringIO()
    try:
        call_command("check_gateways", stdout=out)
    except SystemExit as exit_:
        return out.getvalue().splitlines(), int(exit_.code or 0)
    return out.getvalue().splitlines(), 0


def test_everything_answers() -> None:
    ClusterFactory()
    ClusterFactory(slug="old", archived_at=START)
    lines, ended = check()
    assert ended == 0
    assert lines[1:] == [
        "ok      broker: a broker answers",
        "ok      gpu-one API server: v1.36.3",
        "ok      gpu-one identity: uid-of-kube-system",
        "ok      gpu-one Kueue: 1 ClusterQueues, Kueue 0.19.2",
        "ok      gpu-one rights: all that docs/permissions.md names",
    ]


def test_without_a_cluster_the_rest_is_checked() -> None:
    lines, ended = check()
    assert (len(lines), ended) == (2, 0)
    assert lines[0].endswith(" answers, no cluster is set up yet")


def test_a_database_without_tables_is_none_to_work_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MigrationRecorder, "applied_migrations", lambda self: {})
    lines, ended = check()
    assert (lines[0].startswith("MISSING database: "), ended) == (True, 1)
    assert lines[0].endswith(" migrations have not run: `manage.py migrate`")


@pytest.mark.parametrize("error", [Unavailable("no answer within 10 s"), Denied("401: the token is not accepted")])
def test_a_cluster_that_does_not_answer(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    ClusterFactory()
    monkeypatch.setattr(Answers, "error", error)
    lines, ended = check()
    assert ended == 1
    assert f"MISSING gpu-one API server: {error}" in lines


def test_a_missing_right_is_named_with_its_feature(monkeypatch: pytest.MonkeyPatch) -> None:
    ClusterFactory()
    missing = (Right("list", "", "nodes", "Capacity"), Right("watch", "kueue.x-k8s.io", "workloads", "What waits"))
    monkeypatch.setattr(Answers, "missing", missing)
    lines, ended = check()
    assert ended == 1
    assert lines[-1] == (
        "MISSING gpu-one rights: grant list nodes (for: Capacity); watch workloads.kueue.x-k8s.io (for: What waits)"
    )


def test_another_cluster_than_before() -> None:
    ClusterFactory(identity="uid-of-another")
    lines, ended = check()
    assert ended == 1
    assert any(
        line.startswith("MISSING gpu-one identity: The connection of gpu-one leads to another") for line in lines
    )
    assert Cluster.objects.get().identity == "uid-of-another"


def test_a_broker_that_is_down_holds_up_no_other_check(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.undo()
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    lines, ended = check()
    assert (len(lines), ended) == (2, 1)
    assert lines[1].startswith("MISSING broker: ")
    assert "refused" in lines[1]


def test_the_broker_of_folders_answers(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.undo()
    settings.CELERY_BROKER_URL = "memory://localhost"
    assert check_gateways._broker() == "memory answers"
