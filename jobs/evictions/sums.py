"""What evictions cost, added up by team, job, queue, preemptor, priority class, GPU type, week or month.

Weeks begin on Monday; weeks and months are UTC's.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.db import connection
from django.db.models import Case, DateField, F, Func, Q, Value, When
from django.db.models.lookups import Exact
from django.utils.translation import gettext

from jobs.evictions.filter import SumBy
from jobs.evictions.list import SUMS, Evictions, Tally, total_of
from jobs.lists.reach import Owners
from jobs.rules.lost_work import Total
from jobs.sight import Sight
from scheduling.names import PREEMPTED
from teams.gpu_models import gpu_model

MOST: Final = 50
"""So many of the largest sums are shown."""


class _Day(Func):
    """The UTC day of a time: SQLite tells it without a call of Python for each row."""

    output_field = DateField()
    arity = 1
    template = "CAST(%(expressions)s AT TIME ZONE 'UTC' AS date)"

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, template="substr(%(expressions)s, 1, 10)", **extra)


_HAS_GPUS: Final = Case(When(flavor="", then=Q(lost_expected__isnull=True) | ~Q(gpus=0)), default=Value(True))
"""What it held is of no known type, or nothing at all: told apart where there is no flavor."""

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
    SumBy.FLAVOR: (F("flavor"), _HAS_GPUS),
    SumBy.WEEK: (_Day("decided_before"),),
    SumBy.MONTH: (_Day("decided_before"),),
}
_JSON_EACH: Final = {"postgresql": "jsonb_each", "sqlite": "json_each"}
_PARTS: Final = """
    SELECT part.key, COUNT(*), COUNT(*) - COUNT(found.stopping),
        SUM(CAST(part.value ->> 1 AS bigint)), SUM(CAST(part.value ->> 2 AS bigint)),
        SUM(CAST(part.value ->> 3 AS bigint)), SUM(CAST(part.value ->> 4 AS bigint))
    FROM ({found}) AS found, {each}(found.by_flavor) AS part GROUP BY part.key
"""


@dataclass(frozen=True, slots=True)
class Line:
    label: str
    count: int
    lost: Total


def sums(found: Evictions, by: SumBy, sight: Sight, owners: Owners) -> tuple[list[Line], Tally]:
    """The largest first, weeks and months the latest first; and what all of them make. Names are only those that the
    reader may know. A team is the one that owns the namespace now."""
    keys = {f"key_{number}": key for number, key in enumerate(_KEYS[by])}
    rows = list(found.order_by().annotate(**keys).values(*keys).annotate(**SUMS))
    parts = [_Part([row[name] for name in keys], row["count"], total_of(row)) for row in rows]
    whole = Tally(sum(part.count for part in parts), sum((part.lost for part in parts), Total()))
    lines: dict[str, Line] = {}
    for part in _split(found, parts) if by == SumBy.FLAVOR else parts:
        label = _label(by, part.key, sight, owners)
        before = lines.get(label, Line(label, 0, Total()))
        lines[label] = Line(label, before.count + part.count, before.lost + part.lost)
    return _in_order(lines.values(), by)[:MOST], whole


def _in_order(lines: Iterable[Line], by: SumBy) -> list[Line]:
    if by.is_of_time:
        return sorted(lines, key=lambda line: line.label, reverse=True)
    return sorted(lines, key=lambda line: (-line.lost.expected, line.label))


@dataclass(frozen=True, slots=True)
class _Part:
    """What has this key in common."""

    key: list[Any]
    count: int
    lost: Total


def _split(found: Evictions, parts: Iterable[_Part]) -> Iterator[_Part]:
    """What held several flavors goes to each by its part."""
    for part in parts:
        if part.key[0] is not None:
            yield part
        else:
            yield from _by_part(found.filter(flavor__isnull=True))


def _by_part(found: Evictions) -> Iterator[_Part]:
    inner, params = found.order_by().values("by_flavor", "stopping").query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(_PARTS.format(found=inner, each=_JSON_EACH[connection.vendor]), params)
        for flavor, count, open_ones, *losses in cursor.fetchall():
            low, expected, high, stopping = map(int, losses)
            yield _Part([flavor, True], count, Total(low, expected, high, stopping, 0, open_ones))


def _label(by: SumBy, key: list[Any], sight: Sight, owners: Owners) -> str:
    if by == SumBy.MONTH:
        return f"{key[0]:%Y-%m}"
    if by == SumBy.WEEK:
        return f"{key[0] - timedelta(days=key[0].weekday()):%Y-%m-%d}"
    if by == SumBy.PREEMPTOR:
        return _preemptor(sight, *key)
    if by == SumBy.FLAVOR:
        return gpu_model(key[0]) if key[0] else gettext("unknown type") if key[1] else gettext("none")
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
