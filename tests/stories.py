"""Kueue objects as the API server shows them while their story goes on, read by the real parser.

Every verb of a story is one write: it gives the object the next resourceVersion. Times are minutes after `START`.
"""

import copy
import itertools
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from scheduling import names, parsing
from scheduling.objects import ClusterQueue, Cohort, LocalQueue, PriorityClass, ResourceFlavor, Workload
from scheduling.preemption_messages import parse_preemption, previously

Json = dict[str, Any]

START = datetime(2026, 10, 8, 12, tzinfo=UTC)
GPU = names.NVIDIA_GPU
P5 = "ml.p5.48xlarge"
G6 = "ml.g6.12xlarge"
KEY = (P5, GPU)

_versions = itertools.count(1000)


def minute(count: float) -> datetime:
    return START + timedelta(minutes=count)


def next_version() -> int:
    return next(_versions)


def stamp(count: float) -> str:
    """The API server's spelling of a time, whole seconds."""
    return minute(count).strftime("%Y-%m-%dT%H:%M:%SZ")


class Job:
    """One Workload object of one pod set, `pods` times `gpus`. `queue` is the ClusterQueue that takes it."""

    def __init__(
        self,
        name: str = "train",
        namespace: str = "hyperpod-ns-research",
        *,
        queue: str = "research-queue",
        gpus: int | str = 4,
        pods: int = 1,
        created: float = 0,
        priority: int = 0,
        api: str = "v1beta2",
        requests: Mapping[str, str] | None = None,
        uid: str = "",
        **spec: Any,
    ) -> None:
        self.uid = uid or f"uid-{namespace}-{name}"
        self.requests = {GPU: str(gpus)} if requests is None else dict(requests)
        self.queue, self.pods = queue, pods
        pod = {"containers": [{"name": "main", "image": "train", "resources": {"requests": self.requests}}]}
        by_version = (
            {"priorityClassRef": {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "normal"}}
            if api == "v1beta2"
            else {"priorityClassName": "normal", "priorityClassSource": "kueue.x-k8s.io/workloadpriorityclass"}
        )
        self.obj: Json = {
            "apiVersion": f"kueue.x-k8s.io/{api}",
            "kind": "Workload",
            "metadata": {
                "namespace": namespace,
                "name": f"pytorchjob-{name}",
                "uid": self.uid,
                "creationTimestamp": stamp(created),
                "labels": {names.JOB_UID_LABEL: f"job-{self.uid}"},
                "ownerReferences": [
                    {"kind": "PyTorchJob", "name": name, "uid": f"job-{self.uid}", "controller": True},
                ],
            },
            "spec": {
                "queueName": "main-queue",
                "priority": priority,
                "podSets": [{"name": "main", "count": pods, "template": {"spec": pod}}],
                **by_version,
                **spec,
            },
            "status": {},
        }
        self.touch()

    @property
    def record(self) -> Workload:
        return parsing.parse_workload(self.json)

    @property
    def json(self) -> Json:
        return copy.deepcopy(self.obj)

    @property
    def version(self) -> int:
        return int(self.obj["metadata"]["resourceVersion"])

    @property
    def namespace(self) -> str:
        return str(self.obj["metadata"]["namespace"])

    def touch(self) -> "Job":
        self.obj["metadata"]["resourceVersion"] = str(next_version())
        return self

    def condition(
        self, kind: str, status: bool | None, at: float | None = None, reason: str = "", message: str = ""
    ) -> "Job":
        """Sets a condition; its transition time moves only with its status, or where `at` says so."""
        listed = self.obj["status"].setdefault("conditions", [])
        before = next((c for c in listed if c["type"] == kind), None)
        text = {True: "True", False: "False", None: "Unknown"}[status]
        since = stamp(at) if at is not None else (before or {}).get("lastTransitionTime")
        entry = {"type": kind, "status": text, "reason": reason or kind, "message": message}
        if since:
            entry["lastTransitionTime"] = since
        self.obj["status"]["conditions"] = [c for c in listed if c["type"] != kind] + [entry]
        return self.touch()

    def waits(self, message: str = "", at: float = 0, reason: str = names.PENDING) -> "Job":
        return self.condition(names.QUOTA_RESERVED, False, at, reason, message)

    def reserve(self, at: float, flavor: str = P5) -> "Job":
        used = {name: _times(text, self.pods) for name, text in self.requests.items()}
        assigned = {
            "name": "main",
            "flavors": dict.fromkeys(used, flavor),
            "resourceUsage": used,
            "count": self.pods,
        }
        self.obj["status"]["admission"] = {"clusterQueue": self.queue, "podSetAssignments": [assigned]}
        self.condition(names.QUOTA_RESERVED, True, at)
        for told in [c for c in self._conditions if c["type"] in (names.EVICTED, names.PREEMPTED)]:
            if told["status"] == "True":
                self.condition(told["type"], False, at, names.QUOTA_RESERVED, previously(told["message"]))
        return self.touch()

    def admit(self, at: float, flavor: str = P5) -> "Job":
        if not any(c["type"] == names.QUOTA_RESERVED and c["status"] == "True" for c in self._conditions):
            self.reserve(at, flavor)
        return self.condition(names.ADMITTED, True, at)

    def evict(
        self, at: float, reason: str = names.PREEMPTED, message: str = "Preempted", cause: str = "", counts: bool = True
    ) -> "Job":
        """The eviction is decided; the quota is still held. Before 0.12 Kueue `counts` none."""
        if reason == names.PREEMPTED:
            rule = parse_preemption(message).reason or names.IN_COHORT_RECLAMATION
            self.condition(names.PREEMPTED, True, at, rule, message)
        if counts:
            self._count(reason, cause)
        is_told = cause and reason == names.DEACTIVATED
        return self.condition(names.EVICTED, True, at, f"{reason}DueTo{cause}" if is_told else reason, message)

    def _count(self, reason: str, cause: str) -> None:
        counters = self.obj["status"].setdefault("schedulingStats", {"evictions": []})["evictions"]
        for counter in counters:
            if (counter["reason"], counter["underlyingCause"]) == (reason, cause):
                counter["count"] += 1
                return
        counters.append({"reason": reason, "underlyingCause": cause, "count": 1})

    def release(self, at: float, message: str = "") -> "Job":
        """The evicted workload gave its quota back and may be queued again."""
        self.obj["status"].pop("admission", None)
        self._add_up(at)
        self.condition(names.ADMITTED, False, at, "NoReservation")
        self.condition(names.REQUEUED, True, at, names.PREEMPTED)
        return self.waits(message, at)

    def _add_up(self, at: float) -> None:
        """What the admission lasted, in whole seconds."""
        admitted = next((c for c in self._conditions if c["type"] == names.ADMITTED and c["status"] == "True"), None)
        if admitted is not None:
            seconds = int((minute(at) - datetime.fromisoformat(admitted["lastTransitionTime"])).total_seconds())
            key = "accumulatedPastExecutionTimeSeconds"
            self.obj["status"][key] = self.obj["status"].get(key, 0) + seconds

    def finish(self, at: float, reason: str = names.SUCCEEDED) -> "Job":
        return self.condition(names.FINISHED, True, at, reason)

    def give_back(self, pods: int) -> "Job":
        """So many pods are done and need their quota no more."""
        self.obj["status"]["reclaimablePods"] = [{"name": "main", "count": pods}]
        return self.touch()

    def deactivate(self) -> "Job":
        self.obj["spec"]["active"] = False
        return self.touch()

    @property
    def _conditions(self) -> list[Json]:
        found: list[Json] = self.obj["status"].get("conditions", [])
        return found


