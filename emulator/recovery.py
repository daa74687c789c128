"""The stand-in for HyperPod's node recovery: a minute after the cluster is there, and every hour from then on, the pods
on a node that is marked as sick are told to stop and made anew elsewhere. Their Workloads stay admitted meanwhile."""

from datetime import datetime, timedelta
from typing import Any, Final

from emulator.placing import Placing, is_sick
from emulator.pods import GRACE_SECONDS, POD, Stage, faring, placed
from emulator.resources import NODES, PODS
from emulator.store import Json, Key, Store
from scheduling import names
from scheduling.parsing import parse_time

_FIRST: Final = timedelta(minutes=1)
_EVERY: Final = timedelta(hours=1)
_AGAIN: Final = timedelta(minutes=1)  # where there was no pod to look after, or it ended by itself
_DRAIN: Final = timedelta(seconds=15)
_SETTLED: Final = timedelta(minutes=1)
_GRACE: Final = timedelta(seconds=GRACE_SECONDS)


class NodeRecovery:
    """`begin` is when nobody had been looked after yet. A Pod that is a job of its own is left where it is.

    A sick node without pods of a job is healed, and one of its type that has some falls sick instead: under the pod
    that began last, which is the likeliest to go on for a while.
    """

    def __init__(self, store: Store, begin: datetime) -> None:
        self._store, self._placing = store, Placing(store)
        self._due = begin + _FIRST
        self._leaving: dict[Key, str] = {}
        self._gone_at: datetime | None = None

    def reconcile(self, now: datetime) -> None:
        if self._gone_at is not None and self._gone_at <= now:
            self._replace(now)
        if self._due <= now:
            self._due = now + self._look_after(now)

    def next_due(self) -> datetime | None:
        return min(self._due, self._gone_at or self._due)

    def _look_after(self, now: datetime) -> timedelta:
        """How long nobody need look again."""
        of_jobs = [pod for pod in self._store.all(PODS.storage) if _is_of_a_job(pod)]
        suffering = [pod for pod in of_jobs if self._placing.is_sick(_node_of(pod))]
        if suffering:
            self._stop(suffering, now)
            return _EVERY
        sick = next((node for node in self._store.all(NODES.storage) if is_sick(node)), None)
        if sick is None:
            return _EVERY
        return _DRAIN if self._fell_sick_instead(sick, of_jobs, now) else _AGAIN

    def _stop(self, pods: list[Json], now: datetime) -> None:
        for pod in pods:
            meta = pod["metadata"]
            self._store.update(PODS.storage, faring(pod, Stage.STOPPING, now, is_sick=True, number=0))
            self._leaving[meta["namespace"], meta["name"]] = meta["uid"]
        self._gone_at = now + _GRACE

    def _fell_sick_instead(self, sick: Json, pods: list[Json], now: datetime) -> bool:
        settled = [(begun, pod) for pod in pods if (begun := _began(pod)) and begun + _SETTLED <= now]
        for _, pod in sorted(settled, key=lambda each: each[0], reverse=True):
            node = self._store.get(NODES.storage, "", _node_of(pod))
            if node is not None and _instance_type(node) == _instance_type(sick):
                self._store.update(NODES.storage, _marked_like(node, sick))
                self._store.update(NODES.storage, _marked_like(sick, node))
                return True
        return False

    def _replace(self, now: datetime) -> None:
        leaving, self._leaving, self._gone_at = self._leaving, {}, None
        replaced = 0
        for (namespace, name), uid in leaving.items():
            pod = self._store.get(PODS.storage, namespace, name)
            if pod is not None and pod["metadata"]["uid"] == uid and pod["status"]["phase"] == "Running":
                self._store.delete(PODS.storage, namespace, name)
                self._make_anew(pod, now)
                replaced += 1
        if not replaced:
            self._due = now + _AGAIN

    def _make_anew(self, pod: Json, now: datetime) -> None:
        anew = self._store.create(PODS.storage, _as_new(pod), now)
        there = placed(anew, self._placing.node_for(anew["spec"], only_healthy=True))
        self._store.update(PODS.storage, faring(there, Stage.RUNNING, now, is_sick=False, number=0))


def _is_of_a_job(pod: Json) -> bool:
    """Whether it runs, and is not a job of its own."""
    meta = pod["metadata"]
    is_running = (pod.get("status") or {}).get("phase") == "Running" and not meta.get("deletionTimestamp")
    return is_running and any(owner["kind"] != POD for owner in meta.get("ownerReferences") or ())


def _node_of(pod: Json) -> str:
    return str(pod["spec"].get("nodeName", ""))


def _began(pod: Json) -> datetime | None:
    statuses = pod["status"].get("containerStatuses") or ()
    return next((parse_time(each["state"].get("running", {}).get("startedAt")) for each in statuses), None)


def _instance_type(node: Json) -> str | None:
    return _labels(node).get(names.INSTANCE_TYPE_LABEL)


def _marked_like(node: Json, other: Json) -> Json:
    """The node, as healthy or sick as the other one is."""
    health = _labels(other).get(names.NODE_HEALTH_LABEL, names.NODE_SCHEDULABLE)
    labels = {**_labels(node), names.NODE_HEALTH_LABEL: health}
    taints = (other.get("spec") or {}).get("taints", [])
    meta, spec = {**node["metadata"], "labels": labels}, {**(node.get("spec") or {}), "taints": taints}
    return {**node, "metadata": meta, "spec": spec}


def _labels(node: Json) -> dict[str, str]:
    return node["metadata"].get("labels") or {}


def _as_new(pod: Json) -> dict[str, Any]:
    kept = ("name", "namespace", "labels", "annotations", "ownerReferences")
    meta = {name: value for name, value in pod["metadata"].items() if name in kept}
    spec = {name: value for name, value in pod["spec"].items() if name != "nodeName"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
