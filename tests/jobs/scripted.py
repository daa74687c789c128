"""A cluster that answers as `gateways.kueue` and `gateways.kubernetes` would, from objects that a test sets."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateways.errors import GatewayError, NotFound
from gateways.records import NodeRecord, ObjectVersion, Page, PodLook
from scheduling import objects
from teams.models import SpecVersion
from teams.sync import KIND_OF, QueueRecord
from tests.pods import Pod
from tests.stories import Job, next_version

Kind = SpecVersion.Kind
WORKLOADS = "Workload"


@dataclass
class ScriptedCluster:
    """Kinds are named as in the API. `failing` raises before the first page of a kind, `broken` after it; `restarts`
    begins the list of a kind again after its first page, once; `malformed` names objects that cannot be read."""

    jobs: list[Job] = field(default_factory=list)
    queues: list[QueueRecord] = field(default_factory=list)
    nodes: list[NodeRecord] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)
    uid: str = "uid-of-kube-system"
    page_size: int = 2
    failing: dict[str, GatewayError] = field(default_factory=dict)
    broken: dict[str, GatewayError] = field(default_factory=dict)
    restarts: set[str] = field(default_factory=set)
    malformed: list[Job] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    events: list[Any] = field(default_factory=list)

    def install(self, monkeypatch: pytest.MonkeyPatch, module: str = "jobs.sync.pull") -> "ScriptedCluster":
        """What `module` connects to is this cluster."""
        monkeypatch.setattr(f"{module}.connect", lambda connection: self)
        for gateway in ("Kueue", "Kubernetes"):
            monkeypatch.setattr(f"{module}.{gateway}", lambda api: api)
        monkeypatch.setattr("jobs.sync.pull.list_pod_looks", ScriptedCluster.list_pod_looks)
        return self

    def get(self, path: str, query: Mapping[str, Any] | None = None, accept: str = "") -> dict[str, Any]:
        """A list of `events`, in the older form: the newer API is not served."""
        self._ask(path)
        if path != "/api/v1/events":
            raise NotFound(f"there is no {path}")
        return {"metadata": {"resourceVersion": str(next_version())}, "items": self.events}

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Every right is granted."""
        return {"status": {"allowed": True}}

    def server_version(self) -> str:
        return "v1.36.3"

    def kueue_version(self) -> str | None:
        return "0.19.2"

    def identity(self) -> str:
        self._ask("identity")
        return self.uid

    def list_workloads(self) -> Iterator[Page[objects.Workload]]:
        records = [job.record for job in self.jobs if job not in self.malformed]
        return self._pages(WORKLOADS, records, [job for job in self.jobs if job in self.malformed])

    def list_workload_versions(self) -> Iterator[Page[ObjectVersion]]:
        return self._pages("versions", [_version(job) for job in self.jobs])

    def get_workload(self, namespace: str, name: str) -> objects.Workload:
        self._ask(f"get {name}")
        for job in self.jobs:
            if (job.record.namespace, job.record.name) == (namespace, name):
                return job.record
        raise NotFound(f"there is no {namespace}/{name}")

    def list_cluster_queues(self) -> Iterator[Page[Any]]:
        return self._queues(Kind.CLUSTER_QUEUE)

    def list_cohorts(self) -> Iterator[Page[Any]]:
        return self._queues(Kind.COHORT)

    def list_local_queues(self) -> Iterator[Page[Any]]:
        return self._queues(Kind.LOCAL_QUEUE)

    def list_resource_flavors(self) -> Iterator[Page[Any]]:
        return self._queues(Kind.RESOURCE_FLAVOR)

    def list_priority_classes(self) -> Iterator[Page[Any]]:
        return self._queues(Kind.PRIORITY_CLASS)

    def list_admission_checks(self) -> Iterator[Page[Any]]:
        return self._queues(Kind.ADMISSION_CHECK)

    def list_nodes(self) -> Iterator[Page[NodeRecord]]:
        return self._pages("Node", self.nodes)

    def list_pod_looks(self) -> Iterator[Page[PodLook]]:
        return self._pages("Pod", [pod.look for pod in self.pods])

    def _queues(self, kind: Kind) -> Iterator[Page[Any]]:
        return self._pages(kind, [record for record in self.queues if KIND_OF[type(record)] == kind])

    def _pages(self, kind: str, records: Sequence[Any], unread: Sequence[Job] = ()) -> Iterator[Page[Any]]:
        self._ask(kind)
        restarted = False
        parts = [records[n : n + self.page_size] for n in range(0, len(records), self.page_size)] or [[]]
        if kind in self.restarts:
            self.restarts.discard(kind)
            yield Page(tuple(parts[0]), (), next_version(), False, False)
            restarted = True
        version = next_version()
        for number, part in enumerate(parts):
            is_last = number == len(parts) - 1
            bad = unread if is_last else ()
            sentences = tuple(f"Workload {job.namespace}/{job.record.name}: a field is missing" for job in bad)
            versions = tuple(_version(job) for job in bad)
            yield Page(tuple(part), sentences, version, restarted and not number, is_last, versions)
            if kind in self.broken:
                raise self.broken[kind]

    def _ask(self, call: str) -> None:
        self.calls.append(call)
        if call in self.failing:
            raise self.failing[call]


def _version(job: Job) -> ObjectVersion:
    record = job.record
    return ObjectVersion(record.uid, record.namespace, record.name, record.resource_version)