def _times(text: str, count: int) -> str:
    return str(int(text) * count) if text.lstrip("-").isdigit() else text


def quota(nominal: int | str, borrow: int | str | None = None, lend: int | str | None = None) -> Json:
    limits = {"borrowingLimit": borrow, "lendingLimit": lend}
    return {"nominalQuota": str(nominal), **{name: str(limit) for name, limit in limits.items() if limit is not None}}


def groups(*flavors: tuple[str, Mapping[str, Json]]) -> list[Json]:
    covered = list(dict.fromkeys(resource for _, quotas in flavors for resource in quotas))
    listed = [{"name": name, "resources": [{"name": r, **q} for r, q in qs.items()]} for name, qs in flavors]
    return [{"coveredResources": covered, "flavors": listed}] if listed else []


def _meta(name: str, version: int | None, uid: str, namespace: str = "") -> Json:
    place = {"namespace": namespace} if namespace else {}
    version = next_version() if version is None else version
    return {**place, "name": name, "uid": uid or f"uid-{name}", "resourceVersion": str(version)}


def cluster_queue(
    name: str = "research-queue",
    gpus: int | str = 12,
    borrow: int | None = None,
    lend: int | None = None,
    *,
    cohort: str | None = "shared",
    flavors: list[Json] | None = None,
    version: int | None = None,
    uid: str = "",
    api: str = "v1beta2",
    status: Json | None = None,
    **spec: Any,
) -> ClusterQueue:
    placed = {"cohortName" if api == "v1beta2" else "cohort": cohort} if cohort else {}
    listed = groups((P5, {GPU: quota(gpus, borrow, lend)})) if flavors is None else flavors
    return parsing.parse_cluster_queue(
        {
            "apiVersion": f"kueue.x-k8s.io/{api}",
            "kind": "ClusterQueue",
            "metadata": _meta(name, version, uid),
            "spec": {"resourceGroups": listed, **placed, **spec},
            "status": status or {},
        }
    )


def cohort(
    name: str = "shared", gpus: int | None = None, parent: str = "", version: int | None = None, uid: str = ""
) -> Cohort:
    spec: Json = {"resourceGroups": groups((P5, {GPU: quota(gpus)}))} if gpus is not None else {}
    if parent:
        spec["parentName"] = parent
    return parsing.parse_cohort({"kind": "Cohort", "metadata": _meta(name, version, uid), "spec": spec})


def local_queue(
    namespace: str, queue: str, name: str = "main-queue", version: int | None = None, uid: str = "", **spec: Any
) -> LocalQueue:
    meta = _meta(name, version, uid or f"uid-{namespace}-{name}", namespace)
    return parsing.parse_local_queue({"kind": "LocalQueue", "metadata": meta, "spec": {"clusterQueue": queue, **spec}})


def flavor(name: str = P5, version: int | None = None, **spec: Any) -> ResourceFlavor:
    return parsing.parse_resource_flavor({"kind": "ResourceFlavor", "metadata": _meta(name, version, ""), "spec": spec})


def priority_class(name: str = "normal", value: int = 100, version: int | None = None) -> PriorityClass:
    return parsing.parse_priority_class(
        {"kind": "WorkloadPriorityClass", "metadata": _meta(name, version, ""), "value": value}
    )
