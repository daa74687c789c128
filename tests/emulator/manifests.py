"""Objects for tests: small queues of CPUs, and workloads that ask for them."""

from typing import Any

from emulator.jobs import PREFIX

API = "kueue.x-k8s.io/v1beta2"


def named(kind: str, name: str, **rest: Any) -> dict[str, Any]:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name}, **rest}


def namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def flavor(name: str = "default") -> dict[str, Any]:
    return named("ResourceFlavor", name, spec={})


def cluster_queue(name: str, cpus: int, cohort: str = "all", flavor: str = "default", **spec: Any) -> dict[str, Any]:
    quota = {"name": flavor, "resources": [{"name": "cpu", "nominalQuota": cpus}]}
    return named(
        "ClusterQueue",
        name,
        spec={
            "cohortName": cohort,
            "namespaceSelector": {},
            "preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
            "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [quota]}],
            **spec,
        },
    )


def local_queue(name: str, queue: str) -> dict[str, Any]:
    return named("LocalQueue", name, spec={"clusterQueue": queue})


def workload(name: str, queue: str, cpus: int, priority: int = 0, **spec: Any) -> dict[str, Any]:
    """One that nobody owns: what happens to its pods is up to the test."""
    container = {"name": "main", "image": "any", "resources": {"requests": {"cpu": str(cpus)}}}
    pod_set = {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}
    return named("Workload", name, spec={"queueName": queue, "priority": priority, "podSets": [pod_set], **spec})


def job(name: str, queue: str, cpus: int, priority: int = 0, **story: object) -> dict[str, Any]:
    """A workload that a job owns; `story` are the annotations that tell what the job does."""
    owned = workload(name, queue, cpus, priority)
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": f"uid-of-{name}", "controller": True}
    owned["metadata"] |= {
        "ownerReferences": [owner],
        "labels": {"kueue.x-k8s.io/job-uid": f"uid-of-{name}"},
        "annotations": {f"{PREFIX}{key}": str(value) for key, value in story.items()},
    }
    return owned
