"""Trouble that is not the portal's fault: told in a sentence by every command, and on pages."""

import errno
import sqlite3
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, IntegrityError, OperationalError, ProgrammingError
from kombu.exceptions import OperationalError as BrokerFailure

from portal.outages import told
from tests.portal.test_settings import manage

DEMO = {"PORTAL_MODE": "demo", "PORTAL_SECRET_KEY": "a key for tests"}


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ImproperlyConfigured("PORTAL_X is not set."), "PORTAL_X is not set."),
        (OperationalError("connection refused\nIs the server running?"), "cannot be used: connection refused. See"),
        (ProgrammingError('relation "jobs_workload" does not exist'), "`manage.py migrate` has run"),
        (
            BrokerFailure("Error 111 connecting"),
            "The broker cannot be reached: Error 111 connecting. See PORTAL_BROKER",
        ),
        (OSError(errno.ENOSPC, "No space left on device", "/var/x"), "/var/x: No space left on device."),
        (PermissionError(errno.EACCES, "Permission denied", "/var/x"), "/var/x: Permission denied."),
    ],
)
def test_what_is_not_its_fault_is_told_in_a_sentence(error: Exception, said: str) -> None:
    sentence = told(error)
    assert sentence
    assert said in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(
    "error",
    [ValueError("x"), IntegrityError("UNIQUE"), ProgrammingError("syntax error"), FileNotFoundError(errno.ENOENT, "x")],
)
def test_a_fault_of_its_own_keeps_its_traceback(error: Exception) -> None:
    assert told(error) is None


@pytest.mark.services
def test_a_damaged_file_is_named_told_what_to_do_about_and_left_as_it_is(tmp_path: Path) -> None:
    broken = tmp_path / "portal.sqlite3"
    broken.write_bytes(b"not a database at all" * 100)
    before = broken.read_bytes()
    for command in ("migrate", "check_ledger"):
        done = manage(tmp_path, command, **DEMO)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.splitlines() == [
            f"The database {broken} cannot be used: file is not a database. Move the file away: `manage.py migrate` "
            "makes a new one."
        ]
    assert broken.read_bytes() == before


@pytest.mark.services
def test_a_database_that_is_not_there_or_empty_is_told(tmp_path: Path) -> None:
    done = manage(tmp_path, "migrate", **DEMO, PORTAL_DATABASE_URL="postgres://portal:hidden@127.0.0.1:1/portal")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "Connection refused. See PORTAL_DATABASE_URL" in done.stderr
    assert "hidden" not in done.stderr
    sqlite3.connect(tmp_path / "portal.sqlite3").close()
    done = manage(tmp_path, "check_ledger", **DEMO)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "`manage.py migrate` has run" in done.stderr


@pytest.mark.services
def test_the_traceback_can_be_asked_for(tmp_path: Path) -> None:
    (tmp_path / "portal.sqlite3").write_bytes(b"not a database at all" * 100)
    assert DatabaseError.__name__ in manage(tmp_path, "check_ledger", "--traceback", **DEMO).stderr
