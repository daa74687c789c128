"""A real API server full of workloads, for benches: written into etcd as the API server itself would store them."""

import base64
import json
import random
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from tests.cluster.plane import ControlPlane

Json = dict[str, Any]

NAMESPACES = 50
FLAVORS = ("ml.p5.48xlarge", "ml.g6e.12xlarge")
REQUESTS = {"cpu": "96", "memory": "1Ti", "nvidia.com/gpu": "8"}

_PER_TRANSACTION = 100


@contextmanager
def api_server() -> Iterator[ControlPlane]:
    """etcd and kube-apiserver with Kueue's kinds, and no Kueue: nothing changes but by the bench's own hand."""
    with (
        tempfile.TemporaryDirectory(prefix="bench-plane-", ignore_cleanup_errors=True) as folder,
        ControlPlane(Path(folder)) as plane,
    ):
        plane.processes.stop("kueue")
        for kind in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"):
            for hook in plane.admin.items(kind):
                plane.admin.delete(kind, hook["metadata"]["name"])
        for service in plane.admin.items("apiservices"):
            if "visibility" in service["metadata"]["name"]:
                plane.admin.delete("apiservices", service["metadata"]["name"])
        yield plane


def fill(plane: ControlPlane, workloads: int, seed: int = 11) -> None:
    """Queues of NAMESPACES teams, and so many workloads: 70 % finished, 20 % admitted, 10 % pending."""
    for number in range(NAMESPACES):
        plane.admin.create("clusterqueues", cluster_queue(number))
        plane.admin.create("namespaces", {"metadata": {"name": f"ns-{number}"}})
        plane.admin.create("localqueues", local_queue(number))
    rng = random.Random(seed)
    batch: list[Json] = []
    for number in range(workloads):
        batch.append(workload(rng, number))
        if len(batch) == _PER_TRANSACTION:
            _store(plane, batch)
            batch = []
    _store(plane, batch)


def _store(plane: ControlPlane, objects: list[Json]) -> None:
    puts = [{"requestPut": {"key": _b64(_key(obj)), "value": _b64(json.dumps(obj))}} for obj in objects]
    if puts:
        with requests.Session() as session:
            session.trust_env = False
            session.post(f"{plane.etcd_url}/v3/kv/txn", json={"success": puts}, timeout=60).raise_for_status()


def _key(obj: Json) -> str:
    meta = obj["metadata"]
    return f"/registry/kueue.x-k8s.io/workloads/{meta['namespace']}/{meta['name']}"


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def cluster_queue(number: int) -> Json:
    quotas = [{"name": r, "nominalQuota": {"cpu": "9600", "memory": "100Ti"}.get(r, "800")} for r in REQUESTS]
    groups = [{"coveredResources": list(REQUESTS), "flavors": [{"name": f, "resources": quotas} for f in FLAVORS]}]
    spec = {"cohortName": f"cohort-{number % 5}", "namespaceSelector": {}, "resourceGroups": groups}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": f"queue-{number}"},
        "spec": spec,
    }


def local_queue(number: int) -> Json:
    meta = {"name": "local", "namespace": f"ns-{number}"}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": meta,
        "spec": {"clusterQueue": f"queue-{number}"},
    }


def workload(rng: random.Random, number: int) -> Json:
    """One podSet, three resources, as Kueue and its job controller leave it, managed fields included."""
    state = rng.choices(("finished", "admitted", "pending"), (70, 20, 10))[0]
    team, job = rng.randrange(NAMESPACES), str(uuid.UUID(int=rng.getrandbits(128), version=4))
    name = f"pytorchjob-train-{number}-{rng.randrange(16**5):05x}"
    created = f"2026-11-{rng.randint(1, 27):02}T{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}Z"
    owner = {
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": f"train-{number}", "uid": job,
        "controller": True, "blockOwnerDeletion": True,
    }  # fmt: skip
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": name,
            "namespace": f"ns-{team}",
            "uid": str(uuid.UUID(int=rng.getrandbits(128), version=4)),
            "creationTimestamp": created,
            "generation": 1,
            "labels": {"kueue.x-k8s.io/job-uid": job},
            "finalizers": ["kueue.x-k8s.io/resource-in-use"],
            "ownerReferences": [owner],
            "managedFields": _managed_fields(created),
        },
        "spec": _spec(rng),
        "status": _status(rng, state, f"queue-{team}", created),
    }


