"""The pods that a job's controllers make of an admitted Workload: how many, what they are called, how they fare."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Any, Final

from emulator.clock import api_time
from emulator.store import Json
from scheduling import names
from scheduling.objects import PodSet, Workload

POD: Final = "Pod"
_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
_GATE: Final = "kueue.x-k8s.io/admission"
_PODSET_LABEL: Final = "kueue.x-k8s.io/podset"
_QUEUE_LABELS: Final = ("kueue.x-k8s.io/local-queue-name", "kueue.x-k8s.io/cluster-queue-name")
GRACE_SECONDS: Final = 30
_OUT_OF_MEMORY: Final = 137
NO_NODE: Final = "0 nodes are available: no node matches the pod's node selector."


class Stage(Enum):
    """What becomes of all pods of one Workload together."""

    GATED = auto()
    STARTING = auto()
    RUNNING = auto()
    STOPPING = auto()
    SUCCEEDED = auto()
    FAILED = auto()


def stage_of(workload: Workload) -> Stage | None:
    """None: it has no pods. A Pod that is its own job exists from the start, behind Kueue's gate."""
    if workload.owner is None:
        return None
    if workload.is_finished:
        return Stage.SUCCEEDED if workload.conditions[names.FINISHED].reason == names.SUCCEEDED else Stage.FAILED
    if workload.admission is None or not workload.is_true(names.ADMITTED):
        return Stage.GATED if workload.owner.kind == POD else None
    if workload.is_true(names.EVICTED):
        return Stage.STOPPING
    return Stage.RUNNING if workload.is_true(names.PODS_READY) else Stage.STARTING


@dataclass(frozen=True, slots=True)
class Planned:
    """A pod that should be there. `uid` is given only for a Pod that is its own job."""

    name: str
    uid: str
    labels: dict[str, str]
    owner: dict[str, Any] | None
    pod_set: PodSet
    number: int


def planned(workload: Workload, owner: Json) -> Iterator[Planned]:
    """All pods of the Workload, named and labelled as its kind of job does. `owner` is its owner reference."""
    kind, job = owner["kind"], owner["name"]
    cluster = f"{job}-{_suffix(workload.uid)}"
    for pod_set in workload.pod_sets:
        for number in range(_count(workload, pod_set)):
            mark = _suffix(f"{workload.uid}/{pod_set.name}/{number}")
            labels = _labels(kind, owner, cluster)
            reference: dict[str, Any] | None = {**owner, "controller": True}
            name, uid = f"{job}-{pod_set.name}-{number}", ""
            if kind == POD:
                name, uid, reference = job, owner["uid"], None
            elif kind == "Job":
                name = f"{job}-{mark}"
            elif kind == "HyperPodPyTorchJob":
                name = f"{pod_set.name.removesuffix('-podset')}-{number}"
            elif kind == "RayJob":
                name = f"{cluster}-{pod_set.name}-{'worker-' if pod_set.name != 'head' else ''}{mark}"
                reference = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "name": cluster, "uid": f"of-{cluster}"}
            yield Planned(name, uid, labels, reference, pod_set, number)


def _count(workload: Workload, pod_set: PodSet) -> int:
    given = workload.admission.pod_sets if workload.admission else ()
    return next((assignment.count for assignment in given if assignment.name == pod_set.name), pod_set.count)


def _labels(kind: str, owner: Json, cluster: str) -> dict[str, str]:
    label = names.POD_LABEL_OF_KIND.get(kind)
    labels = {label: owner["name"]} if label else {}
    if kind == "Job":
        labels |= {"batch.kubernetes.io/controller-uid": owner["uid"], "job-name": owner["name"]}
    return {**labels, "ray.io/cluster": cluster} if kind == "RayJob" else labels


def _suffix(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:5])


