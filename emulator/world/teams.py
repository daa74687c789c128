"""The teams of the world with their quotas, as HyperPod's Task Governance lays them out in a cluster."""

from dataclasses import dataclass
from typing import Any, Final

from emulator.world.hardware import G6E, INSTANCE_TYPES, P5, InstanceType
from scheduling import names

Manifest = dict[str, Any]

COHORT: Final = "hyperpod"
PRIORITIES: Final = {"inference": 100, "training": 50, "experiment": 10}
_ACTIVE_LABEL: Final = "sagemaker.amazonaws.com/activate-quota"
_RESOURCES: Final = (names.CPU, names.MEMORY, names.NVIDIA_GPU, names.EFA)
_KUEUE: Final = "kueue.x-k8s.io/v1beta2"


@dataclass(frozen=True, slots=True)
class Team:
    """Guaranteed nodes per instance type. `borrows` is the borrow limit in percent of its quota, None for no limit;
    `keeps` is the percentage of the quota that it never lends."""

    name: str
    p5: int
    g6e: int
    borrows: int | None = None
    keeps: int = 0

    @property
    def namespace(self) -> str:
        return f"{names.TEAM_NAMESPACE_PREFIX}{self.name}"

    @property
    def local_queue(self) -> str:
        return f"{self.namespace}-localqueue"

    @property
    def cluster_queue(self) -> str:
        return f"{self.namespace}-clusterqueue"

    def nodes(self, instance: InstanceType) -> int:
        return self.p5 if instance is P5 else self.g6e


TEAMS: Final = (
    Team("research", p5=6, g6e=2, borrows=100),
    Team("language", p5=4, g6e=1),
    Team("vision", p5=2, g6e=3, borrows=50),
    Team("serving", p5=2, g6e=5, borrows=0, keeps=20),
)


def manifests() -> list[tuple[str, Manifest]]:
    """Everything that is set up before the first job arrives, as (plural, object) in the order of creation."""
    found = [("resourceflavors", _flavor(instance)) for instance in INSTANCE_TYPES]
    found += [("workloadpriorityclasses", _priority_class(name, value)) for name, value in PRIORITIES.items()]
    for team in TEAMS:
        found += [
            ("namespaces", _namespace(team)),
            ("clusterqueues", _cluster_queue(team)),
            ("localqueues", _local_queue(team)),
        ]
    return [*found, ("clusterqueues", _idle_queue())]


def _named(kind: str, name: str, **rest: Any) -> Manifest:
    return {"apiVersion": _KUEUE, "kind": kind, "metadata": {"name": name}, **rest}


def _flavor(instance: InstanceType) -> Manifest:
    return _named("ResourceFlavor", instance.name, spec={"nodeLabels": {names.INSTANCE_TYPE_LABEL: instance.name}})


def _priority_class(name: str, value: int) -> Manifest:
    return _named("WorkloadPriorityClass", f"{name}-priority", value=value, description=f"Priority of {name} tasks")


def _namespace(team: Team) -> Manifest:
    labels = {names.MANAGED_QUEUE_LABEL: "true", names.TEAM_LABEL: team.name, _ACTIVE_LABEL: "Enabled"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": team.namespace, "labels": labels}}


def _local_queue(team: Team) -> Manifest:
    queue = _named("LocalQueue", team.local_queue, spec={"clusterQueue": team.cluster_queue})
    queue["metadata"]["namespace"] = team.namespace
    return queue


def _cluster_queue(team: Team) -> Manifest:
    selector = {"matchLabels": {"kubernetes.io/metadata.name": team.namespace}}
    flavors = [_quotas(instance, team.nodes(instance), team) for instance in INSTANCE_TYPES]
    return _named("ClusterQueue", team.cluster_queue, spec=_spec(flavors, selector))


def _idle_queue() -> Manifest:
    """Capacity of healthy nodes that no team's quota covers: in the cohort to be borrowed, open to nobody."""
    flavors = [
        _quotas(instance, instance.nodes - instance.sick - sum(team.nodes(instance) for team in TEAMS))
        for instance in (P5, G6E)
    ]
    return _named("ClusterQueue", f"{names.IDLE_QUEUE_PREFIX}1", spec=_spec(flavors, None))


def _spec(flavors: list[Manifest], selector: Manifest | None) -> Manifest:
    spec: Manifest = {
        "cohortName": COHORT,
        "preemption": {"reclaimWithinCohort": names.ANY, "withinClusterQueue": names.LOWER_PRIORITY},
        "resourceGroups": [{"coveredResources": list(_RESOURCES), "flavors": flavors}],
    }
    return spec if selector is None else {**spec, "namespaceSelector": selector}


def _quotas(instance: InstanceType, nodes: int, team: Team | None = None) -> Manifest:
    nominal = instance.amounts(nodes)
    resources: list[Manifest] = [{"name": name, "nominalQuota": nominal[name]} for name in _RESOURCES]
    for resource in resources if team else ():
        if team and team.borrows is not None:
            resource["borrowingLimit"] = _share(resource["nominalQuota"], team.borrows)
        if team and team.keeps:
            resource["lendingLimit"] = _share(resource["nominalQuota"], 100 - team.keeps)
    return {"name": instance.name, "resources": resources}


def _share(amount: str, percent: int) -> str:
    unit = "Gi" if amount.endswith("Gi") else ""
    return f"{int(amount.removesuffix('Gi')) * percent // 100}{unit}"
