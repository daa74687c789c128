"""Evictions of workloads that the ledger never saw, as Kueue's events alone tell of them, and whom to tell of them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime

from gateways.records import EventRecord
from jobs.ledger.notice_rows import notice_of_told
from jobs.models import ToldEviction, Workload
from jobs.sync.eviction_notes import SETTLED, notes_of
from jobs.sync.sources import begun_at
from notices.outbox import post
from portal.write_path import exclusive
from scheduling import names
from scheduling.evictions import event_reason
from scheduling.preemption_messages import parse_preemption
from teams.models import Cluster, NamespaceBinding


class ToldAlone:
    """Collects the events of one list about workloads that the ledger does not know; `write` stores what they tell."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.known: set[str] = set()
        self.events: dict[str, dict[str, EventRecord]] = defaultdict(dict)

    def take(self, events: Iterable[EventRecord]) -> None:
        """One page; one told again counts once, as it was told last."""
        telling = [event for event in events if event.about and event_reason(event.reason) is not None]
        uids = {event.about for event in telling} - self.events.keys() - self.known
        known = Workload.objects.filter(cluster=self.cluster, uid__in=uids)
        self.known.update(known.values_list("uid", flat=True) if uids else ())
        for event in telling:
            if event.about not in self.known:
                self.events[event.about][event.uid] = event

    def write(self, now: datetime, read_at: datetime | None) -> int:
        """Store what is news and tell its people; returns how many evictions these are. `read_at`: when the workloads
        were last read; what happened since may still be of one that the next list holds."""
        if read_at is None:
            return 0
        with exclusive(self.cluster.slug):
            ToldEviction.objects.filter(cluster=self.cluster, workload_uid__in=self.known).delete()
            found = [row for row in self._rows() if row.at < min(now - SETTLED, read_at)]
            stored = ToldEviction.objects.filter(
                cluster=self.cluster, workload_uid__in={row.workload_uid for row in found}
            )
            there = {_key(row) for row in stored}
            written = ToldEviction.objects.bulk_create(row for row in found if _key(row) not in there)
            self._tell(written)
            return len(written)

    def _tell(self, rows: Iterable[ToldEviction]) -> None:
        """Not of those of before the portal came."""
        owners, begun = NamespaceBinding.objects.team_ids(self.cluster), begun_at(self.cluster)
        ours = (row for row in rows if row.namespace in owners and begun is not None and row.at > begun)
        post(notice_of_told(row, owners[row.namespace]) for row in ours)

    def _rows(self) -> Iterator[ToldEviction]:
        for uid, events in self.events.items():
            about = next(iter(events.values()))
            for note in notes_of(events.values()).notes:
                is_preempted = note.told.reason == names.PREEMPTED
                yield ToldEviction(
                    cluster=self.cluster,
                    namespace=about.namespace,
                    workload_uid=uid,
                    workload_name=about.name,
                    reason=note.told.reason,
                    cause=note.told.cause or "",
                    preemption=(parse_preemption(note.message).reason or "") if is_preempted else "",
                    at=note.decided,
                )


def _key(row: ToldEviction) -> tuple[str, str, str, datetime]:
    return row.workload_uid, row.reason, row.cause, row.at
