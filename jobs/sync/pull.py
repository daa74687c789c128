"""Lists of the cluster into the ledger. Run twice, a pull writes nothing but its SyncRun and SourceState rows."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

import structlog
from celery.exceptions import SoftTimeLimitExceeded

from gateways.errors import GatewayError
from gateways.events import workload_events
from gateways.http import Api, connect
from gateways.kubernetes import Kubernetes
from gateways.kueue import Kueue
from gateways.pod_looks import list_pod_looks
from gateways.records import NodeRecord, ObjectVersion, Page
from gateways.rights import missing_rights
from jobs.ledger import now as caches
from jobs.sync.listings import (
    Clock,
    Kind,
    SpecListing,
    WorkloadListing,
    read_each,
    stored_versions,
)
from jobs.sync.node_health import NodeHealth
from jobs.sync.owners import OWNERS, read_owners
from jobs.sync.pod_listings import PodListing
from jobs.sync.sources import ABOUT, EVENTS, NODES, PODS, PULLED, SOURCE_OF, WORKLOADS, last_good_read
from jobs.sync.told_alone import ToldAlone
from jobs.sync.told_by_events import ToldByEvents
from portal import collector
from portal.sync_runs import Counts, SyncRefused, count_setup_change, record_failure, sync_run
from portal.write_path import exclusive
from teams.models import Cluster
from teams.sync import About, check_identity, write_about, write_nodes

log = structlog.get_logger(__name__)

_FEW: Final = 200  # more news than that, and more than a tenth of all, and the whole list is read instead


def pull_cluster(cluster: Cluster, clock: Clock, is_due: Callable[[str], bool] = lambda source: True) -> None:
    """Pull every source of one cluster for which `is_due`, asked just before; failures are recorded, none is raised."""
    api = connect(cluster.connection)
    kueue, kubernetes = Kueue(api), Kubernetes(api)
    try:
        check_identity(cluster, kubernetes.identity())
    except (GatewayError, SyncRefused) as error:
        for source in PULLED:
            record_failure(source, cluster.slug, now=clock(), error=error)
        return
    pulls: dict[str, Callable[[], Counts]] = {
        source: lambda kind=kind: pull_specs(cluster, kueue, kind, clock)  # type: ignore[misc]
        for kind, source in SOURCE_OF.items()
    }
    pulls[WORKLOADS] = lambda: pull_workloads(cluster, kueue, clock)
    pulls[NODES] = lambda: pull_nodes(cluster, kubernetes, clock)
    pulls[PODS] = lambda: pull_pods(cluster, api, clock)
    pulls[ABOUT] = lambda: pull_about(cluster, api, clock)
    pulls[EVENTS] = lambda: pull_events(cluster, api, clock)
    pulls[OWNERS] = lambda: read_owners(cluster, api, clock)
    for source, pull in pulls.items():
        if is_due(source):
            _attempt(pull)
    heal_caches(cluster)


def _attempt(pull: Callable[[], Counts]) -> None:
    try:
        pull()
    except GatewayError:
        return  # recorded by its SyncRun; the next source may still answer
    except SoftTimeLimitExceeded:
        raise
    except Exception:
        log.exception("a fault in the portal itself")


def spec_pages(kueue: Kueue, kind: Kind) -> Callable[[], Iterator[Page[Any]]]:
    """What lists one kind of queue object whole."""
    lists: dict[Kind, Callable[[], Iterator[Page[Any]]]] = {
        Kind.CLUSTER_QUEUE: kueue.list_cluster_queues,
        Kind.COHORT: kueue.list_cohorts,
        Kind.LOCAL_QUEUE: kueue.list_local_queues,
        Kind.RESOURCE_FLAVOR: kueue.list_resource_flavors,
        Kind.PRIORITY_CLASS: kueue.list_priority_classes,
        Kind.ADMISSION_CHECK: kueue.list_admission_checks,
    }
    return lists[kind]


def pull_specs(cluster: Cluster, kueue: Kueue, kind: Kind, clock: Clock) -> Counts:
    """List one kind of queue object whole. Raises GatewayError."""
    read = spec_pages(kueue, kind)
    with sync_run(SOURCE_OF[kind], cluster.slug, clock) as counts:
        listing = SpecListing(cluster, kind, counts)
        for page in read():
            listing.take(page, clock())
        listing.close(listing.surely_absent(read, clock), clock())
    return counts


def pull_workloads(cluster: Cluster, kueue: Kueue, clock: Clock) -> Counts:
    """Bring the workloads up to the cluster's, by their versions alone where little changed. Raises GatewayError."""
    with collector.paused(), sync_run(WORKLOADS, cluster.slug, clock) as counts:
        listing = WorkloadListing(cluster, counts, last_good_read(cluster, WORKLOADS))
        stored = stored_versions(cluster)
        if not stored or not _by_versions(listing, kueue, stored, clock):
            listing.restart()
            for page in kueue.list_workloads():
                listing.take(page, clock())
        listing.close(listing.surely_absent(kueue, stored), clock())
    return counts


