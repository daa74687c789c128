"""The queues of a cluster as the ledger has them now, as records of `scheduling`."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from scheduling.names import STOP_NONE
from scheduling.objects import ClusterQueue, Cohort
from scheduling.parsing import parse_cluster_queue, parse_cohort
from teams.models import Cluster, SpecVersion

_KINDS = (SpecVersion.Kind.CLUSTER_QUEUE, SpecVersion.Kind.COHORT, SpecVersion.Kind.LOCAL_QUEUE)


@dataclass(frozen=True, slots=True)
class CurrentQueues:
    """`cluster_queue_of`: ClusterQueue by LocalQueue, each NAMESPACE/NAME. `names_ever`: whatever a queue, a cohort or
    a namespace with a queue is or was called."""

    cluster_queues: Mapping[str, ClusterQueue]
    cohorts: Mapping[str, Cohort]
    cluster_queue_of: Mapping[str, str]
    stopped_local_queues: frozenset[str] = frozenset()
    names_ever: frozenset[str] = frozenset()

    def local_queues_of(self, cluster_queue: str) -> list[str]:
        """LocalQueues, each NAMESPACE/NAME, that point to the ClusterQueue."""
        return [key for key, target in self.cluster_queue_of.items() if target == cluster_queue]

    def feeding(self, cluster_queue: str) -> list[str]:
        """Those of `local_queues_of` that are not stopped: only their workloads wait in line."""
        return [key for key in self.local_queues_of(cluster_queue) if key not in self.stopped_local_queues]

    def cluster_queues_of(self, namespaces: set[str]) -> list[str]:
        """ClusterQueues that LocalQueues of these namespaces point to, in order of name."""
        return sorted({target for key, target in self.cluster_queue_of.items() if key.split("/")[0] in namespaces})


def current_queues(cluster: Cluster) -> CurrentQueues:
    """What the ledger's open versions say; parsed once per change."""
    versions = SpecVersion.objects.filter(cluster=cluster, kind__in=_KINDS).order_by("-pk")
    # Not by its key alone: SQLite gives the keys of a transaction that failed to the next one.
    newest = versions.values_list("pk", "name", "resource_version", "valid_from").first()
    return _read(cluster.pk, newest)


@lru_cache(maxsize=16)
def _read(cluster_id: int, newest_version: tuple[Any, ...] | None) -> CurrentQueues:
    by_kind: dict[str, list[Any]] = defaultdict(list)
    versions = SpecVersion.objects.filter(cluster_id=cluster_id, kind__in=_KINDS)
    current = versions.current().filter(deleted=False)
    for kind, name, uid, spec in current.values_list("kind", "name", "uid", "spec"):
        by_kind[kind].append({"kind": kind, "metadata": {"name": name, "uid": uid}, "spec": spec})
    queues = map(parse_cluster_queue, by_kind[SpecVersion.Kind.CLUSTER_QUEUE])
    cohorts = map(parse_cohort, by_kind[SpecVersion.Kind.COHORT])
    local_queues = by_kind[SpecVersion.Kind.LOCAL_QUEUE]
    return CurrentQueues(
        {queue.name: queue for queue in queues},
        {cohort.name: cohort for cohort in cohorts},
        {o["metadata"]["name"]: o["spec"].get("clusterQueue", "") for o in local_queues},
        frozenset(o["metadata"]["name"] for o in local_queues if o["spec"].get("stopPolicy", STOP_NONE) != STOP_NONE),
        frozenset(part for name in versions.values_list("name", flat=True).distinct() for part in name.split("/")),
    )
