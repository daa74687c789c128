"""The demo's broker: a folder in which every message is one file. No server, and one worker takes from it.

A name ending in .msg appears only when its message is whole; bindings are declared anew by every process.
"""

import math
import os
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

import structlog
from kombu.transport import virtual
from kombu.utils.json import dumps, loads

log = structlog.get_logger(__name__)


class Channel(virtual.Channel):
    """Its transport option `folder` is a folder that exists."""

    from_transport_options = (*virtual.Channel.from_transport_options, "folder")
    folder: str

    def _waiting(self, queue: str) -> list[Path]:
        """The queue's messages, oldest first."""
        names = [name for name in os.listdir(self.folder) if name.endswith(f".{queue}.msg")]
        return [Path(self.folder, name) for name in sorted(names)]

    def _put(self, queue: str, message: Any, **kwargs: Any) -> None:
        name = f"{time.time_ns()}-{uuid.uuid4().hex}.{queue}"
        written = Path(self.folder, f"{name}.part")
        written.write_text(dumps(message))
        written.replace(written.with_suffix(".msg"))

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        for path in self._waiting(queue):
            try:
                text = path.read_bytes()
                path.unlink()  # who removes it has it
            except FileNotFoundError:
                continue
            try:
                return loads(text)
            except ValueError:  # a disk that was full, a machine that lost power
                log.warning("an unreadable message was removed", file=path.name, size=len(text))
        raise Empty

    def _size(self, queue: str) -> int:
        return len(self._waiting(queue))

    def _purge(self, queue: str) -> int:
        waiting = self._waiting(queue)
        for path in waiting:
            path.unlink(missing_ok=True)
        return len(waiting)


class Transport(virtual.Transport):
    """For kombu connections; the bindings are this process's own.

    Option `longest_wait`, in seconds: a wait for messages ends after it, whatever timeout was asked for. A worker looks
    only between two waits whether it is to end, and Celery's take two seconds.
    """

    Channel = Channel
    default_port = 0
    driver_type = driver_name = "folder"
    state = virtual.BrokerState()

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        self.longest_wait: float = client.transport_options.get("longest_wait", math.inf)

    def drain_events(self, connection: Any, timeout: float | None = None, **kwargs: Any) -> None:
        super().drain_events(connection, min(timeout or math.inf, self.longest_wait))

    def driver_version(self) -> str:
        return "1"
