from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from django.core.management import CommandError, call_command

from accounts.models import IdentityProvider
from teams.models import Team

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current_app, "send_task", lambda *_, **__: None)


def run(path: Path) -> str:
    out = StringIO()
    call_command("import_setup", str(path), stdout=out)
    return out.getvalue()


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "setup.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_changes_are_told_line_by_line(tmp_path: Path) -> None:
    path = write(tmp_path, "teams: {research: {name: Research}}")
    assert run(path) == "created team/research (name: Research, cost_centre: None)\n1 changes\n"
    assert run(path) == "0 changes\n"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("teams: {Research: {}}", "was not applied:\nteams: 'Research' must be lower-case"),
        ("teams: {research: {cost_centre: cc}}", "was not applied:\nteams/research/cost_centre: there is no 'cc'"),
        (b"\xff\xfe", "cannot be read: "),
    ],
)
def test_a_file_that_cannot_be_applied_is_refused(tmp_path: Path, content: Any, sentence: str) -> None:
    with pytest.raises(CommandError) as refusal:
        run(write(tmp_path, content))
    assert sentence in str(refusal.value)
    assert not Team.objects.exists()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="missing.yaml cannot be read"):
        run(tmp_path / "missing.yaml")


def test_a_broker_that_is_down_is_told_in_a_line_and_the_file_is_applied(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    django_capture_on_commit_callbacks: Any,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no broker")

    monkeypatch.setattr(current_app, "send_task", refuse)
    entry = "identity_providers: {corp: {name: Corp, metadata_url: https://corp.example.org/metadata}}"
    with django_capture_on_commit_callbacks(execute=True):
        assert run(write(tmp_path, entry)).endswith("1 changes\n")
    assert IdentityProvider.objects.get().metadata_url
    (line,) = caplog.records
    assert line.exc_info is None, "no traceback"
    assert "accounts.read_metadata_of" in caplog.text
    assert "no broker" in caplog.text
