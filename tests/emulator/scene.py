"""A cluster without HTTP whose clock only tests move: two queues `a` and `b` of 4 CPUs each in one cohort."""

from datetime import UTC, datetime
from typing import Any

from emulator.building import EMPTY, build_cluster
from emulator.clock import Clock
from emulator.defaults import with_defaults
from emulator.resources import (
    CLUSTER_QUEUES,
    COHORTS,
    EVENTS,
    FLAVORS,
    LOCAL_QUEUES,
    NAMESPACES,
    WORKLOADS,
    Resource,
)
from tests.emulator import manifests

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
NAMESPACE = "team"
_RESOURCES = {r.kind: r for r in (NAMESPACES, FLAVORS, CLUSTER_QUEUES, LOCAL_QUEUES, COHORTS, WORKLOADS)}


class Scene:
    def __init__(self, *queues: dict[str, Any]) -> None:
        self.cluster = build_cluster(EMPTY, 1, Clock(START, paused=True))
        self.store = self.cluster.store
        self.create(manifests.namespace(NAMESPACE), manifests.flavor())
        for queue in queues or (manifests.cluster_queue("a", 4), manifests.cluster_queue("b", 4)):
            name = queue["metadata"]["name"]
            self.create(queue, manifests.local_queue(name, name))
        self.step()

    def create(self, *objects: dict[str, Any]) -> None:
        for obj in objects:
            resource = _RESOURCES[obj["kind"]]
            meta = {**obj["metadata"], **({"namespace": NAMESPACE} if resource.namespaced else {})}
            self.store.create(resource.storage, with_defaults({**obj, "metadata": meta}), self.cluster.clock.now())

    def submit(self, *workloads: dict[str, Any], seconds: float = 1) -> None:
        """Create them one after the other, in moments of their own."""
        for each in workloads:
            self.create(each)
            self.step(seconds)

    def step(self, seconds: float = 0) -> None:
        self.cluster.step(seconds)

    def get(self, resource: Resource, name: str) -> Any:
        return self.store.get(resource.storage, NAMESPACE if resource.namespaced else "", name)

    def change(self, resource: Resource, name: str, **spec: Any) -> None:
        old = self.get(resource, name)
        self.store.update(resource.storage, {**old, "spec": {**old["spec"], **spec}})
        self.step()

    def delete(self, resource: Resource, name: str) -> None:
        self.store.delete(resource.storage, NAMESPACE if resource.namespaced else "", name)
        self.step()

    def status(self, name: str) -> Any:
        return self.get(WORKLOADS, name).get("status", {})

    def conditions(self, name: str) -> dict[str, tuple[str, str]]:
        """Status and reason by type."""
        return {c["type"]: (c["status"], c["reason"]) for c in self.status(name).get("conditions", ())}

    def condition(self, name: str, kind: str) -> Any:
        return next(c for c in self.status(name)["conditions"] if c["type"] == kind)

    def message(self, name: str, kind: str = "QuotaReserved") -> str:
        return str(self.condition(name, kind)["message"])

    def is_admitted(self, name: str) -> bool:
        return self.conditions(name).get("Admitted", ("", ""))[0] == "True"

    def queue(self, name: str) -> Any:
        return self.get(CLUSTER_QUEUES, name)["status"]

    def events(self) -> list[tuple[str, str, str]]:
        """Object, reason and message, in the order they were written."""
        return [(e["involvedObject"]["name"], e["reason"], e["message"]) for e in self.store.all(EVENTS.storage)]

    def story(self, name: str) -> list[tuple[str, ...]]:
        """Every state that the workload's conditions went through, as changes of TYPE=STATUS/REASON."""
        told: list[tuple[str, ...]] = []
        before: set[str] = set()
        for event in self.store.events_after(1):
            if event.resource != WORKLOADS.storage or event.object["metadata"]["name"] != name:
                continue
            now = {
                f"{c['type']}={c['status']}/{c['reason']}" for c in event.object.get("status", {}).get("conditions", ())
            }
            if event.type == "DELETED":
                told.append(("deleted",))
            elif now - before:
                told.append(tuple(sorted(now - before)))
            before = now
        return told
