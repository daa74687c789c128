"""What a watch tells of the pods of one cluster, kept."""

from datetime import datetime
from functools import partial
from typing import Final

from gateways.http import Api
from gateways.kubernetes import Kubernetes
from gateways.pod_looks import list_pod_looks
from gateways.records import Batch, ObjectVersion, Page, PodLook
from jobs.sync.listings import Clock
from jobs.sync.node_health import NodeHealth
from jobs.sync.pod_listings import PodListing
from jobs.sync.pod_runs import PodGone, write_pods
from jobs.sync.sources import PODS, last_good_read
from portal.sync_runs import Counts
from teams.models import Cluster

_MOST_WAITING: Final = 2000


class PodStore:
    """Pods may be told of before their Workloads: their newest looks wait in memory, some of them, for the next
    change or sign of life."""

    def __init__(self, cluster: Cluster, api: Api, clock: Clock) -> None:
        self.cluster, self.clock, self.name = cluster, clock, PODS
        self.waiting: dict[str, PodLook] = {}
        self.read = partial(list_pod_looks, api)
        self.health = NodeHealth(Kubernetes(api), clock)

    def begin(self) -> None:
        self.listing = PodListing(self.cluster, self.health, Counts(), last_good_read(self.cluster, PODS))

    def take(self, page: Page[PodLook]) -> None:
        self._keep(self.listing.take(page, self.clock()))

    def note(self, page: Page[ObjectVersion]) -> None:
        """Never told: pods are listed whole."""

    def close(self) -> Counts:
        self.listing.close(self.read, self.clock)
        return self.listing.counts

    def write(self, batch: Batch[PodLook], last_seen: datetime | None) -> Counts:
        now = self.clock()
        told = [(change, change.record) for change in batch.changes if change.record is not None]
        after = min(last_seen or now, now)
        gone = [PodGone(look.uid, after, now, watched=True) for change, look in told if change.deleted]
        looks = [*({**self.waiting, **{look.uid: look for _, look in told}}).values()]
        written, unplaced = write_pods(
            self.cluster, looks, gone, sick_nodes=self.health.sick, now=now, last_seen=last_seen
        )
        left = {each.uid for each in gone}
        self.waiting = {}
        self._keep([look for look in unplaced if look.uid not in left])
        return Counts(written=written, malformed=[each.malformed for each in batch.changes if each.malformed])

    def _keep(self, looks: list[PodLook]) -> None:
        for look in looks[: _MOST_WAITING - len(self.waiting)]:
            self.waiting[look.uid] = look
