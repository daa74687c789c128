"""What is read of a cluster, by the names under which its age is kept."""

from datetime import datetime
from typing import Any, Final

from django.db.models import Min

from jobs.sync.listings import Kind
from portal.models import SourceState
from teams.models import Cluster, SpecVersion

WORKLOADS: Final = "workloads"
NODES: Final = "nodes"
PODS: Final = "pods"
ABOUT: Final = "about"
EVENTS: Final = "events"
SOURCE_OF: Final = {
    Kind.CLUSTER_QUEUE: "cluster_queues",
    Kind.COHORT: "cohorts",
    Kind.LOCAL_QUEUE: "local_queues",
    Kind.RESOURCE_FLAVOR: "flavors",
    Kind.PRIORITY_CLASS: "priority_classes",
    Kind.ADMISSION_CHECK: "admission_checks",
}
WATCHED: Final = (Kind.CLUSTER_QUEUE, Kind.COHORT, Kind.LOCAL_QUEUE)
LIVE: Final = (*(SOURCE_OF[kind] for kind in WATCHED), WORKLOADS)
"""Sources that the watcher keeps; what team and workload pages show comes from them alone."""

SOURCES: Final = (*SOURCE_OF.values(), WORKLOADS, NODES)
"""Sources on which quotas depend."""

PULLED: Final = (*SOURCES, PODS)
"""Sources pulled every interval; `ABOUT` is asked once an hour, `EVENTS` some times within the hour they are kept."""


def last_good_read(cluster: Cluster, source: str) -> Any:
    """When the source was last known to be as stored, or None."""
    states = SourceState.objects.filter(cluster=cluster.slug, source=source)
    return states.values_list("last_good_at", flat=True).first()


def begun_at(cluster: Cluster) -> datetime | None:
    """When queues and the ways to them were first known; None while nothing was read."""
    kinds = (SpecVersion.Kind.CLUSTER_QUEUE, SpecVersion.Kind.LOCAL_QUEUE)
    versions = SpecVersion.objects.filter(cluster=cluster, kind__in=kinds).values("kind")
    return max((each["first"] for each in versions.annotate(first=Min("valid_from"))), default=None)
