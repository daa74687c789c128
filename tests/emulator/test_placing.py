from typing import Any

import pytest

from emulator.placing import Placing
from emulator.resources import NODES, PODS
from emulator.store import Store
from scheduling import names
from tests.emulator.scene import START

TYPE = {names.INSTANCE_TYPE_LABEL: "big"}


class Rack:
    """Nodes of 4 GPUs."""

    def __init__(self) -> None:
        self.store = Store("test")
        self.placing = Placing(self.store)

    def node(self, name: str, health: str = names.NODE_SCHEDULABLE, **labels: str) -> None:
        meta = {"name": name, "labels": {**TYPE, names.NODE_HEALTH_LABEL: health, **labels}}
        status = {"allocatable": {names.NVIDIA_GPU: "4"}}
        self.store.create(NODES.storage, {"kind": "Node", "metadata": meta, "status": status}, START)

    def run(self, gpus: int, phase: str = "Running", **selector: str) -> str:
        """Places a pod and keeps it there; the node's name."""
        spec = asking(gpus, {**TYPE, **selector})
        node = self.placing.node_for(spec)
        meta = {"namespace": "team", "name": f"p{self.store.version}"}
        self.store.create(
            PODS.storage, {"metadata": meta, "spec": {**spec, "nodeName": node}, "status": {"phase": phase}}, START
        )
        return node


def asking(gpus: int, selector: dict[str, str]) -> dict[str, Any]:
    requests = {names.NVIDIA_GPU: str(gpus)} if gpus else {}
    return {"nodeSelector": selector, "containers": [{"name": "main", "resources": {"requests": requests}}]}


@pytest.fixture
def rack() -> Rack:
    made = Rack()
    made.node("a")
    made.node("b")
    return made


def test_the_first_node_with_room_takes_the_pod(rack: Rack) -> None:
    assert [rack.run(gpus) for gpus in (2, 3, 2, 0)] == ["a", "b", "a", "a"]


def test_pods_that_are_over_take_no_room(rack: Rack) -> None:
    assert [rack.run(4, phase) for phase in ("Succeeded", "Failed", "Running", "Running")] == ["a", "a", "a", "b"]


def test_where_no_node_has_room_the_least_full_takes_it(rack: Rack) -> None:
    assert [rack.run(gpus) for gpus in (4, 3, 2)] == ["a", "b", "b"]


def test_a_pod_that_wants_another_node_gets_none(rack: Rack) -> None:
    assert rack.run(1, disk="fast") == ""


def test_a_sick_node_has_one_pod(rack: Rack) -> None:
    rack.node("sick", "Unschedulable")
    assert [rack.run(gpus) for gpus in (0, 4, 4, 4, 1)] == ["a", "sick", "a", "b", "a"]
    assert rack.placing.is_sick("sick")
    assert not rack.placing.is_sick("a")
    assert not rack.placing.is_sick("nowhere")


def test_a_sick_node_is_better_than_none() -> None:
    rack = Rack()
    rack.node("sick", "Unschedulable")
    assert [rack.run(2), rack.run(2)] == ["sick", "sick"]
