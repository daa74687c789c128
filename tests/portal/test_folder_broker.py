"""Messages between processes through a folder: all of them, whole, in order; what cannot be read is removed."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty

import pytest
from kombu import Connection, Consumer, Exchange, Queue
from kombu.asynchronous import Hub
from kombu.simple import SimpleQueue

from portal.celery import app
from portal.folder_broker import Transport

MESSAGES = 1000
WRITER = f"""
import sys
from kombu import Connection
from portal.folder_broker import Transport
with Connection(transport=Transport, transport_options={{"folder": sys.argv[1]}}) as connection:
    queue = connection.SimpleQueue("celery")
    for number in range({MESSAGES}):
        queue.put(number)
"""


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[SimpleQueue]:
    options = {"folder": str(tmp_path), "polling_interval": 0}
    with Connection(transport=Transport, transport_options=options) as connection:
        yield connection.SimpleQueue("celery", no_ack=True)


def taken(queue: SimpleQueue) -> object:
    return queue.get(timeout=5).payload


@pytest.mark.slow
def test_a_reader_gets_every_message_whole_while_another_process_writes(queue: SimpleQueue, tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)]) as writer:
        assert [taken(queue) for _ in range(MESSAGES)] == list(range(MESSAGES))
    assert writer.returncode == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b'{"body": "W1', b"\xff\xfe"])
def test_an_unreadable_file_is_removed_and_told(
    queue: SimpleQueue, tmp_path: Path, caplog: pytest.LogCaptureFixture, content: bytes
) -> None:
    (tmp_path / "0_x.celery.msg").write_bytes(content)
    queue.put("the next")
    assert taken(queue) == "the next"
    (record,) = [record for record in caplog.records if record.name == "portal.folder_broker"]
    assert (record.levelname, record.msg["file"]) == ("WARNING", "0_x.celery.msg")
    assert list(tmp_path.iterdir()) == []


def test_a_message_still_being_written_is_not_seen(queue: SimpleQueue, tmp_path: Path) -> None:
    (tmp_path / "0_x.celery.part").write_bytes(b"")
    with pytest.raises(Empty):
        queue.get(block=False)


def test_a_message_that_another_reader_took_is_passed_over(
    queue: SimpleQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.put("taken meanwhile")
    queue.put("mine")
    first = min(tmp_path.iterdir())
    listed = os.listdir(tmp_path)
    first.unlink()
    monkeypatch.setattr(os, "listdir", lambda _: listed)
    assert taken(queue) == "mine"


def test_messages_are_counted_and_purged_by_queue(queue: SimpleQueue, tmp_path: Path) -> None:
    with Connection(transport=Transport, transport_options={"folder": str(tmp_path)}) as connection:
        other = connection.SimpleQueue("other", no_ack=True)
        other.put("kept")
        queue.put("one")
        queue.put("two")
        assert (queue.qsize(), queue.clear(), queue.qsize()) == (2, 2, 0)
        assert taken(other) == "kept"


def test_the_demo_uses_it() -> None:
    with app.connection_for_write() as connection:
        assert isinstance(connection.transport, Transport)
        assert Path(connection.transport_options["folder"]).is_dir()


def test_an_event_loop_gets_what_comes(tmp_path: Path) -> None:
    """A worker whose loop waits in the transport instead ends seconds after it was told to."""
    options = {"folder": str(tmp_path), "polling_interval": 0.001}
    got: list[object] = []
    with Connection(transport=Transport, transport_options=options) as connection:
        assert connection.transport.implements.asynchronous
        hub, queue = Hub(), Queue("celery", Exchange("celery"), routing_key="celery")
        connection.register_with_event_loop(hub)
        consumer = Consumer(connection, [queue], no_ack=True, on_message=lambda message: got.append(message.payload))
        producer = connection.SimpleQueue("celery")
        with consumer:
            for sent in (["first", "second"], ["third"], []):
                for text in sent:
                    producer.put(text)
                time.sleep(0.01)
                hub.fire_timers()
    assert got == ["first", "second", "third"]
