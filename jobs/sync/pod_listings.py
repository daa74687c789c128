"""A list of pods against what the ledger holds of them."""

from collections.abc import Callable, Iterator
from datetime import datetime

from gateways.records import Page, PodLook
from jobs.models import PodRun
from jobs.sync.listings import Clock, is_doubtful
from jobs.sync.node_health import NodeHealth
from jobs.sync.pod_runs import PodGone, write_pods
from portal.sync_runs import Counts
from teams.models import Cluster


class PodListing:
    """One list, page by page; of a page nothing stays in memory but its uids."""

    def __init__(self, cluster: Cluster, health: NodeHealth, counts: Counts, last_seen: datetime | None) -> None:
        self.cluster, self.health, self.counts, self.last_seen = cluster, health, counts, last_seen
        self.uids: set[str] = set()
        self.is_certain = True

    def take(self, page: Page[PodLook], now: datetime) -> list[PodLook]:
        """Store one page; returns the looks at pods whose Workload is not known."""
        self.note(page)
        written, unplaced = write_pods(
            self.cluster, page.records, sick_nodes=self.health.sick, now=now, last_seen=self.last_seen
        )
        self.counts.written += written
        return unplaced

    def note(self, page: Page[PodLook]) -> None:
        """Take one page without storing it."""
        if page.restarted:
            self._restart()
        self.uids.update(look.uid for look in page.records)
        self.uids.update(unread.uid for unread in page.unread)
        self.is_certain &= len(page.unread) == len(page.malformed)
        self.counts.seen += len(page.records)
        self.counts.malformed += page.malformed
        self.counts.resource_version = page.resource_version

    def _restart(self) -> None:
        self.uids.clear()
        self.counts.seen = 0
        self.counts.malformed.clear()

    def close(self, read: Callable[[], Iterator[Page[PodLook]]], clock: Clock) -> None:
        """Mark what is absent, confirmed by a second list where that is much: gone since the last good read."""
        there = self._there()
        absent = self._absent(there)
        if is_doubtful(absent, there):
            again = PodListing(self.cluster, self.health, Counts(), self.last_seen)
            for page in read():
                again.note(page)
            absent &= again._absent(there)
        now = clock()
        gone = [PodGone(uid, min(self.last_seen or now, now), now, watched=False) for uid in absent]
        ended, _ = write_pods(self.cluster, (), gone, sick_nodes=self.health.sick, now=now, last_seen=self.last_seen)
        self.counts.absent += ended

    def _there(self) -> dict[str, int]:
        """resourceVersion by uid of the pods that are there in the ledger."""
        rows = PodRun.objects.filter(cluster=self.cluster, ended_before__isnull=True)
        return dict(rows.values_list("uid", "resource_version").iterator())

    def _absent(self, there: dict[str, int]) -> set[str]:
        """Those not newer than the list and not in it; none while the list is unsure."""
        if not self.is_certain:
            return set()
        return {
            uid for uid, version in there.items() if uid not in self.uids and version <= self.counts.resource_version
        }
