"""All figures of a large cluster against `json.loads` of the same dump; prints the ratio of the two.

    python -m bench.scheduling

A tree of cohorts with 200 ClusterQueues of 8 flavors, 20,000 workloads of 2 to 3 kB: 70 % admitted, 20 % pending, 10 %
finished. Both sides run in turn in one process, in its CPU time; the ratio is that of the medians.
"""

import gc
import json
import random
import statistics
import time
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from scheduling.accounting import reserved_by_queue
from scheduling.cohort import figures
from scheduling.dump import read_dump
from scheduling.queue_order import queue_orders

QUEUES, FLAVORS, WORKLOADS, ROUNDS = 200, 8, 20_000, 9
COHORTS = 20
RESOURCES = {"cpu": "192", "memory": "2Ti", "nvidia.com/gpu": "8"}
GROUP = "kueue.x-k8s.io"

Json = dict[str, Any]


def main() -> None:
    dump = json.dumps({"apiVersion": "v1", "kind": "List", "items": build_items(random.Random(7))})
    loading: list[float] = []
    counting: list[float] = []
    for _ in range(ROUNDS):
        listed = timed(loading, partial(json.loads, dump))
        timed(counting, partial(count, listed))
    print(f"dump {len(dump) / 1e6:.0f} MB, {len(dump) / WORKLOADS:.0f} bytes a workload")
    print(f"json.loads {statistics.median(loading):.3f} s, all figures {statistics.median(counting):.3f} s")
    print(f"ratio {statistics.median(counting) / statistics.median(loading):.2f} (must reach 1.00)")


def timed(times: list[float], work: Callable[[], Any]) -> Any:
    gc.collect()  # or one side pays for the other's garbage
    begun = time.process_time()
    result = work()
    times.append(time.process_time() - begun)
    return result


def count(listed: Json) -> None:
    dump = read_dump(listed)
    reservation, usage = reserved_by_queue(dump.workloads)
    result = figures(dump.cluster_queues, dump.cohorts, reservation, usage)
    orders = queue_orders(dump.cluster_queues, dump.local_queues, dump.workloads)
    assert len(result.queues) == len(orders) == QUEUES
    assert len(dump.workloads) == WORKLOADS


def build_items(rng: random.Random) -> list[Json]:
    cohorts = [
        named("Cohort", f"cohort-{i}", spec={"parentName": f"cohort-{(i - 1) // 4}"} if i else {})
        for i in range(COHORTS)
    ]
    queues = [build_queue(rng, i) for i in range(QUEUES)]
    locals_ = [
        named("LocalQueue", "local", namespace=f"ns-{i}", spec={"clusterQueue": f"queue-{i}"}) for i in range(QUEUES)
    ]
    flavors = [
        named("ResourceFlavor", f"flavor-{f}", spec={"nodeLabels": {"node.kubernetes.io/instance-type": f"flavor-{f}"}})
        for f in range(FLAVORS)
    ]
    return [*flavors, *cohorts, *queues, *locals_, *(build_workload(rng, i) for i in range(WORKLOADS))]


def named(kind: str, name: str, namespace: str = "", **parts: Any) -> Json:
    place = {"namespace": namespace} if namespace else {}
    uid = uuid.uuid5(uuid.NAMESPACE_OID, f"{kind}/{namespace}/{name}")
    meta = {"creationTimestamp": "2026-10-01T08:00:00Z", "generation": 1, "name": name, **place, "resourceVersion": "7"}
    return {
        "apiVersion": f"{GROUP}/v1beta2",
        "kind": kind,
        "metadata": {**meta, "uid": str(uid)},
        **parts,
    }


def build_queue(rng: random.Random, number: int) -> Json:
    flavors = [
        {
            "name": f"flavor-{f}",
            "resources": [
                {
                    "name": resource,
                    "nominalQuota": quantity(resource, rng.randrange(40)),
                    "borrowingLimit": quantity(resource, 100),
                    "lendingLimit": quantity(resource, rng.randrange(40)),
                }
                for resource in RESOURCES
            ],
        }
        for f in range(FLAVORS)
    ]
    spec = {
        "cohortName": f"cohort-{number % COHORTS}",
        "namespaceSelector": {},
        "queueingStrategy": "BestEffortFIFO",
        "resourceGroups": [{"coveredResources": list(RESOURCES), "flavors": flavors}],
    }
    return named("ClusterQueue", f"queue-{number}", spec=spec)


