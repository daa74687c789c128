"""Looks at workloads into Workload, Span, SpanUsage and Eviction rows: the one comparison that list and watch share.

What is stored is compared with what was seen, in batches of at most `write_path.BATCH`, each in one short transaction
under the cluster's lock. An object is skipped unless it is newer than what is stored: batches may come late or twice.
Of several looks at one workload all those are stored, one after the other, whose holds or evictions the next one hides.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db import DataError

from jobs.ledger import now as caches
from jobs.ledger.eviction_rows import EvictionWriter
from jobs.ledger.interruption_rows import renew
from jobs.ledger.json_keys import in_json
from jobs.ledger.late import Change, reopen
from jobs.ledger.notice_rows import tell
from jobs.ledger.observed import COLUMNS, row_of
from jobs.ledger.rounds import in_rounds
from jobs.ledger.span_rows import SpanWriter
from jobs.models import Span, Workload
from jobs.rules.waits import paused_at
from jobs.states import OVER, JobState
from portal.write_path import BATCH, exclusive, upsert
from scheduling import objects
from scheduling.names import EVICTED, FINISHED
from scheduling.quantities import BadQuantity
from teams.models import Cluster


@dataclass(frozen=True, slots=True)
class Vanished:
    """A workload that vanished between `after` and `before`, known at `resource_version` of the whole list; not
    believed if it was seen later than that. `watched`: its deletion itself was seen."""

    uid: str
    resource_version: int
    after: datetime
    before: datetime
    watched: bool


class _Stored(NamedTuple):
    """What stands of a workload: its place in the ledger, and what its past waiting follows from."""

    id: int
    resource_version: int
    gone_version: int | None
    state: str
    gone_after: datetime | None
    finished_at: datetime | None
    queue_name: str
    gpus: int
    submitted_by: str | None
    paused: bool | None
    evicted: bool | None
    evicted_at: str | None


def write_workloads(
    cluster: Cluster,
    records: Sequence[objects.Workload],
    gone: Sequence[Vanished] = (),
    *,
    as_of: int | None = None,
    now: datetime,
    last_seen: datetime | None,
) -> tuple[int, list[str]]:
    """Bring the ledger up to these looks; returns how many workloads changed and a sentence per unreadable one.

    `as_of` is the resourceVersion of the list they come from, None for single looks. `last_seen` is when the workloads
    of this cluster were last known to be as stored: what changed unseen did so after.
    """
    written, malformed = 0, []
    for part, vanished in _transactions(in_rounds(records), gone):
        looks, unread = _looks(part, cluster, now)
        changed, unstored = _store(cluster, looks, vanished, as_of=as_of, now=now, last_seen=last_seen or now)
        written += changed
        malformed += unread + unstored
    return written, malformed


def _transactions(
    rounds: Sequence[Sequence[objects.Workload]], gone: Sequence[Vanished]
) -> Iterator[tuple[Sequence[objects.Workload], Sequence[Vanished]]]:
    """What is stored at once; who vanished goes with the last round."""
    for number, looks in enumerate(rounds, 1):
        vanished = gone if number == len(rounds) else ()
        for start in range(0, max(len(looks), len(vanished)), BATCH):
            yield looks[start : start + BATCH], vanished[start : start + BATCH]


Look = tuple[objects.Workload, tuple[Any, ...]]


def _store(
    cluster: Cluster,
    looks: Sequence[Look],
    gone: Sequence[Vanished],
    *,
    as_of: int | None,
    now: datetime,
    last_seen: datetime,
) -> tuple[int, list[str]]:
    """One transaction; where the database cannot take it, the halves apart, until the object at fault stands alone."""
    try:
        with exclusive(cluster.slug):
            return _Batch(cluster, looks, gone, as_of).write(now, last_seen), []
    except (DataError, OverflowError, TypeError) as error:
        if not looks:
            raise
        if len(looks) == 1 and not gone:
            return 0, [f"Workload {looks[0][0].key} cannot be stored: {_first_line(error)}"]
    middle = len(looks) // 2
    parts: list[tuple[Sequence[Look], Sequence[Vanished]]] = [(looks[:middle], ()), (looks[middle:], ()), ((), gone)]
    stored = [_store(cluster, *part, as_of=as_of, now=now, last_seen=last_seen) for part in parts]
    return sum(changed for changed, _ in stored), [sentence for _, unstored in stored for sentence in unstored]


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _looks(records: Iterable[objects.Workload], cluster: Cluster, now: datetime) -> tuple[list[Look], list[str]]:
    looks: list[Look] = []
    malformed = []
    for record in records:
        try:
            looks.append((record, row_of(record, cluster.pk, now)))
        except (BadQuantity, TypeError, AttributeError, KeyError) as error:
            malformed.append(f"Workload {record.key}: {error}")
    return looks, malformed


_FROM_JSON = (
    in_json("status", "deactivated"),
    in_json("conditions", EVICTED, "status"),
    in_json("conditions", EVICTED, "since"),
)


class _Batch:
    """One transaction's worth of looks, compared with what is stored."""

    def __init__(self, cluster: Cluster, looks: Sequence[Look], gone: Sequence[Vanished], as_of: int | None) -> None:
        self.cluster = cluster
        self.stored = self._read([record.uid for record, _ in looks] + [each.uid for each in gone])
        self.fresh = [look for look in looks if self._is_news(look[0], as_of)]
        self.ids = {uid: stored.id for uid, stored in self.stored.items()}
        arriving = {record.uid for record, _ in self.fresh}
        self.gone = [each for each in gone if self._is_gone(each, arriving)]

    def _read(self, uids: list[str]) -> dict[str, _Stored]:
        rows = Workload.objects.filter(cluster=self.cluster, uid__in=uids)
        values = rows.values_list(
            "uid", "id", "resource_version", "gone_version", "state", "gone_after", "finished_at", "queue_name", "gpus",
            "submitted_by", *_FROM_JSON,
        )  # fmt: skip
        return {uid: _Stored(*stored) for uid, *stored in values}

    def _is_news(self, record: objects.Workload, as_of: int | None) -> bool:
        stored = self.stored.get(record.uid)
        if stored is None:
            return True
        if stored.gone_version is not None:
            return (as_of or record.resource_version) > stored.gone_version
        return record.resource_version > stored.resource_version

    def _is_gone(self, gone: Vanished, arriving: set[str]) -> bool:
        stored = self.stored.get(gone.uid)
        if stored is None:
            return gone.uid in arriving
        return stored.gone_version is None and stored.resource_version <= gone.resource_version

    def write(self, now: datetime, last_seen: datetime) -> int:
        """Returns how many workloads changed."""
        if not self.fresh and not self.gone:
            return 0
        looks = [record for record, _ in self.fresh]
        evictions = EvictionWriter(self.cluster, looks, self.ids, now=now, last_seen=last_seen)
        upsert(Workload, COLUMNS, [row for _, row in self.fresh], key=("cluster_id", "uid"), keep=("first_seen_at",))
        spans = SpanWriter([self.ids[uid] for uid in self._touched() & self.ids.keys()], now=now, last_seen=last_seen)
        self._learn_ids()
        for record in looks:
            pk = self.ids[record.uid]
            spans.look(pk, record, evictions.look(pk, record, spans.held_since(pk)))
        for each in self.gone:
            spans.end(self.ids[each.uid], each.after, each.before, Span.End.DELETED)
        touched = spans.write()
        renew(self.cluster, spans.moved)
        written = evictions.write(spans.known, spans.unseen)
        states = {uid: stored.state for uid, stored in self.stored.items()}
        submitters = {uid: stored.submitted_by or "" for uid, stored in self.stored.items()}
        tell(self.cluster, looks, states, written, submitters, now=now, last_seen=last_seen)
        self._mark_gone()
        reopen(self.cluster, [*spans.changes(), *self._waiting_changes()])
        caches.refresh(self.cluster, touched)
        return len(self._touched())

    def _waiting_changes(self) -> Iterator[Change]:
        """From when on the waiting differs from what was stored, apart from holds."""
        for record, row in self.fresh:
            since = _waiting_changed(self.stored.get(record.uid), record, row)
            if since is not None:
                yield since, None
        yield from ((each.after, None) for each in self.gone)

    def _touched(self) -> set[str]:
        return {record.uid for record, _ in self.fresh} | {each.uid for each in self.gone}

    def _learn_ids(self) -> None:
        new = [record.uid for record, _ in self.fresh if record.uid not in self.ids]
        if new:
            rows = Workload.objects.filter(cluster=self.cluster, uid__in=new)
            self.ids.update(rows.values_list("uid", "id"))

    def _mark_gone(self) -> None:
        for each in self.gone:
            row = Workload.objects.filter(pk=self.ids[each.uid])
            row.update(gone_after=each.after, gone_before=each.before, gone_version=each.resource_version)
            state = JobState.CANCELLED if each.watched else JobState.ENDED
            row.exclude(state__in=OVER).update(state=state, since=each.before)


