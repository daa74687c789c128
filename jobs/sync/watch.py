"""The watcher: brings the comparison of the lists forward, change by change, for every cluster whose lease it holds."""

import threading
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

import structlog
from django.db import connections

from gateways.errors import GatewayError
from gateways.http import connect
from gateways.kubernetes import Kubernetes
from gateways.kueue import CLUSTER_QUEUES, COHORTS, LOCAL_QUEUES, Kueue
from gateways.kueue import WORKLOADS as WORKLOAD_KIND
from gateways.pod_looks import pod_source
from gateways.records import Batch, ObjectVersion, Outage, Page, Recovered, Relisted
from gateways.watching import Source, follow
from jobs.ledger.writing import Vanished, write_workloads
from jobs.sync.listings import (
    Clock,
    Kind,
    SpecListing,
    WorkloadListing,
    read_each,
    stored_versions,
    write_queue_changes,
)
from jobs.sync.owners import OwnerReader
from jobs.sync.pod_store import PodStore
from jobs.sync.pull import spec_pages
from jobs.sync.sources import SOURCE_OF, WORKLOADS, last_good_read
from portal.models import SourceState
from portal.sync_runs import Counts, complete_run, record_failure, record_success
from portal.write_path import BATCH
from scheduling import objects
from teams.models import Cluster
from teams.sync import QueueRecord, check_identity, line_name

log = structlog.get_logger(__name__)

_RESUME_WITHIN: Final = timedelta(minutes=10)
_AGAIN_SECONDS: Final = 5
_WORKLOADS_SECONDS: Final = 1
_WATCHED: Final[dict[Kind, Any]] = {
    Kind.CLUSTER_QUEUE: CLUSTER_QUEUES,
    Kind.COHORT: COHORTS,
    Kind.LOCAL_QUEUE: LOCAL_QUEUES,
}


class Store(Protocol):
    """What a follower does with what it is told of one kind. What it has to read for itself may raise GatewayError."""

    name: str

    def begin(self) -> None:
        """A list begins."""

    def take(self, page: Page[Any]) -> None:
        """A page of a whole list."""

    def note(self, page: Page[ObjectVersion]) -> None:
        """A page of a metadata-only list."""

    def close(self) -> Counts:
        """The list is complete."""

    def write(self, batch: Batch[Any], last_seen: datetime | None) -> Counts:
        """Changes that the watch told; they happened after `last_seen` or, without one, this moment."""


class SpecStore:
    """ClusterQueues, Cohorts or LocalQueues."""

    def __init__(self, cluster: Cluster, kueue: Kueue, kind: Kind, clock: Clock) -> None:
        self.cluster, self.kueue, self.kind, self.clock = cluster, kueue, kind, clock
        self.name = SOURCE_OF[kind]

    def begin(self) -> None:
        self.listing = SpecListing(self.cluster, self.kind, Counts())

    def take(self, page: Page[QueueRecord]) -> None:
        self.listing.take(page, self.clock())

    def note(self, page: Page[ObjectVersion]) -> None:
        """Never told: these kinds are few and listed whole."""

    def close(self) -> Counts:
        absent = self.listing.surely_absent(spec_pages(self.kueue, self.kind), self.clock)
        self.listing.close(absent, self.clock())
        return self.listing.counts

    def write(self, batch: Batch[QueueRecord], last_seen: datetime | None) -> Counts:
        counts = Counts(malformed=[change.malformed for change in batch.changes if change.malformed])
        told = [(change, change.record) for change in batch.changes if change.record is not None]
        seen = [record for change, record in told if not change.deleted]
        gone = {line_name(record): change.resource_version for change, record in told if change.deleted}
        counts.written = write_queue_changes(self.cluster, self.kind, seen, gone, self.clock())
        return counts


class WorkloadStore:
    def __init__(self, cluster: Cluster, kueue: Kueue, clock: Clock) -> None:
        self.cluster, self.kueue, self.clock = cluster, kueue, clock
        self.name = WORKLOADS

    def begin(self) -> None:
        self.listing = WorkloadListing(self.cluster, Counts(), last_good_read(self.cluster, self.name))
        self.stored = stored_versions(self.cluster)

    def take(self, page: Page[objects.Workload]) -> None:
        self.listing.take(page, self.clock())

    def note(self, page: Page[ObjectVersion]) -> None:
        news = self.listing.note(page, self.stored)
        for batch in read_each(self.kueue, news, self.listing.counts):
            self.listing.write(batch, self.clock())

    def close(self) -> Counts:
        self.listing.close(self.listing.surely_absent(self.kueue, self.stored), self.clock())
        return self.listing.counts

    def write(self, batch: Batch[objects.Workload], last_seen: datetime | None) -> Counts:
        now = self.clock()
        told = [(change, change.record) for change in batch.changes if change.record is not None]
        gone = [
            Vanished(record.uid, change.resource_version, min(last_seen or now, now), now, watched=True)
            for change, record in told
            if change.deleted
        ]
        records = [record for _, record in told]
        written, malformed = write_workloads(self.cluster, records, gone, now=now, last_seen=last_seen)
        return Counts(written=written, malformed=[*malformed, *(c.malformed for c in batch.changes if c.malformed)])


