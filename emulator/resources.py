"""Which kinds are served, under which paths, and how one is shown when it is stored under another version."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from emulator import spelling
from emulator.store import Json

KUEUE: Final = "kueue.x-k8s.io"
CURRENT: Final = "v1beta2"
DEPRECATED: Final = "v1beta1"

_READ: Final = ("get", "list", "watch")
_WRITE: Final = ("create", "update", "patch", "delete")
_EVERYWHERE: Final = frozenset({"metadata.name", "metadata.namespace"})


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind in one served version. `storage` names it in the store, where one version is kept; `shown` turns a
    stored object into this one. `fields` are the field selectors beside metadata.name and metadata.namespace."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    short_names: tuple[str, ...] = ()
    has_status: bool = False
    writable: bool = True
    fields: frozenset[str] = frozenset()
    shown: Callable[[Json], Json] = field(default=spelling.unchanged, repr=False)

    @property
    def storage(self) -> str:
        return "events" if self.plural == "events" else self.qualified

    @property
    def qualified(self) -> str:
        """As messages name it: workloads.kueue.x-k8s.io, nodes."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def verbs(self) -> tuple[str, ...]:
        return (*_READ, *_WRITE) if self.writable else _READ

    @property
    def selectable(self) -> frozenset[str]:
        return _EVERYWHERE | self.fields


_REFERENCE: Final = ("kind", "name", "namespace", "uid")
_EVENT_FIELDS: Final = frozenset({"type", "reason", *(f"involvedObject.{part}" for part in _REFERENCE)})
_NEW_EVENT_FIELDS: Final = frozenset({"type", "reason", *(f"regarding.{part}" for part in _REFERENCE)})

NAMESPACES: Final = Resource("", "v1", "namespaces", "Namespace", False, ("ns",))
NODES: Final = Resource("", "v1", "nodes", "Node", False, ("no",), has_status=True)
PODS: Final = Resource(
    "", "v1", "pods", "Pod", True, ("po",), has_status=True, fields=frozenset({"status.phase", "spec.nodeName"})
)
EVENTS: Final = Resource("", "v1", "events", "Event", True, ("ev",), fields=_EVENT_FIELDS)
_NEW_EVENTS: Final = Resource(
    "events.k8s.io",
    "v1",
    "events",
    "Event",
    True,
    ("ev",),
    writable=False,
    fields=_NEW_EVENT_FIELDS,
    shown=spelling.new_event,
)
WORKLOADS: Final = Resource(
    KUEUE,
    CURRENT,
    "workloads",
    "Workload",
    True,
    ("kwl",),
    has_status=True,
    fields=frozenset({"status.admission.clusterQueue"}),
)
CLUSTER_QUEUES: Final = Resource(KUEUE, CURRENT, "clusterqueues", "ClusterQueue", False, ("cq",), has_status=True)
LOCAL_QUEUES: Final = Resource(
    KUEUE, CURRENT, "localqueues", "LocalQueue", True, ("queue", "queues", "lq"), has_status=True
)
COHORTS: Final = Resource(KUEUE, CURRENT, "cohorts", "Cohort", False, ("co",), has_status=True)
FLAVORS: Final = Resource(KUEUE, CURRENT, "resourceflavors", "ResourceFlavor", False, ("flavor", "flavors", "rf"))
PRIORITY_CLASSES: Final = Resource(KUEUE, CURRENT, "workloadpriorityclasses", "WorkloadPriorityClass", False, ("wpc",))
ADMISSION_CHECKS: Final = Resource(KUEUE, CURRENT, "admissionchecks", "AdmissionCheck", False, ("ac",), has_status=True)
TOPOLOGIES: Final = Resource(KUEUE, CURRENT, "topologies", "Topology", False, ("topo",))

HYPERPOD_JOBS: Final = Resource(
    "sagemaker.amazonaws.com", "v1", "hyperpodpytorchjobs", "HyperPodPyTorchJob", True, writable=False
)

_CORE: Final = (NAMESPACES, NODES, PODS, EVENTS, _NEW_EVENTS, HYPERPOD_JOBS)
_OF_KUEUE: Final = (
    WORKLOADS,
    CLUSTER_QUEUES,
    LOCAL_QUEUES,
    COHORTS,
    FLAVORS,
    PRIORITY_CLASSES,
    ADMISSION_CHECKS,
    TOPOLOGIES,
)


class Catalogue:
    """The kinds one emulator serves. Kueue's older spelling is read-only; alone, it is a Kueue before v1beta2."""

    def __init__(self, kueue_version: str = CURRENT) -> None:
        old = tuple(_in_old_spelling(resource) for resource in _OF_KUEUE)
        kueue = (*_OF_KUEUE, *old) if kueue_version == CURRENT else old
        self._resources = {(r.group, r.version, r.plural): r for r in (*_CORE, *kueue)}

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        return self._resources.get((group, version, plural))

    def all(self) -> Iterable[Resource]:
        return self._resources.values()

    def versions(self, group: str) -> list[str]:
        """Served versions of a group, the preferred one first."""
        return list(dict.fromkeys(r.version for r in self.all() if r.group == group))

    def groups(self) -> list[str]:
        """Every group but the core one."""
        return list(dict.fromkeys(r.group for r in self.all() if r.group))


def _in_old_spelling(resource: Resource) -> Resource:
    return Resource(
        resource.group,
        DEPRECATED,
        resource.plural,
        resource.kind,
        resource.namespaced,
        resource.short_names,
        has_status=resource.has_status,
        writable=False,
        shown=spelling.OLD.get(resource.kind, spelling.old_version),
    )
