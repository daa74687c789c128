"""Which loops the stored evictions of some jobs make, found by the database: of a loop of thousands one row is read.

A job's evictions stand in the order of their decisions; one that was decided more than `LOOP_WITHIN` after all those
before it begins a run, and a run of `LOOP_FROM` is a loop.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final, NamedTuple, TypeAlias

from django.db.models import BigIntegerField, Count, DateTimeField, F, Func, Max, Q, QuerySet, RowRange, Value, Window
from django.db.models.functions import Coalesce

from jobs.models import Eviction
from jobs.rules.loops import LOOP_WITHIN, Decision, Loop, is_placed

Evictions: TypeAlias = "QuerySet[Eviction, Any]"

_WITHIN: Final = LOOP_WITHIN // timedelta(microseconds=1)
_NEVER: Final = -(2**60)  # microseconds since 1970: before all that is told


class Run(NamedTuple):
    """Evictions that follow each other closely; `first` is the first one's decision, its later moment before its
    earlier one."""

    first: tuple[datetime, datetime]
    loop: Loop


def runs_of(evictions: Evictions) -> dict[int, list[Run]]:
    """Of these evictions, by the key of the workload, in order; also those that are too few for a loop."""
    dated = evictions.order_by().annotate(before=_Micros("decided_before"), after=_Micros("decided_after"))
    is_placed = Q(decided_after=F("decided_before")) | Q(before__lte=F("after") + _WITHIN)
    rows: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for workload, *row in _rows(dated.filter(is_placed)):
        rows[workload].append(tuple(row))
    return {workload: list(_runs(sorted(found))) for workload, found in rows.items()}


def loop_of(decision: Decision, runs: Sequence[Run]) -> Loop | None:
    """The one that a decision of this workload belongs to, if it does."""
    if not is_placed(decision):
        return None
    place = bisect_right(runs, (decision.before, decision.after), key=lambda run: run.first)
    loop = runs[place - 1].loop if place else None
    return loop if loop and loop.is_one else None


def _runs(rows: Sequence[tuple[Any, ...]]) -> Iterator[Run]:
    """Each ends where the next row begins; the last row is the end of all."""
    for (place, before, after, _), (end, _, _, latest) in pairwise(rows):
        yield Run((before, after), Loop(end - place, latest))


def _rows(placed: Any) -> Iterator[tuple[Any, ...]]:
    """(workload, how many come before, decided before, decided after, decision before it) where a run begins, and of
    each workload one with how many there are and the last decision. One frame for all windows: SQLite walks once."""
    order = ("decided_before", "decided_after", "pk")
    frame: dict[str, Any] = {"partition_by": F("workload"), "order_by": order, "frame": RowRange(end=-1)}
    earlier = placed.annotate(
        reach=Coalesce(Window(Max("after"), **frame), Value(_NEVER)),
        place=Window(Count("pk"), **frame),
        previous=Window(Max("decided_before"), **frame),
    )
    begins = earlier.filter(before__gt=F("reach") + _WITHIN)
    ends = placed.values("workload_id").annotate(count=Count("pk"), last=Max("decided_before"))
    nothing = Value(None, output_field=DateTimeField())
    yield from begins.values_list("workload_id", "place", "decided_before", "decided_after", "previous").union(
        ends.values_list("workload_id", "count", nothing, nothing, "last"), all=True
    )


class _Micros(Func):
    """A time in microseconds since 1970, so that both databases compare times without a call of Python for each row."""

    output_field = BigIntegerField()
    arity = 1
    template = "CAST(EXTRACT(EPOCH FROM %(expressions)s) * 1000000 AS bigint)"

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        seconds = "CAST(strftime('%%%%s', %(expressions)s) AS INTEGER)"
        below = "CAST(substr(%(expressions)s, 21) AS INTEGER)"
        return self.as_sql(compiler, connection, template=f"({seconds} * 1000000 + {below})", **extra)
