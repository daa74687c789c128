"""Kubernetes objects as the API server prints them, as small as they can be."""

from typing import Any

Json = dict[str, Any]


def metadata(name: str, version: int, namespace: str = "") -> Json:
    place = {"namespace": namespace} if namespace else {}
    return {**place, "name": name, "uid": f"uid-{name}", "resourceVersion": str(version)}


def workload(name: str, version: int = 1, namespace: str = "team", **spec: Any) -> Json:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": metadata(name, version, namespace),
        "spec": {"queueName": "queue", "podSets": [], **spec},
    }


def malformed_workload(name: str, version: int = 1) -> Json:
    return {**workload(name, version), "spec": {"podSets": [{"name": "main", "count": "many"}]}}


def cluster_queue(name: str, version: int = 1, **spec: Any) -> Json:
    return {"kind": "ClusterQueue", "metadata": metadata(name, version), "spec": spec}


def event(kind: str, obj: Json) -> Json:
    return {"type": kind, "object": obj}


def bookmark(version: int) -> Json:
    return event("BOOKMARK", {"kind": "Workload", "metadata": {"resourceVersion": str(version)}})


def error(code: int, message: str = "too old resource version") -> Json:
    return event("ERROR", {"kind": "Status", "code": code, "message": message})


def pod(name: str, spec: Any = None, status: Any = None, **meta: Any) -> Json:
    return {"metadata": {**metadata(name, 1, "team"), **meta}, "spec": spec or {}, "status": status}
