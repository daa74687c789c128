"""Starting with settings that are missing or malformed: stopped, with a sentence that names the variable."""

import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command

ROOT = Path(__file__).parents[2]
KEY = "0123456789 a key for tests that is long enough for the deployment check abc"
PRODUCTION = {
    "PORTAL_SECRET_KEY": KEY,
    "PORTAL_HOSTS": "portal.example.com",
    "PORTAL_BROKER_URL": "redis://redis:6379/0",
    "PORTAL_DATABASE_URL": "postgres://portal:secret-password@db:5432/portal",
}
DEMO = {"PORTAL_MODE": "demo", "PORTAL_SECRET_KEY": KEY, "PORTAL_BIND": "127.0.0.1:0"}


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of the portal's variables is set."""
    for name in [name for name in os.environ if name.startswith("PORTAL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr("portal.logs.configured", lambda level: {})


def settings(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> dict[str, Any]:
    """The settings module under these variables, read as if for the first time."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return runpy.run_path(str(ROOT / "portal/settings.py"))


def test_production(monkeypatch: pytest.MonkeyPatch) -> None:
    read = settings(monkeypatch, PRODUCTION)
    assert read["DEMO"] is read["DEBUG"] is False
    assert read["ALLOWED_HOSTS"] == ["portal.example.com"]
    assert read["DATABASES"]["default"]["ENGINE"] == "django.db.backends.postgresql"
    assert read["SESSION_COOKIE_SECURE"] is read["CSRF_COOKIE_SECURE"] is read["SECURE_SSL_REDIRECT"] is True
    assert "django.contrib.admin" not in read["INSTALLED_APPS"]
    assert read["SESSION_COOKIE_NAME"].startswith("__Host-")
    assert read["CSRF_COOKIE_NAME"].startswith("__Host-")


def test_the_demo_needs_no_server_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read = settings(monkeypatch, DEMO)
    assert read["CELERY_BROKER_URL"].startswith("filesystem://")
    options = read["DATABASES"]["default"]["OPTIONS"]
    assert (options["transaction_mode"], options["timeout"]) == ("IMMEDIATE", 20)
    assert "journal_mode=WAL" in options["init_command"]
    assert read["ALLOWED_HOSTS"] == ["127.0.0.1", "localhost", "[::1]"]


@pytest.mark.parametrize("name", ["PORTAL_SECRET_KEY", "PORTAL_HOSTS", "PORTAL_BROKER_URL"])
def test_what_production_cannot_do_without(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"{name} is not set"):
        settings(monkeypatch, {key: value for key, value in PRODUCTION.items() if key != name})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORTAL_MODE", "debug"),
        ("PORTAL_SESSION_HOURS", "0"),
        ("PORTAL_SESSION_HOURS", "twelve"),
        ("PORTAL_BEHIND_PROXY", "perhaps"),
        ("PORTAL_LOG_LEVEL", "LOUD"),
        ("PORTAL_PULL_SECONDS", "often"),
        ("PORTAL_HOSTS", ","),
        ("PORTAL_SECRET_KEY_FILE", "/no/such/file"),
    ],
)
def test_what_is_malformed_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=name):
        settings(monkeypatch, {**PRODUCTION, name: value})


@pytest.mark.parametrize(
    ("mode", "name", "value"),
    [
        (DEMO, "PORTAL_BIND", "localhost:8000"),
        (DEMO, "PORTAL_BIND", "8000"),
        (PRODUCTION, "PORTAL_DATABASE_URL", "no address"),
        (PRODUCTION, "PORTAL_DATABASE_URL", "oracle://db/portal"),
        (PRODUCTION, "PORTAL_DATABASE_URL", "postgres://"),
        (PRODUCTION, "PORTAL_DATABASE_URL", "postgres://portal:password@db:port/portal"),
        (PRODUCTION, "PORTAL_DATABASE_URL", "postgres://portal:pass/word@db:5432/portal"),
        (PRODUCTION, "PORTAL_BROKER_URL", "no address"),
    ],
)
def test_a_malformed_address_is_named(
    monkeypatch: pytest.MonkeyPatch, mode: dict[str, str], name: str, value: str
) -> None:
    with pytest.raises(ImproperlyConfigured, match=name):
        settings(monkeypatch, {**mode, name: value})


@pytest.mark.parametrize("address", ["0.0.0.0:8000", "10.0.0.8:8000", "[::]:8000", "192.168.1.1:80"])
def test_the_demo_listens_on_loopback_only(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="PORTAL_BIND.*loopback address only"):
        settings(monkeypatch, {**DEMO, "PORTAL_BIND": address})


@pytest.mark.parametrize("address", ["127.0.0.1:8000", "[::1]:8000"])
def test_loopback_of_either_kind_will_do(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    assert settings(monkeypatch, {**DEMO, "PORTAL_BIND": address})["PORTAL_BIND"] == address


def test_a_proxy_is_believed_only_where_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings(monkeypatch, PRODUCTION)["SECURE_PROXY_SSL_HEADER"] is None
    behind = settings(monkeypatch, {**PRODUCTION, "PORTAL_BEHIND_PROXY": "true"})
    assert behind["SECURE_PROXY_SSL_HEADER"] == ("HTTP_X_FORWARDED_PROTO", "https")


def manage(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """manage.py in a process of its own, under these variables alone."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PORTAL_", "DJANGO_"))}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**kept, "PORTAL_VAR": str(folder), **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.services
def test_a_start_without_a_key_stops_with_the_sentence(tmp_path: Path) -> None:
    ended = manage(tmp_path, "check")
    assert ended.returncode != 0
    assert "The environment variable PORTAL_SECRET_KEY is not set. See docs/settings.md." in ended.stderr


@pytest.mark.slow
@pytest.mark.services
def test_the_deployment_check_is_clean_under_production_variables(tmp_path: Path) -> None:
    """After `make setup`, which makes the front end's folder."""
    behind = {**PRODUCTION, "PORTAL_BEHIND_PROXY": "true"}
    ended = manage(tmp_path, "check", "--deploy", "--fail-level", "WARNING", **behind)
    assert ended.returncode == 0, ended.stderr
    assert "no issues" in ended.stdout


@pytest.mark.slow
@pytest.mark.services
def test_the_deployment_check_catches_a_wrong_proxy_setting(tmp_path: Path) -> None:
    ended = manage(tmp_path, "check", "--deploy", "--fail-level", "WARNING", **PRODUCTION)
    assert ended.returncode != 0
    assert "accounts.W003" in ended.stderr


@pytest.mark.django_db
def test_every_migration_is_made() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_a_key_without_its_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ImproperlyConfigured, match="PORTAL_SAML_CERTIFICATE"):
        settings(monkeypatch, {**PRODUCTION, "PORTAL_SAML_KEY": "a key"})
