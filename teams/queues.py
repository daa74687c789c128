"""The queues of a cluster and the nodes behind them as the ledger has them now, as records of `scheduling`."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from scheduling.names import INSTANCE_TYPE_LABEL, STOP_NONE
from scheduling.objects import ClusterQueue, Cohort
from scheduling.parsing import parse_cluster_queue, parse_cohort
from teams.models import Cluster, NodeCapacity, SpecVersion

Kind = SpecVersion.Kind
_KINDS = (Kind.CLUSTER_QUEUE, Kind.COHORT, Kind.LOCAL_QUEUE)


@dataclass(frozen=True, slots=True)
class CurrentQueues:
    """`cluster_queue_of`: ClusterQueue by LocalQueue, each NAMESPACE/NAME. `names_ever`: whatever a queue, a cohort or
    a namespace with a queue is or was called. `instance_type_of`: what each flavor selects, or else its own name.
    `nodes`: by instance type, where there are any."""

    cluster_queues: Mapping[str, ClusterQueue]
    cohorts: Mapping[str, Cohort]
    cluster_queue_of: Mapping[str, str]
    stopped_local_queues: frozenset[str] = frozenset()
    names_ever: frozenset[str] = frozenset()
    instance_type_of: Mapping[str, str] = field(default_factory=dict)
    nodes: Mapping[str, NodeCapacity] = field(default_factory=dict)

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
    """What the ledger's open versions say; parsed once per change, which `specs_version` tells: let `cluster` be as
    it was read in this request or transaction."""
    return _read(cluster.pk, cluster.specs_version)


@lru_cache(maxsize=16)
def _read(cluster_id: int, _specs_version: int) -> CurrentQueues:
    by_kind: dict[str, list[Any]] = defaultdict(list)
    versions = SpecVersion.objects.filter(cluster_id=cluster_id)
    current = versions.current().filter(kind__in=(*_KINDS, Kind.RESOURCE_FLAVOR), deleted=False)
    for kind, name, uid, spec in current.values_list("kind", "name", "uid", "spec"):
        by_kind[kind].append({"kind": kind, "metadata": {"name": name, "uid": uid}, "spec": spec})
    queues = map(parse_cluster_queue, by_kind[Kind.CLUSTER_QUEUE])
    cohorts = map(parse_cohort, by_kind[Kind.COHORT])
    local_queues = by_kind[Kind.LOCAL_QUEUE]
    names = versions.filter(kind__in=_KINDS).values_list("name", flat=True).distinct()
    nodes = NodeCapacity.objects.current().filter(cluster_id=cluster_id, total__gt=0).order_by("instance_type")
    return CurrentQueues(
        {queue.name: queue for queue in queues},
        {cohort.name: cohort for cohort in cohorts},
        {o["metadata"]["name"]: o["spec"].get("clusterQueue", "") for o in local_queues},
        frozenset(o["metadata"]["name"] for o in local_queues if o["spec"].get("stopPolicy", STOP_NONE) != STOP_NONE),
        frozenset(part for name in names for part in name.split("/")),
        {o["metadata"]["name"]: _instance_type(o) for o in by_kind[Kind.RESOURCE_FLAVOR]},
        {capacity.instance_type: capacity for capacity in nodes},
    )


def _instance_type(flavor: dict[str, Any]) -> str:
    labels = flavor["spec"].get("nodeLabels") or {}
    return str(labels.get(INSTANCE_TYPE_LABEL, flavor["metadata"]["name"]))
