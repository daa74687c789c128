"""Spans of a batch of workloads: what is open, what the looks change of it, and the rows to write."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from jobs.ledger.late import Change
from jobs.ledger.observed import Hold, Key, hold_of, past_hold_of, released_at
from jobs.models import Span, SpanUsage
from portal.write_path import upsert
from scheduling.names import EVICTED, QUOTA_RESERVED
from scheduling.objects import Workload

_SPAN = (
    "workload_id", "cluster_queue", "reserved_at", "admitted_at", "evicted_at", "released_after", "released_before",
    "end",
)  # fmt: skip
_SPAN_KEY = ("workload_id", "reserved_at")
_USAGE = ("span_id", "flavor", "resource", "amount", "valid_from", "valid_to")
_USAGE_KEY = ("span_id", "flavor", "resource", "valid_from")


@dataclass(frozen=True, slots=True)
class _Known:
    """The latest span of a workload. One that was closed goes on when the same hold is seen again: its workload had
    vanished or was deactivated for a moment."""

    hold: Hold
    released: tuple[datetime, datetime] | None
    since: dict[Key, datetime] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        return self.released is None


@dataclass(frozen=True, slots=True)
class _Ended:
    workload_id: int
    hold: Hold
    after: datetime
    before: datetime
    end: Span.End

    @property
    def row(self) -> tuple[Any, ...]:
        return _span_row(self.workload_id, self.hold, self.after, self.before, self.end)


def _span_row(
    workload_id: int, hold: Hold, after: datetime | None, before: datetime | None, end: str
) -> tuple[Any, ...]:
    return (workload_id, hold.cluster_queue, hold.reserved_at, hold.admitted_at, hold.evicted_at, after, before, end)


class SpanWriter:
    """Collects the changes of one batch; `write` stores them. Use inside `exclusive(cluster)`. `stored`: the workloads
    of the batch that were stored before it."""

    def __init__(self, stored: Collection[int], *, now: datetime, last_seen: datetime) -> None:
        self.now, self.last_seen = now, last_seen
        self.known, self.closed = _read(stored)
        self.ended: dict[tuple[int, datetime], _Ended] = {}
        self.held: dict[int, Hold] = {}
        self.decided: dict[tuple[int, datetime], datetime] = {}
        self.unseen: dict[int, datetime] = {}
        self.touched: set[str] = set()

    def held_since(self, workload_id: int) -> datetime | None:
        """When the latest stored hold began."""
        known = self.known.get(workload_id)
        return known.hold.reserved_at if known else None

    def look(self, workload_id: int, workload: Workload, evictions: int = 0) -> None:
        """One look at a workload that is in the cluster, which tells of so many evictions that were not known."""
        hold, past, known = hold_of(workload), past_hold_of(workload), self.known.get(workload_id)
        if past is not None:
            self._finish(workload_id, workload, past, known)
        elif hold is not None:
            self._hold(workload_id, hold, known)
        elif known is not None and known.is_open:
            self._release(workload_id, workload, known, evictions)
        elif known is not None and known.hold.evicted_at is None:
            self._date_eviction(workload_id, workload, known.hold)

    def end(self, workload_id: int, after: datetime, before: datetime, end: Span.End) -> None:
        """The workload vanished: what it held came back in between, unless its last look told a better end."""
        held = self.held.pop(workload_id, None)
        known = self.known.get(workload_id)
        hold = held or (known.hold if known and known.is_open else None)
        if hold is not None:
            self._close(workload_id, hold, after, before, end)

    def _finish(self, workload_id: int, workload: Workload, past: Hold, known: _Known | None) -> None:
        if (workload_id, past.reserved_at) in self.closed:
            return
        if known and known.is_open and known.hold.reserved_at != past.reserved_at:
            self._lose_sight(workload_id, known.hold, past.reserved_at)
        finished = released_at(workload, past.reserved_at)
        self._close(workload_id, past, finished or self.last_seen, finished or self.now, Span.End.FINISHED)

    def _hold(self, workload_id: int, hold: Hold, known: _Known | None) -> None:
        if known and known.is_open:
            if known.hold == hold:
                return
            if known.hold.reserved_at != hold.reserved_at:
                self._lose_sight(workload_id, known.hold, hold.reserved_at)
        self.held[workload_id] = hold
        self.touched.add(hold.cluster_queue)
        if known:
            self.touched.add(known.hold.cluster_queue)

    def _lose_sight(self, workload_id: int, hold: Hold, before: datetime, end: Span.End = Span.End.UNSEEN) -> None:
        """The hold ended unseen, before something that was seen."""
        if hold.evicted_at is None:
            self.unseen[workload_id] = hold.reserved_at
        self._close(workload_id, hold, self.last_seen, before, end)

    def _release(self, workload_id: int, workload: Workload, known: _Known, evictions: int) -> None:
        hold = known.hold
        released = released_at(workload, hold.reserved_at)
        evicted = _evicted_since(workload, hold)
        if evicted and (evictions > 1 or hold.evicted_at not in (None, evicted)):
            # The eviction that is told ended another hold, which nobody saw.
            return self._lose_sight(workload_id, hold, evicted, Span.End.EVICTED)
        end = Span.End.FINISHED if workload.is_finished else Span.End.EVICTED
        self._close(
            workload_id,
            replace(hold, evicted_at=evicted or hold.evicted_at),
            released or self.last_seen,
            released or self.now,
            end,
        )

    def _date_eviction(self, workload_id: int, workload: Workload, hold: Hold) -> None:
        decided = _belated_eviction(workload, hold)
        if decided is not None:
            self.decided[workload_id, hold.reserved_at] = decided

    def _close(self, workload_id: int, hold: Hold, after: datetime, before: datetime, end: Span.End) -> None:
        # The cluster's clock may be off, and a watch may leave states out: no span ends after the next one begins.
        before = max(before, hold.reserved_at)
        after = max(min(after, before), hold.reserved_at)
        self.ended.setdefault((workload_id, hold.reserved_at), _Ended(workload_id, hold, after, before, end))
        self.touched.add(hold.cluster_queue)

    def write(self) -> set[str]:
        """Store spans and usages; returns the ClusterQueues whose holds changed."""
        ended = [each.row for each in self.ended.values()]
        held = [_span_row(pk, hold, None, None, "") for pk, hold in self.held.items()]
        upsert(Span, _SPAN, [*ended, *held], key=_SPAN_KEY)  # in this order, since only one may be open
        unknown = [(each.workload_id, each.hold) for each in self.ended.values() if not self._is_stored(each)]
        self._write_usages([*unknown, *self.held.items()])
        for (workload_id, reserved_at), evicted_at in self.decided.items():
            span = Span.objects.filter(workload_id=workload_id, reserved_at=reserved_at)
            span.update(evicted_at=evicted_at)
            # Its quota came back when it was switched off, for which it is evicted: the look came a moment later.
            span.filter(released_before__gte=evicted_at).update(released_after=evicted_at, released_before=evicted_at)
        return self.touched

    @property
    def moved(self) -> set[int]:
        """The workloads whose holds began, changed or ended."""
        return {pk for pk, _ in (*self.ended, *self.decided)} | self.held.keys()

    def changes(self) -> Iterable[Change]:
        """From when to when each hold differs from what was stored."""
        for ended in self.ended.values():
            known = self._same_span(ended.workload_id, ended.hold)
            if known is None:
                yield ended.hold.reserved_at, ended.before
            elif known.hold.cluster_queue != ended.hold.cluster_queue:
                yield ended.hold.reserved_at, None
            elif known.released is None:
                yield ended.after, None
            elif known.released != (ended.after, ended.before):
                yield min(known.released[0], ended.after), max(known.released[1], ended.before)
        for (workload_id, _), evicted_at in self.decided.items():
            released = self.known[workload_id].released
            if released and released[1] > evicted_at:
                yield min(released[0], evicted_at), released[1]
        for workload_id, hold in self.held.items():
            known = self._same_span(workload_id, hold)
            if known is None or known.hold.cluster_queue != hold.cluster_queue:
                yield hold.reserved_at, None
            elif known.released:
                yield known.released[0], None

    def _is_stored(self, ended: _Ended) -> bool:
        return self._same_span(ended.workload_id, ended.hold) is not None

    def _write_usages(self, holds: list[tuple[int, Hold]]) -> None:
        ids = _span_ids(workload_id for workload_id, _ in holds)
        rows: list[tuple[Any, ...]] = []
        for workload_id, hold in holds:
            span_id = ids[workload_id, hold.reserved_at]
            rows += self._usage_rows(span_id, hold, self._same_span(workload_id, hold))
        upsert(SpanUsage, _USAGE, rows, key=_USAGE_KEY)

    def _same_span(self, workload_id: int, hold: Hold) -> _Known | None:
        known = self.known.get(workload_id)
        return known if known and known.hold.reserved_at == hold.reserved_at else None

    def _usage_rows(self, span_id: int, hold: Hold, known: _Known | None) -> Iterable[tuple[Any, ...]]:
        """What changed: ended rows first, since only one may be open per key."""
        before = known.hold.amounts if known else {}
        since = known.since if known else {}
        for (flavor, resource), amount in before.items():
            if hold.amounts.get((flavor, resource)) != amount:
                start = since[flavor, resource]
                yield (span_id, flavor, resource, amount, start, self._change_time(hold, start))
        for (flavor, resource), amount in hold.amounts.items():
            if before.get((flavor, resource)) != amount:
                start = self._change_time(hold, since.get((flavor, resource))) if known else hold.reserved_at
                yield (span_id, flavor, resource, amount, start, None)

    def _change_time(self, hold: Hold, start: datetime | None) -> datetime:
        now = max(self.now, hold.reserved_at)
        return max(now, start + timedelta(microseconds=1)) if start else now


def _evicted_since(workload: Workload, hold: Hold) -> datetime | None:
    since = workload.since(EVICTED) if workload.is_true(EVICTED) else None
    return since if since and since >= hold.reserved_at else None


def _belated_eviction(workload: Workload, hold: Hold) -> datetime | None:
    """When the eviction was decided that ended this hold, though its quota had come back before: a workload that is
    switched off counts no more from then on."""
    evicted, moved = _evicted_since(workload, hold), workload.since(QUOTA_RESERVED)
    if evicted is None or moved is None:
        return None
    is_same_hold = moved == hold.reserved_at if workload.is_true(QUOTA_RESERVED) else evicted <= moved
    return evicted if is_same_hold else None


def _read(workload_ids: Collection[int]) -> tuple[dict[int, _Known], set[tuple[int, datetime]]]:
    """The latest span of each workload, and the keys of the spans whose end is final."""
    latest: dict[int, Span] = {}
    over: set[tuple[int, datetime]] = set()
    for span in Span.objects.filter(workload_id__in=workload_ids).order_by("reserved_at"):
        latest[span.workload_id] = span
        if span.released_before is not None and span.end != Span.End.DELETED:
            over.add((span.workload_id, span.reserved_at))
    known = {span.pk: _known(span) for span in latest.values()}
    usages = SpanUsage.objects.filter(span_id__in=known, valid_to__isnull=True)
    for span_id, flavor, resource, amount, since in usages.values_list(
        "span_id", "flavor", "resource", "amount", "valid_from"
    ):
        known[span_id].hold.amounts[flavor, resource] = amount
        known[span_id].since[flavor, resource] = since
    return {workload_id: known[span.pk] for workload_id, span in latest.items()}, over


def _known(span: Span) -> _Known:
    hold = Hold(span.cluster_queue, span.reserved_at, span.admitted_at, span.evicted_at, {})
    after, before = span.released_after, span.released_before
    return _Known(hold, (after, before) if after and before else None)


def _span_ids(workload_ids: Iterable[int]) -> dict[tuple[int, datetime], int]:
    rows = Span.objects.filter(workload_id__in=set(workload_ids)).values_list("workload_id", "reserved_at", "id")
    return {(workload_id, reserved_at): pk for workload_id, reserved_at, pk in rows}
