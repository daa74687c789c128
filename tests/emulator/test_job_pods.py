from typing import Any

import pytest

from emulator.building import EMPTY, build_cluster, dumped
from emulator.clock import Clock
from emulator.resources import NODES, PODS, WORKLOADS
from emulator.world.hardware import P5
from tests.emulator.manifests import job
from tests.emulator.scene import NAMESPACE, START, Scene
from tests.emulator.world.test_world import built

Json = dict[str, Any]


@pytest.fixture
def scene() -> Scene:
    made = Scene()
    for name in ("node-1", "node-2"):
        made.store.create(NODES.storage, {"kind": "Node", "metadata": {"name": name}, "spec": {}}, START)
    return made


def of_kind(kind: str, name: str, cpus: int, pods: int = 1, **story: object) -> Json:
    obj = job(name, "a", cpus, **story)
    obj["metadata"]["ownerReferences"][0]["kind"] = kind
    obj["spec"]["podSets"][0]["count"] = pods
    return obj


def pods(scene: Scene) -> dict[str, Any]:
    return {
        pod["metadata"]["name"]: pod
        for pod in scene.store.all(PODS.storage)
        if pod["metadata"]["namespace"] == NAMESPACE
    }


def phases(scene: Scene) -> list[str]:
    return [pod["status"]["phase"] for pod in pods(scene).values()]


def one(scene: Scene) -> Any:
    (pod,) = pods(scene).values()
    return pod


def state(scene: Scene) -> Any:
    return one(scene)["status"]["containerStatuses"][0]["state"]


def reasons(scene: Scene, name: str) -> list[str]:
    return [reason for about, reason, _ in scene.events() if about == name]


def test_the_pods_of_a_job_from_its_admission_to_its_end(scene: Scene) -> None:
    scene.submit(of_kind("PyTorchJob", "train", 1, pods=2, start=10, run=60, keep=30), seconds=0)
    assert list(pods(scene)) == ["train-main-0", "train-main-1"]
    assert phases(scene) == ["Pending", "Pending"]
    assert {pod["spec"]["nodeName"] for pod in pods(scene).values()} == {"node-1"}
    scene.step(10)
    assert phases(scene) == ["Running", "Running"]
    scene.step(60)
    assert phases(scene) == ["Succeeded", "Succeeded"]
    scene.step(30)
    assert pods(scene) == {}


def test_what_containers_tell_at_each_stage(scene: Scene) -> None:
    scene.submit(job("train", "a", 1, start=10, run=60), seconds=0)
    assert state(scene) == {"waiting": {"reason": "ContainerCreating"}}
    scene.step(10)
    assert state(scene) == {"running": {"startedAt": "2026-03-02T09:00:10Z"}}
    scene.step(60)
    assert state(scene)["terminated"]["exitCode"] == 0


def test_of_failed_pods_the_first_is_to_blame(scene: Scene) -> None:
    scene.submit(of_kind("PyTorchJob", "train", 1, pods=2, run=5, outcome="Failed"), seconds=60)
    assert phases(scene) == ["Failed", "Failed"]
    ends = [pod["status"]["containerStatuses"][0]["state"]["terminated"] for pod in pods(scene).values()]
    assert [(end["reason"], end["exitCode"]) for end in ends] == [("OOMKilled", 137), ("Error", 1)]


def test_a_job_that_waits_or_has_no_owner_has_no_pods(scene: Scene) -> None:
    scene.submit(job("large", "a", 9), seconds=10)
    bare = job("bare", "a", 1)
    del bare["metadata"]["ownerReferences"]
    scene.submit(bare, seconds=10)
    assert scene.is_admitted("bare")
    assert pods(scene) == {}


def test_evicted_pods_stop_go_and_come_back(scene: Scene) -> None:
    scene.submit(job("train", "a", 8, start=0, stop=20), job("owner", "b", 4, start=0, run=30))
    first = next(pod for name, pod in pods(scene).items() if name.startswith("train"))
    assert first["metadata"]["deletionTimestamp"]
    assert "Killing" in reasons(scene, first["metadata"]["name"])
    scene.step(20)
    assert [name for name in pods(scene) if name.startswith("train")] == []
    scene.step(60)
    again = next(pod for name, pod in pods(scene).items() if name.startswith("train"))
    assert again["metadata"]["uid"] != first["metadata"]["uid"]
    assert "deletionTimestamp" not in again["metadata"]


