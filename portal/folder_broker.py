"""The demo's broker: a folder in which every message is one file. No server, and one worker takes from it.

A name ending in .msg appears only when its message is whole; bindings are declared anew by every process.
"""

import os
import time
import uuid
from contextlib import suppress
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
    """For kombu connections; the bindings are this process's own. A worker's event loop looks into the folder: waiting
    there instead, as virtual transports do, a worker ends seconds after it was told to."""

    Channel = Channel
    default_port = 0
    driver_type = driver_name = "folder"
    state = virtual.BrokerState()
    implements = virtual.Transport.implements.extend(asynchronous=True)

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        loop.call_repeatedly(self.polling_interval, self._take)

    def _take(self) -> None:
        """Deliver what waits, as far as the consumers want more."""
        take = self.cycle.get  # type: ignore[union-attr]
        with suppress(Empty):
            while True:
                take(self._deliver)

    def driver_version(self) -> str:
        return "1"
