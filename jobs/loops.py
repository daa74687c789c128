"""Loops: a job takes its quota back and is evicted again, each time within an hour of the time before.

Only what is known makes one. An eviction that nobody saw counts where it must have been decided within one hour, and
two follow each other within an hour if they do so even at the outermost of their moments.
"""

from collections.abc import Iterable
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
    """How many evictions it is made of, and when the latest was decided at the latest."""

    size: int
    latest: datetime


def loops(decisions: Iterable[Decision]) -> dict[Decision, Loop]:
    """Of one job, in any order: each decision that belongs to a loop, with that loop."""
    placed = [each for each in decisions if each.before - each.after <= LOOP_WITHIN]
    runs: list[list[Decision]] = []
    for each in sorted(placed, key=lambda decision: (decision.before, decision.after)):
        if runs and each.before - max(other.after for other in runs[-1]) <= LOOP_WITHIN:
            runs[-1].append(each)
        else:
            runs.append([each])
    return {each: Loop(len(run), run[-1].before) for run in runs if len(run) >= LOOP_FROM for each in run}
