"""Loops: a job takes its quota back and is evicted again, each time within an hour of the time before.

Only what is known makes one. An eviction that nobody saw counts where it must have been decided within one hour, and
two follow each other within an hour if they do so even at the outermost of their moments.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

LOOP_WITHIN: Final = timedelta(hours=1)
LOOP_FROM: Final = 3
"""So many evictions of one job, each within `LOOP_WITHIN` of the one before, are a loop."""

_NEVER: Final = datetime.min.replace(tzinfo=UTC)


class Decision(NamedTuple):
    """Between which moments an eviction was decided; equal where that was seen."""

    after: datetime
    before: datetime

    @property
    def is_placed(self) -> bool:
        """Whether it is known closely enough when it was decided."""
        return self.before - self.after <= LOOP_WITHIN


class Loop(NamedTuple):
    """How many evictions follow each other so, and when the latest and the first were decided at the latest."""

    size: int
    latest: datetime
    began: datetime

    def has(self, decision: Decision) -> bool:
        """Whether the eviction, of the same job, is one of them."""
        return decision.is_placed and self.began <= decision.before <= self.latest


def loops_of(decisions: Iterable[Decision]) -> list[Loop]:
    """The loops that all evictions of one job make, in order."""
    placed = sorted((each for each in decisions if each.is_placed), key=lambda each: each.before)
    return [loop for loop in _runs(placed) if loop.size >= LOOP_FROM]


def _runs(placed: Sequence[Decision]) -> Iterator[Loop]:
    """One begins with what was decided more than `LOOP_WITHIN` after all before it."""
    begins = [place for place, reach in enumerate(_reaches(placed)) if reach + LOOP_WITHIN < placed[place].before]
    for first, end in pairwise([*begins, len(placed)]):
        yield Loop(end - first, placed[end - 1].before, placed[first].before)


def _reaches(placed: Sequence[Decision]) -> Iterable[datetime]:
    """For each how late, at least, one of those before it was decided."""
    return accumulate((each.after for each in placed[:-1]), max, initial=_NEVER) if placed else ()
