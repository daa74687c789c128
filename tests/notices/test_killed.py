"""A worker that is killed for good while the channel holds its message."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from tests.sinks import http_sink

SETTLE = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
import os
from notices.actions import add_channel
from notices.kinds import Kind
from notices.outbox import notice, post
from tests.factories import ClusterFactory
from tests.people import settle
from tests.stories import START
people = settle()
secret = {"address": os.environ["SINK"], "key": "k" * 16}
add_channel(user=people.member, kind="webhook", name="mine", secret=secret, now=START)
details = {"namespace": "hyperpod-ns-research"}
post([notice(Kind.FAILED, ClusterFactory(), "uid", once="1", at=START, team_id=people.research.pk, details=details)])
"""
WORK = "import django; django.setup(); from jobs.tasks import tell_people; tell_people()"


@pytest.mark.services
def test_killed_between_the_answer_and_the_commit_it_is_sent_once_more_with_the_same_id(tmp_path: Path) -> None:
    database = tmp_path / "portal.sqlite3"
    with http_sink() as sink:
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "PORTAL_DATABASE_URL": f"sqlite:///{database}",
            "PORTAL_CHANNEL_KEYS": Fernet.generate_key().decode(),
            "PORTAL_INTERNAL_TARGETS": "127.0.0.1",
            "SINK": sink.url,
        }

        def start(code: str) -> subprocess.Popen[bytes]:
            return subprocess.Popen([sys.executable, "-c", code], env=environment)

        assert start(SETTLE).wait() == 0
        worker = start(WORK)
        sink.before_answer = worker.kill
        assert worker.wait() == -9
        sink.before_answer = lambda: None
        with sqlite3.connect(database) as rows:
            # a minute later: the dead worker's right to send is over, and so is the pause
            rows.execute("UPDATE portal_lease SET expires_at = '2000-01-01 00:00:00'")
            rows.execute("UPDATE notices_message SET next_at = '2000-01-01 00:00:00'")
        assert start(f"{WORK}; tell_people()").wait() == 0
    first, second = sink.got
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
