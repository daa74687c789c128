"""What events add to evictions that the ledger knows by a counter alone: when each was decided, and for whom."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime

from django.db.models import F, Q

from gateways.records import EventRecord
from jobs.ledger.eviction_loops import renew_loops
from jobs.ledger.eviction_losses import hours_of_loss, write_losses
from jobs.ledger.late import Change, reopen
from jobs.ledger.preemptors import Preemptors, fill
from jobs.models import Eviction
from jobs.sync.eviction_notes import Note, joined, notes_of
from jobs.sync.owners import learn_checkpoints
from jobs.sync.unseen_evictions import vanished, write_unseen
from portal.write_path import batches, exclusive
from scheduling import names
from scheduling.evictions import event_reason
from scheduling.preemption_messages import parse_preemption
from teams.models import Cluster

_DATED = Q(decided_after=F("decided_before"))
_UNEXPLAINED = Q(reason=names.PREEMPTED, message="")
_FIELDS = (
    "decided_after", "decided_before", "message", "preemption", "preemptor", "preemptor_uid", "preemptor_job_uid",
    "preemptor_team", "preemptor_queue", "preemptor_priority", "preemptor_priority_class", "lacking", "preemptor_path",
    "preemptee_path", "checkpoint_at", "checkpoint_seconds", "checkpoint_source",
)  # fmt: skip


class ToldByEvents:
    """Collects the events of one list that tell what the ledger does not know; `write` stores it."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.events: dict[str, dict[str, EventRecord]] = defaultdict(dict)

    def take(self, events: Iterable[EventRecord]) -> None:
        """One page; one told again counts once, as it was told last."""
        telling = [event for event in events if event.about and event_reason(event.reason) is not None]
        wanted = self._wanted({event.about for event in telling})
        for event in telling:
            if event.about in wanted:
                self.events[event.about][event.uid] = event

    def _wanted(self, uids: Collection[str]) -> set[str]:
        if not uids:
            return set()
        unknown = Eviction.objects.filter(~_DATED | _UNEXPLAINED, cluster=self.cluster, workload__uid__in=uids)
        gone = vanished(self.cluster, uids)
        return {*unknown.values_list("workload__uid", flat=True), *gone.values_list("uid", flat=True)}

    def write(self, now: datetime) -> tuple[int, list[str]]:
        """Returns how many evictions are known better now, and a sentence per event that contradicts the ledger."""
        written, contradictions = 0, list[str]()
        for some in batches(sorted(self.events)):
            with exclusive(self.cluster.slug):
                write_unseen(self.cluster, {uid: list(self.events[uid].values()) for uid in some}, now)
                batch = _Batch(self.cluster, self._rows(some))
                for uid, rows in batch.by_uid.items():
                    contradictions += batch.learn(rows, list(self.events[uid].values()), now)
                written += batch.write()
        return written, contradictions

    def _rows(self, uids: Sequence[str]) -> Iterator[Eviction]:
        found = Eviction.objects.filter(cluster=self.cluster, workload__uid__in=uids)
        yield from found.select_related("workload", "span").order_by("decided_before", "ordinal")


class _Batch:
    """The evictions of some workloads. Use inside `exclusive(cluster)`."""

    def __init__(self, cluster: Cluster, rows: Iterable[Eviction]) -> None:
        self.cluster = cluster
        self.by_uid: dict[str, list[Eviction]] = defaultdict(list)
        for row in rows:
            self.by_uid[row.workload.uid].append(row)
        self.changed: dict[int, Eviction] = {}
        self.explained: list[Eviction] = []
        self.opened: list[Change] = []

    def learn(self, rows: Sequence[Eviction], events: Iterable[EventRecord], now: datetime) -> Iterator[str]:
        """What the events about one workload tell of its evictions."""
        before = {row.pk: (row.decided_after, row.decided_before) for row in rows}
        hours = {row.pk: hours_of_loss(row) for row in rows}
        found = joined(rows, notes_of(events), now)
        for row, note in found.pairs:
            self._apply(row, note)
        _narrow(rows)
        for row in rows:
            if before[row.pk] != (row.decided_after, row.decided_before):
                self.changed[row.pk] = row
                self.opened += [before[row.pk], hours[row.pk]]
        for note in found.contradicting:
            yield f"Workload {rows[0].workload}: an event tells of an eviction at {note.at} that no counter tells of"

    def _apply(self, row: Eviction, note: Note) -> None:
        if not row.is_dated:
            row.decided_after = row.decided_before = note.decided
            learn_checkpoints(row)
        if note.message and not row.message:
            row.message = note.message
            self.changed[row.pk] = row
            if row.reason == names.PREEMPTED:
                self.explained.append(row)

    def write(self) -> int:
        self._explain()
        rows = list(self.changed.values())
        Eviction.objects.bulk_update(rows, _FIELDS)
        renew_loops({row.workload_id for row in rows})
        for row in rows:
            _date_end(row)
        write_losses(rows)
        reopen(self.cluster, self.opened)
        return len(rows)

    def _explain(self) -> None:
        notices = {row.pk: parse_preemption(row.message) for row in self.explained}
        preemptors = Preemptors(self.cluster, notices.values())
        for row in self.explained:
            notice = notices[row.pk]
            row.preemption = row.preemption or notice.reason or ""
            row.preemptor_uid, row.preemptor_job_uid = notice.uid or "", notice.job_uid or ""
            row.preemptor_path, row.preemptee_path = (
                list(notice.preemptor_path or ()),
                list(notice.preemptee_path or ()),
            )
            fill(row, preemptors.of(notice, row.decided_before))


def _narrow(rows: Sequence[Eviction]) -> None:
    """Of one counter, each was decided after the one before it and before the next one."""
    counters: dict[tuple[str, str], list[Eviction]] = defaultdict(list)
    for row in rows:
        counters[row.reason, row.cause].append(row)
    for counted in counters.values():
        counted.sort(key=lambda row: row.ordinal)
        for earlier, row in zip(counted, counted[1:], strict=False):
            row.decided_after = min(max(row.decided_after, earlier.decided_after), row.decided_before)
        for row, later in zip(reversed(counted[:-1]), reversed(counted[1:]), strict=True):
            row.decided_before = max(min(row.decided_before, later.decided_before), row.decided_after)


def _date_end(row: Eviction) -> None:
    """The quota was held until the decision, at least."""
    span = row.span
    if not row.is_dated or span is None or span.evicted_at is not None:
        return
    if span.released_after is None or span.released_before is None:
        return
    if span.reserved_at <= row.decided_before <= span.released_before:
        span.evicted_at = row.decided_before
        span.released_after = max(span.released_after, row.decided_before)
        span.save(update_fields=["evicted_at", "released_after"])
