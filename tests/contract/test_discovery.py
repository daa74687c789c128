"""What the server tells of itself, and the objects of both versions of Kueue's API."""

import pytest

from tests.cluster import objects
from tests.cluster.client import Client, path
from tests.cluster.objects import GPU
from tests.contract.clusters import Cluster, fresh

KUEUE_KINDS = {
    "clusterqueues": ("ClusterQueue", False),
    "cohorts": ("Cohort", False),
    "localqueues": ("LocalQueue", True),
    "resourceflavors": ("ResourceFlavor", False),
    "workloadpriorityclasses": ("WorkloadPriorityClass", False),
    "workloads": ("Workload", True),
}


def test_version_is_that_of_kubernetes(cluster: Cluster) -> None:
    found = cluster.portal.call("GET", "/version")

    assert (found["major"], found["minor"]) == ("1", "36")
    assert found["gitVersion"].startswith("v1.36.")


def test_groups_name_their_versions(cluster: Cluster) -> None:
    groups = {group["name"]: group for group in cluster.portal.call("GET", "/apis")["groups"]}

    for name in ("kueue.x-k8s.io", "visibility.kueue.x-k8s.io"):
        assert {v["version"] for v in groups[name]["versions"]} == {"v1beta1", "v1beta2"}
        assert groups[name]["preferredVersion"] == {"groupVersion": f"{name}/v1beta2", "version": "v1beta2"}
    one = cluster.portal.call("GET", "/apis/kueue.x-k8s.io")
    assert (one["kind"], one["name"], one["versions"]) == (
        "APIGroup",
        "kueue.x-k8s.io",
        groups["kueue.x-k8s.io"]["versions"],
    )


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_kinds_of_kueue_are_listed(cluster: Cluster, version: str) -> None:
    answer = cluster.portal.call("GET", f"/apis/kueue.x-k8s.io/{version}")

    assert (answer["kind"], answer["groupVersion"]) == ("APIResourceList", f"kueue.x-k8s.io/{version}")
    found = {r["name"]: r for r in answer["resources"]}
    for plural, (kind, namespaced) in KUEUE_KINDS.items():
        assert (found[plural]["kind"], found[plural]["namespaced"]) == (kind, namespaced)
        assert {"get", "list", "watch"} <= set(found[plural]["verbs"])
    assert "workloads/status" in found


def test_core_kinds_are_listed(cluster: Cluster) -> None:
    found = {r["name"]: r for r in cluster.portal.call("GET", "/api/v1")["resources"]}

    for plural, namespaced in (("namespaces", False), ("nodes", False), ("pods", True), ("events", True)):
        assert found[plural]["namespaced"] is namespaced
        assert {"get", "list", "watch"} <= set(found[plural]["verbs"])


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_the_visibility_api_is_discovered(cluster: Cluster, version: str) -> None:
    answer = cluster.portal.call("GET", f"/apis/visibility.kueue.x-k8s.io/{version}")

    found = {r["name"]: r["namespaced"] for r in answer["resources"]}
    assert found["clusterqueues/pendingworkloads"] is False
    assert found["localqueues/pendingworkloads"] is True


def test_the_cluster_has_an_identity(cluster: Cluster) -> None:
    first = cluster.portal.read("namespaces", "kube-system")
    again = cluster.portal.read("namespaces", "kube-system")

    assert first["metadata"]["uid"] == again["metadata"]["uid"] != ""
    assert (first["kind"], first["apiVersion"]) == ("Namespace", "v1")


def test_a_node_is_read_as_it_was_written(cluster: Cluster) -> None:
    name = fresh("node")
    labels = {"node.kubernetes.io/instance-type": "ml.p5.48xlarge"}
    capacity = {GPU: "8", "cpu": "192", "memory": "2Ti"}
    cluster.admin.create("nodes", {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": capacity}})

    (node,) = cluster.portal.items("nodes", fieldSelector=f"metadata.name={name}")

    assert labels.items() <= node["metadata"]["labels"].items()
    assert node["status"]["allocatable"] == capacity


def old(client: Client, address: str) -> dict[str, object]:
    found: dict[str, object] = client.call("GET", address.replace("/v1beta2/", "/v1beta1/"))
    return found


def test_older_version_spells_its_fields_its_own_way(cluster: Cluster) -> None:
    name = fresh("older")
    admin = cluster.admin
    admin.create("namespaces", objects.namespace(name))
    admin.create("workloadpriorityclasses", objects.priority_class(name, 7))
    admin.create("resourceflavors", objects.flavor(name))
    admin.create("clusterqueues", objects.cluster_queue(name, objects.group((name, {GPU: 1})), cohort="older"))
    reference = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": name}
    workload = objects.workload(name, "job", "q", objects.pod_set({GPU: 1}), priority=7, priorityClassRef=reference)
    admin.create("workloads", workload)

    queue, older = (
        old(cluster.portal, path("clusterqueues", name=name)),
        old(cluster.portal, path("workloads", name, "job")),
    )

    assert queue["apiVersion"] == "kueue.x-k8s.io/v1beta1"
    assert queue["spec"]["cohort"] == "older"  # type: ignore[index]
    assert "cohortName" not in queue["spec"]  # type: ignore[operator]
    spec = older["spec"]
    assert (spec["priorityClassName"], spec["priorityClassSource"]) == (  # type: ignore[index]
        name,
        "kueue.x-k8s.io/workloadpriorityclass",
    )
