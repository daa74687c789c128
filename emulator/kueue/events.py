"""Kueue's events, in the wording of 0.19."""

from datetime import datetime
from typing import Final

from emulator.events import Events, Reporter, reference
from emulator.store import Json

_KUEUE: Final = Reporter("kueue-admission")


class Recorder:
    """Notes what Kueue does with a Workload."""

    def __init__(self, events: Events) -> None:
        self._events = events

    def record(self, obj: Json, reason: str, message: str, now: datetime, *, is_warning: bool = False) -> None:
        self._events.note(_KUEUE, reference(obj), reason, message, now, is_warning=is_warning)
