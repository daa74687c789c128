"""A list of one kind, page by page into the ledger, and at its end what is absent. Pulls and watches share it.

What a list does not hold is marked gone only when the list was complete, and only if the ledger has nothing newer. A
list that would mark more than half of what is live must be read again before it is believed.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from gateways.errors import BadReply, NotFound
from gateways.kueue import Kueue
from gateways.records import ObjectVersion, Page
from jobs.ledger import now as caches
from jobs.ledger.writing import Vanished, write_workloads
from jobs.models import Workload
from portal.sync_runs import Counts
from portal.write_path import BATCH, exclusive
from scheduling import objects
from teams.models import Cluster, SpecVersion
from teams.sync import QueueRecord, line_name, live_names, write_deleted, write_specs

Clock: TypeAlias = Callable[[], datetime]
Kind = SpecVersion.Kind

FEED_CACHES = (Kind.CLUSTER_QUEUE, Kind.COHORT)
"""Kinds whose specs decide what is borrowed, lent and free."""


def is_doubtful(absent: Collection[object], live: Collection[object]) -> bool:
    """Whether so much is absent that the list must be read again before it is believed."""
    return 2 * len(absent) > len(live)


class SpecListing:
    """A list of one kind of queue object."""

    def __init__(self, cluster: Cluster, kind: Kind, counts: Counts) -> None:
        self.cluster, self.kind, self.counts = cluster, kind, counts
        self.names: set[str] = set()
        self.is_certain = True

    def restart(self) -> None:
        """Forget what the pages so far told: the list begins again."""
        self.names.clear()
        _forget(self.counts)

    def take(self, page: Page[QueueRecord], now: datetime) -> None:
        """Store one page."""
        if page.restarted:
            self.restart()
        self.names.update(line_name(record) for record in page.records)
        self.names.update(_spec_name(self.kind, unread) for unread in page.unread)
        self.is_certain &= len(page.unread) == len(page.malformed)
        _count(self.counts, page)
        self.counts.written += write_queue_changes(self.cluster, self.kind, page.records, {}, now)

    def absent(self) -> set[str]:
        """Names that are live in the ledger but not in the list; none while the list is unsure."""
        return live_names(self.cluster, self.kind) - self.names if self.is_certain else set()

    def surely_absent(self, read: Callable[[], Iterator[Page[QueueRecord]]], clock: Clock) -> set[str]:
        """`absent`, confirmed by a second list where it is doubtful."""
        absent = self.absent()
        if is_doubtful(absent, live_names(self.cluster, self.kind)):
            self.restart()
            for page in read():
                self.take(page, clock())
            absent &= self.absent()
        return absent

    def close(self, absent: Iterable[str], now: datetime) -> None:
        """Mark what is absent."""
        gone = dict.fromkeys(absent, self.counts.resource_version)
        self.counts.absent += write_queue_changes(self.cluster, self.kind, (), gone, now)


def _spec_name(kind: Kind, unread: ObjectVersion) -> str:
    return f"{unread.namespace}/{unread.name}" if kind == Kind.LOCAL_QUEUE else unread.name


def write_queue_changes(
    cluster: Cluster, kind: Kind, records: Sequence[QueueRecord], gone: Mapping[str, int], now: datetime
) -> int:
    """Store changed and vanished queue objects with the caches they feed, in one transaction; returns how many.

    `gone` gives the resourceVersion at which each name was known to be gone: one re-created since is not.
    """
    if not records and not gone:
        return 0
    with exclusive(cluster.slug):
        changed = write_deleted(cluster, kind, gone, now) | write_specs(cluster, kind, records, now)
        if changed and kind in FEED_CACHES:
            caches.refresh(cluster)
    return len(changed)


class WorkloadListing:
    """A list of workloads, whole or by their versions alone."""

    def __init__(self, cluster: Cluster, counts: Counts, last_seen: datetime | None) -> None:
        self.cluster, self.counts, self.last_seen = cluster, counts, last_seen
        self.uids: set[str] = set()
        self.is_certain = True

    def restart(self) -> None:
        """Forget what the pages so far told: the list begins again."""
        self.uids.clear()
        _forget(self.counts)

    def take(self, page: Page[objects.Workload], now: datetime) -> None:
        """Store one page of a whole list."""
        self._begin(page)
        self.uids.update(record.uid for record in page.records)
        self.uids.update(unread.uid for unread in page.unread)
        self.is_certain &= len(page.unread) == len(page.malformed)
        self.write(page.records, now)

    def note(self, page: Page[ObjectVersion], stored: dict[str, int]) -> list[ObjectVersion]:
        """Take one page of versions; returns those that are news against `stored` (uid → resourceVersion)."""
        self._begin(page)
        self.is_certain &= not page.malformed
        self.uids.update(version.uid for version in page.records)
        return [version for version in page.records if version.resource_version > stored.get(version.uid, -1)]

    def write(self, records: Sequence[objects.Workload], now: datetime) -> None:
        """Store looks at workloads that the list holds."""
        as_of = self.counts.resource_version
        written, malformed = write_workloads(self.cluster, records, as_of=as_of, now=now, last_seen=self.last_seen)
        self.counts.written += written
        self.counts.malformed += malformed

    def _begin(self, page: Page[objects.Workload] | Page[ObjectVersion]) -> None:
        if page.restarted:
            self.restart()
        _count(self.counts, page)

    def absent(self) -> set[str]:
        """uids that are live in the ledger, not newer than the list and not in it; none while the list is unsure."""
        if not self.is_certain:
            return set()
        older = stored_versions(self.cluster).items()
        return {uid for uid, version in older if uid not in self.uids and version <= self.counts.resource_version}

    def surely_absent(self, kueue: Kueue, stored: dict[str, int]) -> set[str]:
        """`absent`, confirmed by a second list where it is doubtful."""
        absent = self.absent()
        if is_doubtful(absent, stored):
            again = WorkloadListing(self.cluster, Counts(), self.last_seen)
            for page in kueue.list_workload_versions():
                again.note(page, stored)
            absent &= again.absent()
        return absent

    def close(self, absent: Iterable[str], now: datetime) -> None:
        """Mark what is absent: gone between the last good read and now."""
        version, after = self.counts.resource_version, min(self.last_seen or now, now)
        gone = [Vanished(uid, version, after, now, watched=False) for uid in absent]
        written, _ = write_workloads(self.cluster, (), gone, now=now, last_seen=self.last_seen)
        self.counts.absent += written


def stored_versions(cluster: Cluster) -> dict[str, int]:
    """resourceVersion by uid of the workloads that are live in the ledger."""
    return dict(Workload.objects.live().filter(cluster=cluster).values_list("uid", "resource_version").iterator())


def read_each(kueue: Kueue, news: Iterable[ObjectVersion], counts: Counts) -> Iterator[list[objects.Workload]]:
    """Read single workloads, in batches; those that vanished meanwhile are left to the next list."""
    batch: list[objects.Workload] = []
    for version in news:
        try:
            batch.append(kueue.get_workload(version.namespace, version.name))
        except NotFound:
            continue
        except BadReply as error:
            counts.malformed.append(str(error))
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch


def _forget(counts: Counts) -> None:
    counts.seen = 0
    counts.malformed.clear()


def _count(counts: Counts, page: Page[QueueRecord] | Page[objects.Workload] | Page[ObjectVersion]) -> None:
    counts.seen += len(page.records)
    counts.malformed += page.malformed
    counts.resource_version = page.resource_version
