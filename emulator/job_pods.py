"""The stand-in for whatever makes pods of a job, gives them nodes and runs them."""

from datetime import datetime
from typing import Any

from emulator.changes import Changes
from emulator.events import Events
from emulator.placing import Placing
from emulator.pod_notes import PodNotes
from emulator.pods import Planned, Stage, faring, gated, manifest, placed, planned, stage_of
from emulator.records import Records
from emulator.resources import PODS, WORKLOADS
from emulator.store import Json, Key, Store
from scheduling import names
from scheduling.objects import Workload

_BEGINNINGS = (Stage.GATED, Stage.STARTING, Stage.RUNNING)


class JobPods:
    """Keeps the pods of every Workload that has an owner as its conditions want them. What it did is memory only; in a
    cluster that was loaded all pods are as they should be."""

    def __init__(self, store: Store, records: Records, events: Events) -> None:
        self._store, self._records = store, records
        self._notes, self._placing = PodNotes(events), Placing(store)
        self._changes = Changes(store)
        self._stages: dict[Key, Stage] = {}
        self._pods: dict[Key, list[str]] = {}
        self._is_new = True

    def reconcile(self, now: datetime) -> None:
        seen, workloads = self._changes.look(), self._records.workloads()
        if self._is_new:
            self._remember()
        for key in [*workloads, *self._pods] if seen.everything else sorted(seen.of(WORKLOADS)):
            self._follow(key, workloads.get(key), now)

    def next_due(self) -> datetime | None:
        return None

    def _remember(self) -> None:
        self._is_new = False
        for pod in self._store.all(PODS.storage):
            meta = pod["metadata"]
            workload = (meta.get("annotations") or {}).get(names.WORKLOAD_ANNOTATION)
            if workload:
                self._pods.setdefault((meta["namespace"], workload), []).append(meta["name"])
        for key in self._pods:
            known = self._records.workloads().get(key)
            stage = stage_of(known) if known else None
            if stage:
                self._stages[key] = stage

    def _follow(self, key: Key, workload: Workload | None, now: datetime) -> None:
        stored = self._store.get(WORKLOADS.storage, *key)
        stage = stage_of(workload) if workload else None
        if workload is None or stored is None or stage is None:
            self._clear(key)
        elif stage is not self._stages.get(key):
            self._move(key, workload, _owner(stored), stage, now)

    def _clear(self, key: Key) -> None:
        self._stages.pop(key, None)
        for name in self._pods.pop(key, ()):
            if self._store.get(PODS.storage, key[0], name):
                self._store.delete(PODS.storage, key[0], name)

    def _move(self, key: Key, workload: Workload, owner: Json, stage: Stage, now: datetime) -> None:
        if stage is Stage.GATED:
            self._clear(key)  # the pod that was evicted is gone; another waits in its place
        self._stages[key] = stage
        job = {**owner, "namespace": workload.namespace}
        self._notes.of_job(job, workload, stage, now)
        for plan in planned(workload, owner):
            pod = self._store.get(PODS.storage, key[0], plan.name)
            if pod is None and stage in _BEGINNINGS:
                pod = self._create(key, workload, plan, job, now)
            if pod is not None:
                self._move_pod(pod, plan, stage, now)

    def _create(self, key: Key, workload: Workload, plan: Planned, job: Json, now: datetime) -> Json:
        self._pods.setdefault(key, []).append(plan.name)
        self._notes.created(job, plan.name, now)
        return self._store.create(PODS.storage, manifest(plan, workload), now, uid=plan.uid)

    def _move_pod(self, pod: Json, plan: Planned, stage: Stage, now: datetime) -> None:
        if stage is Stage.GATED:
            self._store.update(PODS.storage, gated(pod))
            return
        if stage is Stage.STARTING:
            pod = self._store.update(PODS.storage, placed(pod, self._placing.node_for(pod["spec"])))
            self._notes.placed(pod, now)
        is_sick = self._placing.is_sick(pod["spec"].get("nodeName", ""))
        pod = self._store.update(PODS.storage, faring(pod, stage, now, is_sick=is_sick, number=plan.number))
        self._notes.of_kubelet(pod, stage, now, is_sick=is_sick)


def _owner(stored: Json) -> dict[str, Any]:
    """The owner that controls the Workload, without the reference's flags."""
    references = stored["metadata"]["ownerReferences"]
    found = next((each for each in references if each.get("controller")), references[0])
    return {name: found[name] for name in ("apiVersion", "kind", "name", "uid")}
