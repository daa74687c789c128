"""Manifests of Kueue's objects, and Workloads without a job behind them: enough for quota and preemption, and fast."""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]
Limits = Mapping[str, Any]  # resource -> nominal, or (nominal, borrowingLimit, lendingLimit)

API_VERSION = "kueue.x-k8s.io/v1beta2"
GPU = "nvidia.com/gpu"
GRACE_SECONDS = 5  # not the usual 30, and still more than any moment that tests look at may be off


def namespace(name: str, **labels: str) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def flavor(name: str, node_labels: Mapping[str, str] | None = None) -> Json:
    return _object("ResourceFlavor", {"name": name}, {"nodeLabels": dict(node_labels or {})})


def priority_class(name: str, value: int) -> Json:
    return {"apiVersion": API_VERSION, "kind": "WorkloadPriorityClass", "metadata": {"name": name}, "value": value}


def group(*flavors: tuple[str, Limits]) -> Json:
    """A resource group; every flavor limits the same resources in the same order."""
    covered = list(flavors[0][1])
    listed = [{"name": name, "resources": [_quota(r, limits[r]) for r in covered]} for name, limits in flavors]
    return {"coveredResources": covered, "flavors": listed}


def cohort(name: str, *groups: Json, parent: str | None = None, **spec: Any) -> Json:
    above = {"parentName": parent} if parent else {}
    return _object("Cohort", {"name": name}, {**above, "resourceGroups": list(groups), **spec})


def cluster_queue(name: str, *groups: Json, cohort: str | None = None, **spec: Any) -> Json:
    """Open to every namespace."""
    above = {"cohortName": cohort} if cohort else {}
    return _object(
        "ClusterQueue", {"name": name}, {"namespaceSelector": {}, **above, "resourceGroups": list(groups), **spec}
    )


def local_queue(namespace: str, name: str, cluster_queue: str) -> Json:
    return _object("LocalQueue", {"namespace": namespace, "name": name}, {"clusterQueue": cluster_queue})


def pod_set(requests: Mapping[str, str | int], count: int = 1, name: str = "main") -> Json:
    asked = {resource: str(amount) for resource, amount in requests.items()}
    container = {"name": "main", "image": "pause", "resources": {"requests": asked, "limits": asked}}
    template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    return {"name": name, "count": count, "template": template}


def job_template(requests: Mapping[str, str | int], seconds: int) -> Json:
    """What a Job makes its pods from. On nodes of kwok each starts at once, not within ten seconds, and runs for so
    long; once it is told to go it is gone at a random moment of its grace period."""
    lasts = {"pod-create": "0.1s", "pod-ready": "0.1s", "pod-complete": f"{seconds}s"}
    stages = {
        f"{stage}.stage.kwok.x-k8s.io/{what}": pause
        for stage, pause in lasts.items()
        for what in ("delay", "jitter-delay")
    }
    spec = {**pod_set(requests)["template"]["spec"], "terminationGracePeriodSeconds": GRACE_SECONDS}
    return {"metadata": {"annotations": stages}, "spec": spec}


def workload(namespace: str, name: str, queue: str, *pod_sets: Json, **spec: Any) -> Json:
    """Without an owner: whoever creates it must release it when it is evicted (`jobs.release`)."""
    metadata = {"namespace": namespace, "name": name}
    return _object("Workload", metadata, {"queueName": queue, "podSets": list(pod_sets), **spec})


def _quota(resource: str, limits: Any) -> Json:
    nominal, borrowing, lending = limits if isinstance(limits, tuple | list) else (limits, None, None)
    quota = {"name": resource, "nominalQuota": nominal, "borrowingLimit": borrowing, "lendingLimit": lending}
    return {field: str(value) for field, value in quota.items() if value is not None}


def _object(kind: str, metadata: Json, spec: Json) -> Json:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}
