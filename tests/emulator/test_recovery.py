from typing import Any

import pytest

from emulator.building import TEAMS, build_cluster
from emulator.clock import Clock
from emulator.cluster import Cluster
from emulator.placing import Placing, is_sick
from emulator.resources import NODES, PODS
from emulator.store import Event
from scheduling import names
from tests.emulator.manifests import job
from tests.emulator.scene import NAMESPACE, START, Scene

SICK = {names.NODE_HEALTH_LABEL: "Unschedulable"}


@pytest.fixture
def scene() -> Scene:
    made = Scene()
    for name in ("node-1", "node-2"):
        made.store.create(NODES.storage, {"kind": "Node", "metadata": {"name": name}, "spec": {}}, START)
    return made


def submit(scene: Scene, kind: str = "PyTorchJob", **story: int) -> None:
    """Its pod runs on node-1, which falls sick."""
    obj = job("train", "a", 1, start=0, **story)
    obj["metadata"]["ownerReferences"][0]["kind"] = kind
    scene.submit(obj, seconds=1)
    node = scene.store.get(NODES.storage, "", "node-1")
    assert node is not None
    scene.store.update(NODES.storage, {**node, "metadata": {**node["metadata"], "labels": SICK}})


def pod(scene: Scene) -> Any:
    (found,) = [each for each in scene.store.all(PODS.storage) if each["metadata"]["namespace"] == NAMESPACE]
    return found


def test_a_pod_on_a_sick_node_is_stopped_and_made_anew_elsewhere_while_its_workload_stays(scene: Scene) -> None:
    submit(scene)
    first = pod(scene)
    assert first["spec"]["nodeName"] == "node-1"
    scene.step(60)
    stopping = pod(scene)
    assert stopping["metadata"]["uid"] == first["metadata"]["uid"]
    assert stopping["metadata"]["deletionTimestamp"] == "2026-03-02T09:01:30Z"  # told at 09:01, with 30 s to go
    scene.step(30)
    anew = pod(scene)
    assert anew["metadata"]["name"] == first["metadata"]["name"]
    assert anew["metadata"]["uid"] != first["metadata"]["uid"]
    assert (anew["spec"]["nodeName"], anew["status"]["phase"]) == ("node-2", "Running")
    assert "deletionTimestamp" not in anew["metadata"]
    assert scene.is_admitted("train")


def test_a_pod_that_is_its_own_job_stays(scene: Scene) -> None:
    submit(scene, kind="Pod")
    scene.step(600)
    assert pod(scene)["spec"]["nodeName"] == "node-1"


def test_a_job_that_ends_meanwhile_is_not_begun_again(scene: Scene) -> None:
    submit(scene, run=70)
    scene.step(600)
    assert (pod(scene)["spec"]["nodeName"], pod(scene)["status"]["phase"]) == ("node-1", "Succeeded")


def test_the_next_pod_is_looked_after_an_hour_later(scene: Scene) -> None:
    scene.step(240)
    submit(scene)
    scene.step(3000)
    assert pod(scene)["spec"]["nodeName"] == "node-1"
    scene.step(600)
    assert pod(scene)["spec"]["nodeName"] == "node-2"


def mark(scene: Scene, name: str, labels: dict[str, str]) -> None:
    node = scene.store.get(NODES.storage, "", name)
    assert node is not None
    scene.store.update(NODES.storage, {**node, "metadata": {**node["metadata"], "labels": labels}})


def sick(scene: Scene) -> list[str]:
    return [node["metadata"]["name"] for node in scene.store.all(NODES.storage) if is_sick(node)]


def test_where_a_sick_node_has_no_pod_of_a_job_one_with_such_a_pod_falls_sick_instead(scene: Scene) -> None:
    submit(scene)
    mark(scene, "node-1", {})
    mark(scene, "node-2", SICK)
    scene.step(62)
    assert (sick(scene), "deletionTimestamp" in pod(scene)["metadata"]) == (["node-1"], False)
    scene.step(15)
    assert "deletionTimestamp" in pod(scene)["metadata"]
    scene.step(30)
    assert (pod(scene)["spec"]["nodeName"], pod(scene)["status"]["phase"]) == ("node-2", "Running")
    assert scene.is_admitted("train")


def test_a_node_of_another_type_or_with_a_pod_that_has_just_begun_does_not_fall_sick(scene: Scene) -> None:
    submit(scene)
    mark(scene, "node-1", {names.INSTANCE_TYPE_LABEL: "ml.g6e.12xlarge"})
    mark(scene, "node-2", SICK | {names.INSTANCE_TYPE_LABEL: "ml.p5.48xlarge"})
    scene.step(3000)
    assert sick(scene) == ["node-2"]
    mark(scene, "node-1", {names.INSTANCE_TYPE_LABEL: "ml.p5.48xlarge"})
    scene.step(60)
    assert sick(scene) == ["node-1"]


def test_a_pod_that_ended_meanwhile_is_followed_by_the_next_without_waiting_an_hour(scene: Scene) -> None:
    submit(scene, run=70)
    scene.step(120)
    assert pod(scene)["status"]["phase"] == "Succeeded"
    scene.submit(job("next", "a", 1, start=0), seconds=1)
    scene.step(180)
    (anew,) = [each for each in scene.store.all(PODS.storage) if "next" in each["metadata"]["name"]]
    assert (sick(scene), anew["spec"]["nodeName"]) == (["node-2"], "node-1")


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.crawl) for seed in (2, 3))])
def test_among_the_teams_a_job_is_interrupted_in_the_first_minutes_and_again_within_the_hour(seed: int) -> None:
    cluster = build_cluster(TEAMS, seed, Clock(START, paused=True))
    restarts = Restarts(cluster)
    cluster.step(180)
    early = list(restarts.nodes)
    cluster.step(63 * 60)
    later = restarts.nodes[len(early) :]
    assert early
    assert later
    assert all(before != after for before, after in restarts.nodes)
    assert len([node for node in cluster.store.all(NODES.storage) if is_sick(node)]) == 1


class Restarts:
    """From which node to which other pods went that were told to go from a sick one."""

    def __init__(self, cluster: Cluster) -> None:
        self.nodes: list[tuple[str, str]] = []
        self._going: dict[str, tuple[str, str]] = {}
        self._placing = Placing(cluster.store)
        cluster.store.subscribe(self._see)

    def _see(self, event: Event) -> None:
        if event.resource != PODS.storage:
            return
        meta, node = event.object["metadata"], event.object["spec"].get("nodeName", "")
        uid, before = self._going.get(meta["name"], ("", ""))
        if "deletionTimestamp" in meta and self._placing.is_sick(node):
            self._going[meta["name"]] = meta["uid"], node
        elif before and meta["uid"] != uid and node:
            self.nodes.append((before, node))
            del self._going[meta["name"]]