def test_a_pod_that_is_its_own_job_waits_behind_a_gate_under_the_uid_that_its_workload_names(scene: Scene) -> None:
    scene.submit(of_kind("Pod", "alone", 4, run=60), of_kind("Pod", "behind", 5), seconds=0)
    waits = pods(scene)["behind"]
    assert waits["metadata"]["uid"] == "uid-of-behind"
    assert "ownerReferences" not in waits["metadata"]
    assert waits["spec"]["schedulingGates"] and "nodeName" not in waits["spec"]
    assert waits["status"]["conditions"][0]["reason"] == "SchedulingGated"
    scene.step(70)
    runs = pods(scene)["behind"]
    assert (runs["status"]["phase"], runs["metadata"]["uid"]) == ("Running", "uid-of-behind")
    assert "schedulingGates" not in runs["spec"]


@pytest.mark.parametrize(
    ("kind", "stem", "labels", "owner"),
    [
        ("Job", "train-", {"batch.kubernetes.io/job-name": "train"}, "Job"),
        ("HyperPodPyTorchJob", "main-0", {"HPJob": "train"}, "HyperPodPyTorchJob"),
        ("RayJob", "train-", {}, "RayCluster"),
        ("LevitatingJob", "train-main-0", {}, "LevitatingJob"),
    ],
)
def test_names_labels_and_owners_by_kind(
    scene: Scene, kind: str, stem: str, labels: dict[str, str], owner: str
) -> None:
    scene.submit(of_kind(kind, "train", 1))
    meta = one(scene)["metadata"]
    assert meta["name"].startswith(stem)
    assert labels.items() <= meta["labels"].items()
    assert meta["ownerReferences"][0]["kind"] == owner
    assert meta["annotations"] == {"kueue.x-k8s.io/workload": "train"}
    assert meta["labels"]["kueue.x-k8s.io/cluster-queue-name"] == "a"


def test_the_events_of_a_job_and_its_pod(scene: Scene) -> None:
    scene.submit(job("train", "a", 1, start=10, run=60), seconds=100)
    pod = one(scene)["metadata"]["name"]
    assert reasons(scene, pod) == ["Scheduled", "Pulled", "Created", "Started"]
    assert [r for r in reasons(scene, "train") if r not in ("QuotaReserved", "Admitted")] == [
        "Started", "SuccessfulCreate", "FinishedWorkload", "Completed",
    ]  # fmt: skip


def test_a_failed_job_and_one_that_finds_no_node_are_warned_of(scene: Scene) -> None:
    scene.submit(job("train", "a", 1, start=0, run=1, outcome="Failed"), seconds=10)
    assert reasons(scene, "train")[-1] == "BackoffLimitExceeded"
    picky = job("picky", "a", 1)
    picky["spec"]["podSets"][0]["template"]["spec"]["nodeSelector"] = {"disk": "fast"}
    scene.submit(picky, seconds=10)
    pod = next(pod for name, pod in pods(scene).items() if name.startswith("picky"))
    assert reasons(scene, pod["metadata"]["name"]) == ["FailedScheduling"]
    assert pod["status"]["conditions"][0]["reason"] == "Unschedulable"


def test_pods_deleted_by_hand_are_not_missed(scene: Scene) -> None:
    scene.submit(job("train", "a", 1, start=0, run=60, keep=1))
    name = one(scene)["metadata"]["name"]
    scene.delete(PODS, name)
    scene.step(100)
    assert scene.get(WORKLOADS, "train") is None


def test_a_saved_cluster_makes_no_pod_twice(scene: Scene) -> None:
    scene.submit(of_kind("PyTorchJob", "train", 1, pods=2, start=0, run=600))
    again = build_cluster(EMPTY, 1, Clock(START, paused=True), dumped(scene.cluster))
    again.step(60)
    assert len([p for p in again.store.all(PODS.storage) if p["metadata"]["namespace"] == NAMESPACE]) == 2
    again.step(600)
    assert [p["status"]["phase"] for p in again.store.all(PODS.storage)][1:] == ["Succeeded", "Succeeded"]


def test_a_forgotten_log_changes_nothing(scene: Scene) -> None:
    scene.submit(job("train", "a", 1, start=0, run=600))
    before = one(scene)
    scene.store.compact()
    scene.step(60)
    assert one(scene) == before


def test_the_pods_of_the_world() -> None:
    world = built(1)
    sick = {n["metadata"]["name"] for n in world.store.all(NODES.storage) if n["spec"].get("taints")}
    found = list(world.store.all(PODS.storage))
    assert len(found) < 400
    assert {pod["status"]["phase"] for pod in found} >= {"Running", "Succeeded", "Failed"}
    suffering = [pod for pod in found if pod["spec"].get("nodeName") in sick and pod["status"]["phase"] == "Running"]
    assert len(suffering) == P5.sick
    assert suffering[0]["status"]["containerStatuses"][0]["restartCount"] == 2
