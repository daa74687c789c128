"""Loops: a job takes its quota back and is evicted again, each time within an hour of the time before.

Only what is known makes one. An eviction that nobody saw counts where it must have been decided within one hour, and
two follow each other within an hour if they do so even at the outermost of their moments.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

LOOP_WITHIN: Final = timedelta(hours=1)
LOOP_FROM: Final = 3
"""So many evictions of one job, each within `LOOP_WITHIN` of the one before, are a loop."""


class Decision(NamedTuple):
    """Between which moments an eviction was decided; equal where that was seen."""

    after: datetime
    before: datetime


class Loop(NamedTuple):
    """How many evictions follow each other so, and when the latest was decided at the latest."""

    size: int
    latest: datetime

    @property
    def is_one(self) -> bool:
        """Whether they are enough."""
        return self.size >= LOOP_FROM


def is_placed(decision: Decision) -> bool:
    """Whether it is known closely enough when it was decided."""
    return decision.before - decision.after <= LOOP_WITHIN
