"""Which loops the stored evictions of some jobs make, found by the database: of a loop of thousands one row is read.

A job's evictions stand in the order of their decisions; one that was decided more than `LOOP_WITHIN` after all those
before it begins a run, and a run of `LOOP_FROM` is a loop.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

from django.db.models import BigIntegerField, Count, F, Func, Max, Q, QuerySet, RowRange, Window
from django.db.models.functions import Lag, RowNumber

from jobs.loops import LOOP_WITHIN, Decision, Loop, is_placed
from jobs.models import Eviction

Evictions: TypeAlias = "QuerySet[Eviction, Any]"

_WITHIN: Final = LOOP_WITHIN // timedelta(microseconds=1)


class Run(NamedTuple):
    """Evictions that follow each other closely; `first` is the first one's decision, its later moment before its
    earlier one."""

    first: tuple[datetime, datetime]
    loop: Loop


def runs_of(evictions: Evictions) -> dict[int, list[Run]]:
    """Of these evictions, by the key of the workload, in order; also those that are too few for a loop."""
    firsts: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for workload, *first in _firsts(evictions):
        firsts[workload].append(tuple(first))
    return {workload: list(_runs(rows)) for workload, rows in firsts.items()}


def loop_of(decision: Decision, runs: Sequence[Run]) -> Loop | None:
    """The one that a decision of this workload belongs to, if it does."""
    if not is_placed(decision):
        return None
    place = bisect_right(runs, (decision.before, decision.after), key=lambda run: run.first)
    loop = runs[place - 1].loop if place else None
    return loop if loop and loop.is_one else None


def _runs(rows: Sequence[tuple[Any, ...]]) -> Iterator[Run]:
    """Each ends where the next one begins."""
    for row, following in zip(rows, [*rows[1:], None], strict=True):
        before, after, place, _, count, latest = row
        end, latest = (following[2], following[3]) if following else (count + 1, latest)
        yield Run((before, after), Loop(end - place, latest))


def _firsts(evictions: Evictions) -> Iterator[tuple[Any, ...]]:
    """(workload, decided before, decided after, place in the order, decision before it, count, last decision)"""
    job = F("workload")
    ordered: dict[str, Any] = {"partition_by": job, "order_by": ("decided_before", "decided_after", "pk")}
    dated = evictions.order_by().annotate(before=_Micros("decided_before"), after=_Micros("decided_after"))
    placed = dated.filter(before__lte=F("after") + _WITHIN)
    numbered = placed.annotate(
        reach=Window(Max("after"), **ordered, frame=RowRange(end=-1)),
        place=Window(RowNumber(), **ordered),
        previous=Window(Lag("decided_before"), **ordered),
        count=Window(Count("pk"), partition_by=job),
        last=Window(Max("decided_before"), partition_by=job),
    )
    begins = numbered.filter(Q(reach__isnull=True) | Q(before__gt=F("reach") + _WITHIN))
    columns = ("workload_id", "decided_before", "decided_after", "place", "previous", "count", "last")
    yield from begins.order_by("workload_id", "place").values_list(*columns)


class _Micros(Func):
    """A time in microseconds since 1970, so that both databases compare times without a call of Python for each row."""

    output_field = BigIntegerField()
    arity = 1
    template = "CAST(EXTRACT(EPOCH FROM %(expressions)s) * 1000000 AS bigint)"

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        seconds = "CAST(strftime('%%%%s', %(expressions)s) AS INTEGER)"
        below = "CAST(substr(%(expressions)s, 21) AS INTEGER)"
        return self.as_sql(compiler, connection, template=f"({seconds} * 1000000 + {below})", **extra)