def manifest(plan: Planned, workload: Workload) -> dict[str, Any]:
    """The pod as it is created: with the template, and with what Kueue notes on it at admission."""
    template = plan.pod_set.template
    given = template.get("metadata") or {}
    meta: dict[str, Any] = {
        "name": plan.name,
        "namespace": workload.namespace,
        "labels": {**(given.get("labels") or {}), **plan.labels, **_noted(plan, workload)},
        "annotations": {**(given.get("annotations") or {}), names.WORKLOAD_ANNOTATION: workload.name},
    }
    if plan.owner:
        meta["ownerReferences"] = [plan.owner]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": dict(template.get("spec") or {})}


def _noted(plan: Planned, workload: Workload) -> dict[str, str]:
    admission = workload.admission
    queues = zip(_QUEUE_LABELS, (workload.queue_name, admission.cluster_queue if admission else ""), strict=True)
    return {_PODSET_LABEL: plan.pod_set.name, **{label: queue for label, queue in queues if queue}}


def gated(pod: Json) -> dict[str, Any]:
    message = "Scheduling is blocked due to non-empty scheduling gates"
    condition = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": message}
    spec = {**pod["spec"], "schedulingGates": [{"name": _GATE}]}
    return {**pod, "spec": spec, "status": {"phase": "Pending", "conditions": [condition]}}


def placed(pod: Json, node: str) -> dict[str, Any]:
    """Bound to a node; without one it waits for it."""
    spec = {name: value for name, value in pod["spec"].items() if name != "schedulingGates"}
    return {**pod, "spec": {**spec, "nodeName": node} if node else spec}


def faring(pod: Json, stage: Stage, now: datetime, *, is_sick: bool, number: int) -> dict[str, Any]:
    """The pod at a stage. On a sick node its containers were started again; of failed ones the first is to blame."""
    if stage is Stage.STOPPING:
        end = now + timedelta(seconds=GRACE_SECONDS)  # when it is to be gone; it was told now
        ends = {"deletionTimestamp": api_time(end), "deletionGracePeriodSeconds": GRACE_SECONDS}
        return {**pod, "metadata": {**pod["metadata"], **ends}}
    if not pod["spec"].get("nodeName"):
        return {**pod, "status": _unscheduled()}
    phase = {Stage.STARTING: "Pending", Stage.RUNNING: "Running", Stage.SUCCEEDED: "Succeeded"}.get(stage, "Failed")
    state = _state(stage, now, number)
    statuses = [_container(container, stage, state, is_sick) for container in pod["spec"].get("containers") or ()]
    ready = {"type": "Ready", "status": str(stage is Stage.RUNNING)}
    conditions = [{"type": "PodScheduled", "status": "True"}, ready]
    return {**pod, "status": {"phase": phase, "conditions": conditions, "containerStatuses": statuses}}


def _unscheduled() -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": NO_NODE}
    return {"phase": "Pending", "conditions": [condition]}


def _state(stage: Stage, now: datetime, number: int) -> dict[str, Any]:
    if stage is Stage.STARTING:
        return {"waiting": {"reason": "ContainerCreating"}}
    if stage is Stage.RUNNING:
        return {"running": {"startedAt": api_time(now)}}
    if stage is Stage.SUCCEEDED:
        return {"terminated": {"reason": "Completed", "exitCode": 0, "finishedAt": api_time(now)}}
    is_to_blame = number == 0
    reason, code = ("OOMKilled", _OUT_OF_MEMORY) if is_to_blame else ("Error", 1)
    return {"terminated": {"reason": reason, "exitCode": code, "finishedAt": api_time(now)}}


def _container(container: Json, stage: Stage, state: dict[str, Any], is_sick: bool) -> dict[str, Any]:
    crashed = is_sick and stage is not Stage.STARTING
    return {
        "name": container["name"],
        "image": container.get("image", ""),
        "ready": stage is Stage.RUNNING,
        "restartCount": 2 if crashed else 0,
        "state": state,
        "lastState": {"terminated": {"reason": "Error", "exitCode": 1}} if crashed else {},
    }
