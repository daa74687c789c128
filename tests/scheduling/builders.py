"""Kueue objects as the API server would show them, with few defaults, read by the real parser."""

from collections.abc import Mapping, Sequence
from typing import Any

from scheduling.objects import ClusterQueue, Cohort, LocalQueue, ResourceFlavor, Workload
from scheduling.parsing import (
    parse_cluster_queue,
    parse_cohort,
    parse_local_queue,
    parse_resource_flavor,
    parse_workload,
)

Json = dict[str, Any]
GPU = "nvidia.com/gpu"
P5 = "ml.p5.48xlarge"
KEY = (P5, GPU)


def at(second: int) -> str:
    """An API time some seconds after midnight of a fixed day."""
    hours, rest = divmod(second, 3600)
    return f"2026-10-08T{hours:02}:{rest // 60:02}:{rest % 60:02}Z"


def quota(nominal: int | str, borrow: int | str | None = None, lend: int | str | None = None) -> Json:
    limits = {"borrowingLimit": borrow, "lendingLimit": lend}
    return {"nominalQuota": str(nominal), **{name: str(limit) for name, limit in limits.items() if limit is not None}}


def groups(*flavors: tuple[str, Mapping[str, Json]]) -> list[Json]:
    """One resource group; each flavor with its quotas by resource."""
    covered = list(dict.fromkeys(resource for _, quotas in flavors for resource in quotas))
    return [
        {
            "coveredResources": covered,
            "flavors": [
                {"name": name, "resources": [{"name": r, **q} for r, q in quotas.items()]} for name, quotas in flavors
            ],
        }
    ]


def gpus(nominal: int | str, borrow: int | str | None = None, lend: int | str | None = None) -> list[Json]:
    """Resource groups with nothing but GPUs of one flavor."""
    return groups((P5, {GPU: quota(nominal, borrow, lend)}))


def meta(name: str, namespace: str = "", created: int = 0, **more: Any) -> Json:
    place = {"namespace": namespace} if namespace else {}
    return {
        "name": name,
        **place,
        "uid": f"uid-{name}",
        "resourceVersion": "1",
        "creationTimestamp": at(created),
        **more,
    }


def queue_json(name: str, resource_groups: list[Json], cohort: str | None = None, **spec: Any) -> Json:
    placed = {"cohortName": cohort} if cohort else {}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": meta(name),
        "spec": {"resourceGroups": resource_groups, **placed, **spec},
    }


def cohort_json(name: str, resource_groups: list[Json] | None = None, parent: str | None = None, **spec: Any) -> Json:
    placed = {"parentName": parent} if parent else {}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Cohort",
        "metadata": meta(name),
        "spec": {"resourceGroups": resource_groups or [], **placed, **spec},
    }


def local_queue_json(namespace: str, name: str, cluster_queue: str, **spec: Any) -> Json:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": meta(name, namespace),
        "spec": {"clusterQueue": cluster_queue, **spec},
    }


def condition(kind: str, status: str, reason: str = "", message: str = "", since: int = 0) -> Json:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": at(since)}


def workload_json(name: str, requests: Mapping[str, str], count: int = 1, **parts: Any) -> Json:
    """A pending workload with one pod set "main" in namespace "ns", LocalQueue "lq"."""
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": meta(name, "ns", parts.pop("created", 0)),
        "spec": {
            "queueName": "lq",
            "priority": parts.pop("priority", 0),
            "podSets": [
                {
                    "name": "main",
                    "count": count,
                    "template": {"spec": {"containers": [{"resources": {"requests": dict(requests)}}]}},
                }
            ],
            **parts.pop("spec", {}),
        },
        "status": parts.pop("status", {}),
    }


def admitted_json(
    name: str, queue: str, usage: Mapping[str, str], flavor: str = P5, count: int = 1, reserved: int = 0, **parts: Any
) -> Json:
    """A workload whose quota is reserved and admitted in the queue, all resources on one flavor."""
    obj = workload_json(name, usage, count, **parts)
    obj["status"] = {
        "admission": {
            "clusterQueue": queue,
            "podSetAssignments": [
                {"name": "main", "flavors": dict.fromkeys(usage, flavor), "resourceUsage": dict(usage), "count": count}
            ],
        },
        "conditions": [
            condition("QuotaReserved", "True", "QuotaReserved", since=reserved),
            condition("Admitted", "True", "Admitted", since=reserved),
        ],
        **obj["status"],
    }
    return obj


def queue(name: str, resource_groups: list[Json], cohort: str | None = "shared", **spec: Any) -> ClusterQueue:
    return parse_cluster_queue(queue_json(name, resource_groups, cohort, **spec))


def cohort(name: str, resource_groups: list[Json] | None = None, parent: str | None = None, **spec: Any) -> Cohort:
    return parse_cohort(cohort_json(name, resource_groups, parent, **spec))


def local_queue(namespace: str, name: str, cluster_queue: str, **spec: Any) -> LocalQueue:
    return parse_local_queue(local_queue_json(namespace, name, cluster_queue, **spec))


def flavor(name: str = P5, **spec: Any) -> ResourceFlavor:
    return parse_resource_flavor({"kind": "ResourceFlavor", "metadata": meta(name), "spec": spec})


def pending(name: str, amount: int = 1, **parts: Any) -> Workload:
    """A pending workload that asks for GPUs."""
    return parse_workload(workload_json(name, {GPU: str(amount)}, **parts))


def admitted(name: str, queue: str, amount: int, **parts: Any) -> Workload:
    """An admitted workload that uses GPUs."""
    return parse_workload(admitted_json(name, queue, {GPU: str(amount)}, **parts))


def used(**amounts: int) -> dict[str, dict[tuple[str, str], int]]:
    """GPUs in use by queue, as `accounting` counts them."""
    return {name: {KEY: amount} for name, amount in amounts.items()}


def names_of(workloads: Sequence[Workload]) -> list[str]:
    return [w.name for w in workloads]
