"""The hours of a cluster: rolled up once everything of them was read, and again where late facts touched them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias

from django.db import models

from jobs.ledger.late import hour_of
from jobs.models import ClosedHours, PendingHour, QueueHour, ReopenedHours, TeamHour
from jobs.sync.sources import LIVE, begun_at
from jobs.usage.hour_facts import HourFacts
from portal.models import SourceState
from portal.write_path import BATCH, batches, exclusive
from scheduling.hour_rows import Stretch, micros
from scheduling.hours import Hours, roll_up
from scheduling.quantities import saturate
from teams.models import Cluster

GRACE: Final = timedelta(minutes=2)
"""How long after its end an hour stays open for facts that are on their way."""

_AT_ONCE: Final = timedelta(days=1)  # a month's facts would fill the memory and hold up all other writers
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_QUEUE: Final = (
    "hour", "cluster_queue", "flavor", "resource", "guaranteed", "used", "borrowed", "lent_low", "lent_high", "unknown",
)  # fmt: skip
_LOST: Final = ("lost_low", "lost_expected", "lost_high", "lost_unknown")
_TEAM: Final = ("hour", "team_id", "cluster_queue", "flavor", "resource", "own", "borrowed", "unknown", *_LOST)
_PENDING: Final = ("hour", "team_id", "cluster_queue", "resource", "waiting", "unknown")

Row: TypeAlias = tuple[Any, ...]
Window: TypeAlias = tuple[datetime, datetime]


def close_hours(cluster: Cluster, now: datetime) -> int:
    """Roll up the hours that ended since the last time, then those opened again; returns how many rows changed."""
    closed, until = _closed_hours(cluster), _read_until(cluster, now)
    if closed is None:
        return 0
    changed = 0
    for start, end in _days(closed.until, until) if until else ():
        with exclusive(cluster.slug):
            if ClosedHours.objects.filter(pk=closed.pk, until=start).update(until=end):  # else another worker did
                changed += _roll_up(cluster, closed.begun_at, start, end)
    return changed + _roll_up_reopened(cluster, closed.begun_at)


def rebuild_hours(cluster: Cluster) -> int:
    """Roll up every closed hour again; returns how many rows differed from what the ledger says."""
    closed = ClosedHours.objects.filter(cluster=cluster).first()
    if closed is None:
        return 0
    differing = 0
    for start, end in _days(hour_of(closed.begun_at), closed.until):
        with exclusive(cluster.slug):
            differing += _roll_up(cluster, closed.begun_at, start, end)
    return differing


def _closed_hours(cluster: Cluster) -> ClosedHours | None:
    """The cluster's row; at first with no hour closed. None while nothing was read."""
    closed = ClosedHours.objects.filter(cluster=cluster).first()
    begun = None if closed else begun_at(cluster)
    if begun:
        fresh = {"begun_at": begun, "until": hour_of(begun)}
        closed, _ = ClosedHours.objects.get_or_create(cluster=cluster, defaults=fresh)
    return closed


def _read_until(cluster: Cluster, now: datetime) -> datetime | None:
    """Up to which hour everything was read; None while something never was."""
    states = SourceState.objects.filter(cluster=cluster.slug, source__in=LIVE, last_good_at__isnull=False)
    reads = [read for read in states.values_list("last_good_at", flat=True) if read]
    return hour_of(min(now - GRACE, *reads)) if len(reads) == len(LIVE) else None


def _days(start: datetime, end: datetime) -> Iterator[Window]:
    while start < end:
        stop = min(start + _AT_ONCE, end)
        yield start, stop
        start = stop


def _roll_up_reopened(cluster: Cluster, begun_at: datetime) -> int:
    rows = list(ReopenedHours.objects.filter(cluster=cluster).order_by("start"))
    reopened = ReopenedHours.objects.filter(pk__in=[row.pk for row in rows])
    changed = 0
    for start, end in _joined((row.start, row.end) for row in rows):
        for day in _days(start, end):
            with exclusive(cluster.slug):
                changed += _roll_up(cluster, begun_at, *day)
                reopened.filter(end__lte=day[1]).delete()
                reopened.filter(start__lt=day[1]).update(start=day[1])  # whoever is interrupted begins there
    return changed


def _joined(windows: Iterable[Window]) -> list[Window]:
    """Windows in order of their start, with those that touch made one."""
    found: list[Window] = []
    for start, end in windows:
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def _roll_up(cluster: Cluster, begun_at: datetime, start: datetime, end: datetime) -> int:
    """Bring the hours of the window up to the ledger; returns how many rows differed. Use inside `exclusive`."""
    known_from = max(start, begun_at)
    facts = HourFacts(cluster, known_from, end, LIVE).read()
    unseen = [(micros(start), micros(known_from)), *facts.gaps]
    hours = roll_up(Stretch(micros(start), micros(end)), replace(facts, gaps=unseen))
    return sum(_store(model, columns, cluster, (start, end), rows) for model, columns, rows in _tables(hours))


def _tables(hours: Hours) -> list[tuple[type[models.Model], Sequence[str], Sequence[Row]]]:
    return [(QueueHour, _QUEUE, hours.queues), (TeamHour, _TEAM, hours.teams), (PendingHour, _PENDING, hours.pending)]


def _store(
    model: type[models.Model], columns: Sequence[str], cluster: Cluster, window: Window, rows: Sequence[Row]
) -> int:
    manager = model._default_manager
    found = manager.filter(cluster=cluster, hour__gte=window[0], hour__lt=window[1])
    stored = {row[1:]: row[0] for row in found.values_list("pk", *columns)}
    wanted = {_storable(row) for row in rows}
    stale = [pk for row, pk in stored.items() if row not in wanted]
    for some in batches(stale):
        manager.filter(pk__in=some).delete()
    new = [model(cluster=cluster, **dict(zip(columns, row, strict=True))) for row in wanted if row not in stored]
    manager.bulk_create(new, batch_size=BATCH)
    return max(len(stale), len(new))


def _storable(row: Row) -> Row:
    hour, *rest = row
    amounts = (saturate(value) if isinstance(value, int) else value for value in rest)
    return (_EPOCH + timedelta(microseconds=hour), *amounts)
