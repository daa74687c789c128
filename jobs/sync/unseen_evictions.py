"""Evictions that a workload vanished with before anybody looked: no counter tells of them any more, Kueue's events do.

What was written after the last look at a workload that is gone is known from them alone. They make a row as a counter
that moved would have; the events then date and explain it as any other (jobs/sync/told_by_events.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db.models import F, QuerySet

from gateways.records import EventRecord
from jobs.ledger.eviction_loops import renew_loops
from jobs.ledger.eviction_rows import default_intervals, interval_in_force
from jobs.ledger.late import reopen
from jobs.ledger.notice_rows import eviction_notice
from jobs.models import Eviction, Span, Workload
from jobs.rules.lost_work import Work
from jobs.sync.eviction_notes import SETTLED, Note, notes_of
from notices.outbox import post
from teams.models import Cluster, NamespaceBinding

_NEAR: Final = timedelta(seconds=2)


def vanished(cluster: Cluster, uids: Iterable[str]) -> "QuerySet[Workload]":
    """Those of these workloads that vanished at a moment that nobody saw."""
    return Workload.objects.filter(cluster=cluster, uid__in=uids, gone_after__lt=F("gone_before"))


def write_unseen(cluster: Cluster, events: Mapping[str, Sequence[EventRecord]], now: datetime) -> int:
    """Store what the events, by uid, tell of workloads that vanished unseen, and tell their people; returns how many
    evictions these are. Use inside `exclusive(cluster)`."""
    workloads = vanished(cluster, events).filter(gone_before__lt=now - SETTLED).select_related("cluster")
    intervals = default_intervals(cluster, {each.namespace for each in workloads})
    written: list[Eviction] = []
    for workload in workloads:
        stored = list(Eviction.objects.filter(workload=workload))
        for note in notes_of(events[workload.uid]).notes:
            if _is_news(note, workload, stored):
                row = _row(workload, note, stored, intervals.get(workload.namespace))
                row.save()
                stored.append(row)
                written.append(row)
    renew_loops({row.workload_id for row in written})
    reopen(cluster, [(row.decided_after, row.workload.gone_before) for row in written])
    _tell(cluster, written)
    return len(written)


def _is_news(note: Note, workload: Workload, stored: Iterable[Eviction]) -> bool:
    """Whether it happened after the last look and is not stored. What is told within seconds counts once."""
    if workload.gone_after is None or workload.gone_before is None:
        return False
    return workload.gone_after <= note.at <= workload.gone_before and not any(_tells_of(note, row) for row in stored)


def _tells_of(note: Note, row: Eviction) -> bool:
    fits = note.told.reason == row.reason and note.told.cause in (None, row.cause)
    return fits and row.decided_after - _NEAR <= note.decided <= row.decided_before + _NEAR


def _row(workload: Workload, note: Note, stored: Iterable[Eviction], interval: int | None) -> Eviction:
    reason, cause = note.told.reason, note.told.cause or ""
    seconds, source = interval_in_force(workload.status.get("checkpoint_interval", ""), interval)
    return Eviction(
        cluster=workload.cluster,
        namespace=workload.namespace,
        workload=workload,
        span=_span(workload, note),
        reason=reason,
        cause=cause,
        ordinal=1 + max((each.ordinal for each in stored if (each.reason, each.cause) == (reason, cause)), default=0),
        observed=False,
        decided_after=note.decided,
        decided_before=note.decided,
        priority=workload.priority,
        priority_class=workload.priority_class,
        work=workload.status.get("work") or Work.TRAINING,
        checkpoint_seconds=seconds,
        checkpoint_source=source,
    )


def _span(workload: Workload, note: Note) -> Span | None:
    """The hold that it ended, unless an eviction already did."""
    around = Span.objects.filter(workload=workload, reserved_at__lte=note.decided, released_before__gte=note.decided)
    return around.filter(evicted_at__isnull=True, evictions__isnull=True).order_by("-reserved_at").first()


def _tell(cluster: Cluster, rows: Iterable[Eviction]) -> None:
    owners = NamespaceBinding.objects.team_ids(cluster)
    post(eviction_notice(row, owners[row.namespace]) for row in rows if row.namespace in owners)