class Follower:
    """Follows one kind of one cluster and has its store keep what it is told. `unwatched_since` is set while the watch
    tells what happened before it was there to see it."""

    def __init__(self, cluster: Cluster, source: Source[Any], store: Store, clock: Clock) -> None:
        self.cluster, self.source, self.store, self.clock = cluster, source, store, clock
        self.began: datetime | None = None
        self.unwatched_since: datetime | None = None

    @property
    def name(self) -> str:
        return self.store.name

    def run(self, stop: threading.Event) -> None:
        """Until `stop` is set. Raises what cannot be stored."""
        while True:
            try:
                return self._follow(stop)
            except GatewayError as error:  # of a store that had to read for itself
                self._failed(error)
            stop.wait(_AGAIN_SECONDS)

    def _follow(self, stop: threading.Event) -> None:
        since = self._resume_from()
        self.unwatched_since = last_good_read(self.cluster, self.store.name) if since else None
        for told in follow(self.source, stop, since=since):
            if isinstance(told, Batch):
                self._changed(told)
            elif isinstance(told, Outage):
                self.unwatched_since = self.unwatched_since or told.since
                self._failed(told.error)
            elif isinstance(told, Recovered):
                if told.lossless:
                    self._is_current(Counts())
            else:
                self._listed(told)

    def _failed(self, error: GatewayError) -> None:
        self.began = None  # the list that it interrupted is void
        record_failure(self.store.name, self.cluster.slug, now=self.clock(), error=error)

    def _resume_from(self) -> int | None:
        """The version from which the watch goes on where an earlier process stopped a short while ago."""
        state = SourceState.objects.filter(cluster=self.cluster.slug, source=self.store.name).first()
        if state is None or state.last_good_at is None or not state.resource_version:
            return None
        return state.resource_version if self.clock() - state.last_good_at < _RESUME_WITHIN else None

    def _changed(self, batch: Batch[Any]) -> None:
        counts = self.store.write(batch, self.unwatched_since)
        counts.resource_version = batch.resource_version
        self._is_current(counts)
        if len(batch.changes) < BATCH:
            self.unwatched_since = None  # what had piled up is told, from here on changes come as they happen

    def _is_current(self, counts: Counts) -> None:
        record_success(self.store.name, self.cluster.slug, now=self.clock(), counts=counts, lossless=True)

    def _listed(self, told: Page[Any] | Relisted) -> None:
        page = told.page if isinstance(told, Relisted) else told
        if self.began is None:
            self.began = self.clock()
            self.store.begin()
        if isinstance(told, Relisted):
            self.store.note(told.page)
        else:
            self.store.take(told)
        if page.is_last:
            counts = self.store.close()
            complete_run(self.store.name, self.cluster.slug, counts, started_at=self.began, now=self.clock())
            self.began = self.unwatched_since = None


class PodFollower(Follower):
    """Begins when the Workloads are known: a pod is kept with its own."""

    def _follow(self, stop: threading.Event) -> None:
        while last_good_read(self.cluster, WORKLOADS) is None:
            if stop.wait(_WORKLOADS_SECONDS):
                return
        super()._follow(stop)


class ClusterWatch:
    """The followers of one cluster, each in a thread of its own, until `stop` or the first error of one of them."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        self.cluster, self.clock = cluster, clock
        self._stop = threading.Event()
        api = connect(cluster.connection)
        kueue, self._kubernetes = Kueue(api), Kubernetes(api)
        followers: list[Follower | OwnerReader] = [
            Follower(cluster, kueue.source(watched), SpecStore(cluster, kueue, kind, clock), clock)
            for kind, watched in _WATCHED.items()
        ]
        followers.append(Follower(cluster, kueue.source(WORKLOAD_KIND), WorkloadStore(cluster, kueue, clock), clock))
        followers.append(PodFollower(cluster, pod_source(api), PodStore(cluster, api, clock), clock))
        followers.append(OwnerReader(cluster, api, clock))
        self._threads = [
            threading.Thread(target=self._run, args=(f,), name=f"{cluster.slug} {f.name}") for f in followers
        ]

    def start(self) -> None:
        """Raises GatewayError, and SyncRefused if the connection leads to another cluster than before."""
        check_identity(self.cluster, self._kubernetes.identity())
        for thread in self._threads:
            thread.start()

    def _run(self, follower: Follower | OwnerReader) -> None:
        try:
            follower.run(self._stop)
        except Exception as error:
            log.exception("watch broke", cluster=self.cluster.slug, source=follower.name)
            record_failure(follower.name, self.cluster.slug, now=self.clock(), error=error)
        finally:
            self._stop.set()
            connections.close_all()

    @property
    def is_alive(self) -> bool:
        return not self._stop.is_set()

    def stop(self) -> None:
        """Ask the followers to end and wait until they have."""
        self._stop.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()