def _by_versions(listing: WorkloadListing, kueue: Kueue, stored: dict[str, int], clock: Clock) -> bool:
    """Whether a metadata-only list and a few single reads did."""
    news: list[ObjectVersion] = []
    for page in kueue.list_workload_versions():
        news = ([] if page.restarted else news) + listing.note(page, stored)
        if len(news) > max(_FEW, len(stored) // 10):
            return False
    for batch in read_each(kueue, news, listing.counts):
        listing.write(batch, clock())
    return True


def pull_nodes(cluster: Cluster, kubernetes: Kubernetes, clock: Clock) -> Counts:
    """Count the nodes per instance type. Raises GatewayError."""
    with sync_run(NODES, cluster.slug, clock) as counts:
        nodes: list[NodeRecord] = []
        for page in kubernetes.list_nodes():
            nodes = [*([] if page.restarted else nodes), *page.records]
            counts.malformed += page.malformed
            counts.resource_version = page.resource_version
        counts.seen = len(nodes)
        counts.written = write_nodes(cluster, nodes, clock())
    return counts


def pull_pods(cluster: Cluster, api: Api, clock: Clock) -> Counts:
    """Bring the pods that Kueue let run up to the cluster's. Raises GatewayError."""
    with sync_run(PODS, cluster.slug, clock) as counts:
        listing = PodListing(cluster, NodeHealth(Kubernetes(api), clock), counts, last_good_read(cluster, PODS))
        for page in list_pod_looks(api):
            listing.take(page, clock())
        listing.close(partial(list_pod_looks, api), clock)
    return counts


def pull_about(cluster: Cluster, api: Api, clock: Clock) -> Counts:
    """Ask for versions and for the rights that are missing. Raises GatewayError."""
    with sync_run(ABOUT, cluster.slug, clock) as counts:
        missing = tuple(map(str, missing_rights(api)))
        server = api.server() if cluster.access == Cluster.Access.EKS else ("", "")
        about = About(Kubernetes(api).server_version(), Kueue(api).kueue_version() or "", missing, *server)
        counts.seen, counts.written = 1, int(write_about(cluster, about))
    return counts


def pull_events(cluster: Cluster, api: Api, clock: Clock) -> Counts:
    """Learn from Kueue's events what its objects tell no more. Raises GatewayError."""
    with sync_run(EVENTS, cluster.slug, clock) as counts:
        told, alone = ToldByEvents(cluster), ToldAlone(cluster)
        for page in workload_events(api):
            counts.seen = len(page.records) + (0 if page.restarted else counts.seen)
            counts.malformed += page.malformed
            counts.resource_version = page.resource_version
            told.take(page.records)
            alone.take(page.records)
        counts.written, contradictions = told.write(clock())
        counts.written += alone.write(clock(), last_good_read(cluster, WORKLOADS))
        counts.malformed += contradictions
    return counts


def heal_caches(cluster: Cluster) -> int:
    """Compare QueueNow and TeamNow with the ledger and mend them; returns how many rows differed."""
    with exclusive(cluster.slug):
        mended = caches.refresh(cluster)
        if mended:
            count_setup_change(cluster.slug)
    return mended
