from typing import Any

import pytest

from emulator.resources import NODES, PODS
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
    scene.step(180)
    stopping = pod(scene)
    assert stopping["metadata"]["uid"] == first["metadata"]["uid"]
    assert stopping["metadata"]["deletionTimestamp"]
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
    submit(scene, run=190)
    scene.step(600)
    assert (pod(scene)["spec"]["nodeName"], pod(scene)["status"]["phase"]) == ("node-1", "Succeeded")


def test_the_next_pod_is_looked_after_hours_later(scene: Scene) -> None:
    scene.step(240)
    submit(scene)
    scene.step(3600)
    assert pod(scene)["spec"]["nodeName"] == "node-1"
    scene.step(6 * 3600)
    assert pod(scene)["spec"]["nodeName"] == "node-2"
