"""The times when nothing ran: between two starts the cluster stood still, and nobody's work went on."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from emulator.clock import api_micro_time
from scheduling.parsing import parse_time

_KEPT = 100


class Standstills:
    """Pauses of the process, the oldest first."""

    def __init__(self, pauses: Iterable[tuple[datetime, datetime]] = ()) -> None:
        self._pauses = list(pauses)

    def add(self, stopped: datetime, started: datetime) -> None:
        if started > stopped:
            self._pauses = [*self._pauses, (stopped, started)][-_KEPT:]

    def later(self, start: datetime, seconds: float) -> datetime:
        """The instant by which that much time was lived through since the start."""
        end = start + timedelta(seconds=seconds)
        for stopped, started in self._pauses:
            if start <= stopped < end:
                end += started - stopped
        return end

    def dump(self) -> list[list[str]]:
        return [[api_micro_time(stopped), api_micro_time(started)] for stopped, started in self._pauses]


def loaded(dumped: Iterable[Any]) -> Standstills:
    """What `dump` gave. Raises ValueError."""
    pauses = [(parse_time(stopped), parse_time(started)) for stopped, started in dumped]
    return Standstills([(a, b) for a, b in pauses if a is not None and b is not None])