def quantity(resource: str, nodes: int) -> str:
    """The amount of a resource that so many nodes have."""
    return {"cpu": f"{192 * nodes}", "memory": f"{2 * nodes}Ti", "nvidia.com/gpu": f"{8 * nodes}"}[resource]


def build_workload(rng: random.Random, number: int) -> Json:
    queue, state = rng.randrange(QUEUES), rng.choices(("admitted", "pending", "finished"), (70, 20, 10))[0]
    name, second = f"pytorchjob-train-{number}-{rng.randrange(16**5):05x}", rng.randrange(86_400)
    job = f"84f30c31-5a38-4fdb-9f23-{number:012x}"
    workload = named("Workload", name, f"ns-{queue}", spec=build_spec(rng, number), status={})
    workload["metadata"] |= {
        "creationTimestamp": moment(second),
        "finalizers": [f"{GROUP}/resource-in-use"],
        "labels": {f"{GROUP}/job-uid": job},
        "ownerReferences": [
            {
                "apiVersion": "kubeflow.org/v1",
                "blockOwnerDeletion": True,
                "controller": True,
                "kind": "PyTorchJob",
                "name": f"train-{number}",
                "uid": job,
            }
        ],
        "resourceVersion": str(1000 + number),
    }
    workload["status"] = build_status(rng, state, f"queue-{queue}", second)
    return workload


def build_spec(rng: random.Random, number: int) -> Json:
    container = {
        "command": ["torchrun", "--nproc_per_node=8", "train.py"],
        "image": "registry.example/training:2026-10",
        "imagePullPolicy": "IfNotPresent",
        "name": "pytorch",
        "resources": {"limits": RESOURCES, "requests": RESOURCES},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }
    pod = {
        "containers": [container],
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Never",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }
    template = {"metadata": {"labels": {"training.kubeflow.org/job-name": f"train-{number}"}}, "spec": pod}
    return {
        "active": True,
        "podSets": [{"count": 1 + number % 4, "name": "main", "template": template}],
        "priority": rng.choice((0, 50, 100)),
        "priorityClassRef": {"group": GROUP, "kind": "WorkloadPriorityClass", "name": "training-priority"},
        "queueName": "local",
    }


def build_status(rng: random.Random, state: str, queue: str, second: int) -> Json:
    flavor = f"flavor-{rng.randrange(FLAVORS)}"
    if state == "pending":
        reason = f"insufficient unused quota for nvidia.com/gpu in flavor {flavor}, 8 more needed"
        message = f"couldn't assign flavors to pod set main: {reason}"
        return {
            "conditions": [condition("QuotaReserved", "False", "Pending", message, second)],
            "resourceRequests": [{"name": "main", "resources": RESOURCES}],
        }
    conditions = [
        condition("QuotaReserved", "True", "QuotaReserved", f"Quota reserved in ClusterQueue {queue}", second),
        condition("Admitted", "True", "Admitted", "The workload is admitted", second),
        condition("PodsReady", "True", "Started", "All pods reached readiness and the workload is running", second + 9),
    ]
    if state == "finished":
        conditions.append(condition("Finished", "True", "Succeeded", "Job finished successfully", second + 600))
    assignment = {
        "count": 1,
        "flavors": dict.fromkeys(RESOURCES, flavor),
        "name": "main",
        "resourceUsage": RESOURCES,
    }
    return {"admission": {"clusterQueue": queue, "podSetAssignments": [assignment]}, "conditions": conditions}


def condition(kind: str, status: str, reason: str, message: str, second: int) -> Json:
    return {
        "lastTransitionTime": moment(second),
        "message": message,
        "observedGeneration": 1,
        "reason": reason,
        "status": status,
        "type": kind,
    }


def moment(second: int) -> str:
    day, rest = divmod(second, 86_400)
    return f"2026-10-{1 + day:02}T{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}Z"


if __name__ == "__main__":
    main()