_QUEUE_NAME, _GPUS, _CREATED_AT = (COLUMNS.index(name) for name in ("queue_name", "gpus", "created_at"))


def _waiting_changed(stored: _Stored | None, record: objects.Workload, row: tuple[Any, ...]) -> datetime | None:
    created_at: datetime = row[_CREATED_AT]
    if stored is None or (stored.queue_name, stored.gpus) != (row[_QUEUE_NAME], row[_GPUS]):
        return created_at
    was = (stored.finished_at, _was_paused_at(stored, created_at), stored.gone_after)
    now = (record.since(FINISHED) if record.is_finished else None, _paused_at(record, created_at), None)
    differing = [pair for pair in zip(was, now, strict=True) if pair[0] != pair[1]]
    return min((time for pair in differing for time in pair if time), default=None)


def _was_paused_at(stored: _Stored, created_at: datetime) -> datetime | None:
    evicted_at = datetime.fromisoformat(stored.evicted_at) if stored.evicted_at else None
    return paused_at(created_at, is_paused=bool(stored.paused), is_evicted=stored.evicted, evicted_at=evicted_at)


def _paused_at(record: objects.Workload, created_at: datetime) -> datetime | None:
    is_evicted, evicted_at = record.is_true(EVICTED), record.since(EVICTED)
    return paused_at(created_at, is_paused=not record.active, is_evicted=is_evicted, evicted_at=evicted_at)
