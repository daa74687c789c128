"""The control plane itself: what the other tests rely on."""

import pytest

from tests.cluster import jobs, objects
from tests.cluster.client import VISIBILITY, Client, path
from tests.cluster.objects import GPU
from tests.cluster.plane import ControlPlane

pytestmark = [pytest.mark.cluster, pytest.mark.slow]


def make_queue(client: Client, name: str) -> None:
    """A namespace, flavor, ClusterQueue of 4 GPUs and LocalQueue of that name."""
    client.create("namespaces", objects.namespace(name))
    client.create("resourceflavors", objects.flavor(name))
    client.create("clusterqueues", objects.cluster_queue(name, objects.group((name, {GPU: 4})), cohort=name))
    client.create("localqueues", objects.local_queue(name, name, name))
    jobs.wait_for("an active queue", lambda: jobs.is_true(client.read("clusterqueues", name), "Active"))


def test_kueue_admits_a_workload_that_fits(plane: ControlPlane) -> None:
    make_queue(plane.admin, "fits")
    plane.admin.create("workloads", objects.workload("fits", "job", "fits", objects.pod_set({GPU: 4})))

    admitted = jobs.wait_until_true(plane.admin, "fits", "job", "Admitted")

    assert admitted["status"]["admission"]["clusterQueue"] == "fits"


def test_portal_reads_kueue_and_nothing_secret(plane: ControlPlane) -> None:
    make_queue(plane.admin, "readable")

    assert plane.portal.read("clusterqueues", "readable")["metadata"]["name"] == "readable"
    assert plane.portal.pending("readable") == []
    for verb, address in (
        ("GET", "/api/v1/secrets"),
        ("GET", "/api/v1/namespaces/readable/configmaps"),
        ("DELETE", path("clusterqueues", name="readable")),
    ):
        assert plane.portal.ask(verb, address).status_code == 403, address


def test_stranger_reads_nothing(plane: ControlPlane) -> None:
    for address in (path("workloads"), path("nodes"), f"{VISIBILITY}/clusterqueues/any/pendingworkloads"):
        assert plane.stranger.ask("GET", address).status_code == 403, address


def test_both_versions_of_kueue_are_served(plane: ControlPlane) -> None:
    make_queue(plane.admin, "versions")

    older = plane.portal.call("GET", "/apis/kueue.x-k8s.io/v1beta1/clusterqueues/versions")

    assert older["spec"]["cohort"] == "versions"
    assert plane.portal.read("clusterqueues", "versions")["spec"]["cohortName"] == "versions"


def test_objects_outlive_the_api_server(plane: ControlPlane) -> None:
    make_queue(plane.admin, "outlives")
    before = plane.portal.read("clusterqueues", "outlives")["metadata"]

    plane.restart_api_server()

    after = plane.portal.read("clusterqueues", "outlives")["metadata"]
    assert (after["uid"], after["creationTimestamp"]) == (before["uid"], before["creationTimestamp"])


def test_compaction_ends_a_list_under_way(plane: ControlPlane) -> None:
    for name in ("compacted-1", "compacted-2"):
        plane.admin.create("namespaces", objects.namespace(name))
    page = plane.portal.call("GET", path("namespaces"), params={"limit": "1"})
    plane.admin.create("namespaces", objects.namespace("compacted-3"))

    plane.compact()

    following = {"limit": "1", "continue": page["metadata"]["continue"]}
    jobs.wait_for("410", lambda: plane.portal.ask("GET", path("namespaces"), params=following).status_code == 410)


def test_an_evicted_workload_is_released_as_a_job_controller_would(plane: ControlPlane) -> None:
    make_queue(plane.admin, "released")
    plane.admin.create("workloads", objects.workload("released", "job", "released", objects.pod_set({GPU: 4})))
    jobs.wait_until_true(plane.admin, "released", "job", "Admitted")
    plane.admin.merge("clusterqueues", "released", {"spec": {"stopPolicy": "HoldAndDrain"}})
    jobs.wait_until_true(plane.admin, "released", "job", "Evicted")

    jobs.release(plane.admin, "released", "job")
    plane.admin.merge("clusterqueues", "released", {"spec": {"stopPolicy": "None"}})

    again = jobs.wait_until_true(plane.admin, "released", "job", "Admitted")
    assert not jobs.is_true(again, "Evicted")


def test_a_job_runs_to_its_end_on_a_node_of_kwok(working_plane: ControlPlane) -> None:
    client = working_plane.admin
    make_queue(client, "working")
    client.create("nodes", node("working-node", gpus=8))
    client.create("jobs", job("working", "train", gpus=4))

    def finished() -> dict[str, object] | None:
        ended = [w for w in client.items("workloads", "working") if jobs.is_true(w, "Finished")]
        return ended[0] if ended else None

    workload = jobs.wait_for("the Job's end", finished, 60)

    assert workload["metadata"]["ownerReferences"][0]["name"] == "train"
    assert [p["status"]["phase"] for p in client.items("pods", "working")] == ["Succeeded"]


def node(name: str, gpus: int) -> dict[str, object]:
    capacity = {GPU: str(gpus), "cpu": "64", "memory": "256Gi", "pods": "110"}
    labels = {"node.kubernetes.io/instance-type": "ml.p5.48xlarge"}
    return {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": capacity, "capacity": capacity}}


def job(namespace: str, name: str, gpus: int) -> dict[str, object]:
    """A Job of one pod that kwok lets run for two seconds."""
    pause = {f"pod-complete.stage.kwok.x-k8s.io/{what}": "2s" for what in ("delay", "jitter-delay")}
    template = objects.pod_set({GPU: gpus})["template"]
    labels = {"kueue.x-k8s.io/queue-name": namespace}
    return {
        "metadata": {"namespace": namespace, "name": name, "labels": labels},
        "spec": {"suspend": True, "template": {"metadata": {"annotations": pause}, **template}},
    }
