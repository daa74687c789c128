"""What evictions cost, added up by team, job, queue, preemptor, priority class, GPU type, week or month.

Weeks begin on Monday; weeks and months are UTC's.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC
from typing import Any, Final

from django.db import connection
from django.db.models import BooleanField, ExpressionWrapper, F, Q, Value
from django.db.models.functions import TruncMonth, TruncWeek
from django.db.models.lookups import Exact
from django.utils.translation import gettext

from jobs.eviction_filter import SumBy
from jobs.eviction_list import SUMS, Evictions, total_of
from jobs.lost_work import Total
from jobs.sight import Sight
from jobs.workload_list import Owners
from scheduling.names import PREEMPTED
from teams.gpu_models import gpu_model

MOST: Final = 50
"""So many of the largest sums are shown."""

_KEYS: Final[dict[SumBy, tuple[Any, ...]]] = {
    SumBy.TEAM: (F("cluster"), F("namespace")),
    SumBy.WORKLOAD: (F("workload__owner_name"), F("workload__name")),
    SumBy.QUEUE: (F("span__cluster_queue"),),
    SumBy.PREEMPTOR: (
        F("preemptor_team__name"),
        F("preemptor_team"),
        F("cluster"),
        Exact(F("reason"), Value(PREEMPTED)),
    ),
    SumBy.PRIORITY: (F("priority_class"),),
    SumBy.WEEK: (TruncWeek("decided_before", tzinfo=UTC),),
    SumBy.MONTH: (TruncMonth("decided_before", tzinfo=UTC),),
}
_JSON_EACH: Final = {"postgresql": "jsonb_each", "sqlite": "json_each"}
_FLAVORS: Final = """
    SELECT part.key, COUNT(*), COUNT(*) - COUNT(found.stopping),
        SUM(CAST(part.value ->> 1 AS bigint)), SUM(CAST(part.value ->> 2 AS bigint)),
        SUM(CAST(part.value ->> 3 AS bigint)), SUM(CAST(part.value ->> 4 AS bigint))
    FROM ({found}) AS found, {each}(found.by_flavor) AS part GROUP BY part.key
"""
_IN_TIME: Final = (SumBy.WEEK, SumBy.MONTH)


@dataclass(frozen=True, slots=True)
class Line:
    label: str
    count: int
    lost: Total


def sums(found: Evictions, by: SumBy, sight: Sight, owners: Owners) -> list[Line]:
    """The largest first; weeks and months the latest first. Names are only those that the reader may know. A team is
    the one that owns the namespace now."""
    parts = _by_flavor(found) if by == SumBy.FLAVOR else _by_key(found, by, sight, owners)
    lines: dict[str, Line] = {}
    for label, count, lost in parts:
        before = lines.get(label, Line(label, 0, Total()))
        lines[label] = Line(label, before.count + count, before.lost + lost)
    if by in _IN_TIME:
        return sorted(lines.values(), key=lambda line: line.label, reverse=True)[:MOST]
    return sorted(lines.values(), key=lambda line: (-line.lost.expected, line.label))[:MOST]


def _by_key(found: Evictions, by: SumBy, sight: Sight, owners: Owners) -> Iterator[tuple[str, int, Total]]:
    names = [f"key_{number}" for number in range(len(_KEYS[by]))]
    keyed = found.order_by().annotate(**dict(zip(names, _KEYS[by], strict=True))).values(*names)
    for row in keyed.annotate(**SUMS):
        yield _label(by, [row[name] for name in names], sight, owners), row["count"], total_of(row)


def _by_flavor(found: Evictions) -> Iterator[tuple[str, int, Total]]:
    """By the flavors of what each held, added up by the database; apart from them what held nothing that is known."""
    inner, params = found.order_by().values("by_flavor", "stopping").query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(_FLAVORS.format(found=inner, each=_JSON_EACH[connection.vendor]), params)
        for flavor, count, open_ones, *losses in cursor.fetchall():
            low, expected, high, stopping = map(int, losses)
            yield gpu_model(flavor), count, Total(low, expected, high, stopping, 0, open_ones)
    has_gpus = Q(lost_expected__isnull=True) | ~Q(gpus=0)
    keyed = found.order_by().filter(by_flavor={}).annotate(is_typed=ExpressionWrapper(has_gpus, BooleanField()))
    for is_typed, *sums in keyed.values_list("is_typed").annotate(**SUMS):
        row = dict(zip(SUMS, sums, strict=True))
        yield gettext("unknown type") if is_typed else gettext("none"), row["count"], total_of(row)


def _label(by: SumBy, key: list[Any], sight: Sight, owners: Owners) -> str:
    if by in _IN_TIME:
        return f"{key[0]:%Y-%m}" if by == SumBy.MONTH else f"{key[0]:%Y-%m-%d}"
    if by == SumBy.PREEMPTOR:
        return _preemptor(sight, *key)
    if by == SumBy.TEAM:
        owner = owners.get((key[0], key[1]))
        return owner.name if owner else gettext("no team")
    return next(filter(None, key), gettext("none") if by == SumBy.PRIORITY else gettext("unknown"))


def _preemptor(sight: Sight, name: str | None, team: int | None, cluster: int, is_preempted: bool) -> str:
    if not is_preempted:
        return gettext("nobody")
    if not name:
        return gettext("unknown")
    if sight.everywhere or team in sight.teams or cluster in sight.clusters:
        return name
    return gettext("another team")
