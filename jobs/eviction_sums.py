"""What evictions cost, added up by job, queue, preemptor, priority class, GPU type, week or month."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.utils.translation import gettext

from jobs.eviction_filter import SumBy
from jobs.eviction_list import Evictions
from jobs.lost_work import Total
from jobs.sight import Sight
from teams.gpu_models import gpu_model

MOST: Final = 50
"""So many of the largest sums are shown."""

_LOSS: Final = ("lost_low", "lost_expected", "lost_high", "stopping", "by_flavor")
_COLUMNS: Final[dict[SumBy, tuple[str, ...]]] = {
    SumBy.WORKLOAD: ("workload__owner_name", "workload__name"),
    SumBy.QUEUE: ("span__cluster_queue",),
    SumBy.PREEMPTOR: ("preemptor_team__name", "preemptor_team_id", "cluster_id", "preemptor_uid"),
    SumBy.PRIORITY: ("priority_class",),
    SumBy.FLAVOR: (),
    SumBy.WEEK: ("decided_before",),
    SumBy.MONTH: ("decided_before",),
}
_IN_TIME: Final = (SumBy.WEEK, SumBy.MONTH)


@dataclass(frozen=True, slots=True)
class Line:
    label: str
    count: int
    lost: Total


def sums(found: Evictions, by: SumBy, sight: Sight) -> list[Line]:
    """The largest first; weeks and months the latest first. Names are only those that the reader may know."""
    totals: dict[str, Total] = defaultdict(Total)
    counts: dict[str, int] = defaultdict(int)
    for *columns, low, expected, high, stopping, flavors in (
        found.order_by().values_list(*_COLUMNS[by], *_LOSS).iterator(chunk_size=2000)
    ):
        whole = _total(low, expected, high, stopping)
        parts = _by_flavor(flavors, whole) if by == SumBy.FLAVOR else [(_label(by, columns, sight), whole)]
        for label, total in parts:
            totals[label] += total
            counts[label] += 1
    lines = [Line(label, counts[label], total) for label, total in totals.items()]
    if by in _IN_TIME:
        return sorted(lines, key=lambda line: line.label, reverse=True)[:MOST]
    return sorted(lines, key=lambda line: (-line.lost.expected, line.label))[:MOST]


def _total(low: int | None, expected: int | None, high: int | None, stopping: int | None) -> Total:
    if low is None or expected is None or high is None:
        return Total(stopping=stopping or 0, unknown=1)
    return Total(low, expected, high, stopping or 0)


def _by_flavor(flavors: dict[str, list[int]], whole: Total) -> Iterator[tuple[str, Total]]:
    for flavor, (_, low, expected, high, stopping) in flavors.items():
        yield gpu_model(flavor), Total(low, expected, high, stopping)
    if not flavors:
        yield gettext("unknown") if whole.unknown else gettext("none"), whole


def _label(by: SumBy, columns: list[Any], sight: Sight) -> str:
    if by in _IN_TIME:
        return period(by, columns[0])
    if by == SumBy.PREEMPTOR:
        return _preemptor(sight, *columns)
    return next(filter(None, columns), gettext("none") if by == SumBy.PRIORITY else gettext("unknown"))


def _preemptor(sight: Sight, name: str | None, team: int | None, cluster: int, uid: str) -> str:
    if not name and not uid:
        return gettext("nobody")
    if sight.everywhere or team in sight.teams or cluster in sight.clusters:
        return name or gettext("unknown")
    return gettext("another team")


def period(by: SumBy, moment: datetime) -> str:
    """The month, or the Monday that its week began with; UTC."""
    day = moment.astimezone(UTC).date()
    return f"{day:%Y-%m}" if by == SumBy.MONTH else f"{day - timedelta(days=day.weekday()):%Y-%m-%d}"