def _spec(rng: random.Random) -> Json:
    resources = {"requests": REQUESTS, "limits": REQUESTS}
    container = {
        "name": "train",
        "image": "registry/train:1",
        "args": ["--epochs", "3"],
        "env": [{"name": f"SETTING_{i}", "value": "x" * 20} for i in range(4)],
        "resources": resources,
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "Always",
    }
    template = {
        "metadata": {"labels": {"app": "train"}},
        "spec": {"containers": [container], "restartPolicy": "Never", "dnsPolicy": "ClusterFirst",
                 "schedulerName": "default-scheduler", "securityContext": {}, "terminationGracePeriodSeconds": 30},
    }  # fmt: skip
    return {
        "active": True,
        "queueName": "local",
        "priority": rng.choice((0, 50, 100)),
        "priorityClassRef": {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "training-priority"},
        "podSets": [{"name": "main", "count": 1, "template": template}],
    }


def _status(rng: random.Random, state: str, queue: str, created: str) -> Json:
    if state == "pending":
        missing = (
            f"insufficient unused quota for nvidia.com/gpu in flavor {FLAVORS[0]}, {rng.randint(1, 8)} more needed"
        )
        message = f"couldn't assign flavors to pod set main: {missing}"
        return {
            "conditions": [_condition("QuotaReserved", "False", "Pending", message, created)],
            "resourceRequests": [{"name": "main", "resources": REQUESTS}],
        }
    flavor = rng.choice(FLAVORS)
    conditions = [
        _condition("QuotaReserved", "True", "QuotaReserved", f"Quota reserved in ClusterQueue {queue}", created),
        _condition("Admitted", "True", "Admitted", "The workload is admitted", created),
        _condition("PodsReady", "True", "Started", "All pods reached readiness and the workload is running", created),
    ]
    if state == "finished":
        conditions.append(
            _condition("Finished", "True", "Succeeded", "Job finished successfully", created[:17] + "59Z")
        )
    assignment = {"name": "main", "count": 1, "flavors": dict.fromkeys(REQUESTS, flavor), "resourceUsage": REQUESTS}
    return {"conditions": conditions, "admission": {"clusterQueue": queue, "podSetAssignments": [assignment]}}


def _condition(kind: str, status: str, reason: str, message: str, since: str) -> Json:
    return {
        "type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since,
        "observedGeneration": 1,
    }  # fmt: skip


def _managed_fields(time: str) -> list[Json]:
    def entry(manager: str, operation: str, fields: Json, **more: str) -> Json:
        return {
            "apiVersion": "kueue.x-k8s.io/v1beta2", "fieldsType": "FieldsV1", "fieldsV1": fields,
            "manager": manager, "operation": operation, "time": time, **more,
        }  # fmt: skip

    leaves: Json = {".": {}, **{f"f:{n}": {} for n in ("lastTransitionTime", "message", "reason", "status", "type")}}
    conditions = {f'k:{{"type":"{kind}"}}': leaves for kind in ("QuotaReserved", "Admitted", "PodsReady")}
    status = {
        "f:status": {"f:admission": {"f:clusterQueue": {}, "f:podSetAssignments": {}}, "f:conditions": conditions}
    }
    spec = {"f:metadata": {"f:labels": {}, "f:ownerReferences": {}}, "f:spec": {"f:podSets": {}, "f:queueName": {}}}
    return [entry("kueue", "Update", spec), entry("kueue-admission", "Apply", status, subresource="status")]
