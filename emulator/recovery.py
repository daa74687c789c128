"""The stand-in for HyperPod's node recovery: some minutes after the cluster is there, and again hours later, the pods
on a node that is marked as sick are told to stop and made anew elsewhere. Their Workloads stay admitted meanwhile."""

from datetime import datetime, timedelta
from typing import Any, Final

from emulator.placing import Placing
from emulator.pods import GRACE_SECONDS, POD, Stage, faring, placed
from emulator.resources import PODS
from emulator.store import Json, Key, Store

_FIRST: Final = timedelta(minutes=3)
_EVERY: Final = timedelta(hours=6)
_GRACE: Final = timedelta(seconds=GRACE_SECONDS)


class NodeRecovery:
    """`begin` is when nobody had been looked after yet. A Pod that is a job of its own is left where it is."""

    def __init__(self, store: Store, begin: datetime) -> None:
        self._store, self._placing = store, Placing(store)
        self._due = begin + _FIRST
        self._leaving: dict[Key, str] = {}
        self._gone_at: datetime | None = None

    def reconcile(self, now: datetime) -> None:
        if self._gone_at is not None and self._gone_at <= now:
            self._replace(now)
        if self._due <= now:
            self._stop(now)

    def next_due(self) -> datetime | None:
        return min(self._due, self._gone_at or self._due)

    def _stop(self, now: datetime) -> None:
        while self._due <= now:
            self._due += _EVERY
        for pod in [each for each in self._store.all(PODS.storage) if self._suffers(each)]:
            meta = pod["metadata"]
            self._store.update(PODS.storage, faring(pod, Stage.STOPPING, now, is_sick=True, number=0))
            self._leaving[meta["namespace"], meta["name"]] = meta["uid"]
        self._gone_at = now + _GRACE if self._leaving else None

    def _suffers(self, pod: Json) -> bool:
        is_running = (pod.get("status") or {}).get("phase") == "Running"
        owners = pod["metadata"].get("ownerReferences") or ()
        of_a_job = any(owner["kind"] != POD for owner in owners) and not pod["metadata"].get("deletionTimestamp")
        return is_running and of_a_job and self._placing.is_sick(pod["spec"].get("nodeName", ""))

    def _replace(self, now: datetime) -> None:
        leaving, self._leaving, self._gone_at = self._leaving, {}, None
        for (namespace, name), uid in leaving.items():
            pod = self._store.get(PODS.storage, namespace, name)
            if pod is not None and pod["metadata"]["uid"] == uid and pod["status"]["phase"] == "Running":
                self._store.delete(PODS.storage, namespace, name)
                self._make_anew(pod, now)

    def _make_anew(self, pod: Json, now: datetime) -> None:
        anew = self._store.create(PODS.storage, _as_new(pod), now)
        there = placed(anew, self._placing.node_for(anew["spec"], only_healthy=True))
        self._store.update(PODS.storage, faring(there, Stage.RUNNING, now, is_sick=False, number=0))


def _as_new(pod: Json) -> dict[str, Any]:
    kept = ("name", "namespace", "labels", "annotations", "ownerReferences")
    meta = {name: value for name, value in pod["metadata"].items() if name in kept}
    spec = {name: value for name, value in pod["spec"].items() if name != "nodeName"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
