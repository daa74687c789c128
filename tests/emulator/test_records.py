import logging

import pytest

from emulator.records import Records
from emulator.resources import CLUSTER_QUEUES, WORKLOADS
from tests.emulator.manifests import workload
from tests.emulator.scene import NAMESPACE, Scene


@pytest.fixture
def scene() -> Scene:
    scene = Scene()
    scene.submit(workload("running", "a", 8), workload("waiting", "a", 1))
    return scene


def test_records_follow_the_store(scene: Scene) -> None:
    records = Records(scene.store)
    assert set(records.workloads()) == {(NAMESPACE, "running"), (NAMESPACE, "waiting")}
    assert set(records.cluster_queues()) == {"a", "b"}
    scene.delete(WORKLOADS, "waiting")
    scene.delete(CLUSTER_QUEUES, "b")
    assert set(records.workloads()) == {(NAMESPACE, "running")}
    assert set(records.cluster_queues()) == {"a"}


def test_who_waits_and_who_holds_quota(scene: Scene) -> None:
    records = Records(scene.store)
    assert [key[1] for key in records.waiting()] == ["waiting"]
    assert [key[1] for key in records.holding()] == ["running"]
    scene.delete(WORKLOADS, "running")
    assert [key[1] for key in records.holding()] == ["waiting"]
    assert not records.waiting()


def test_they_start_again_when_the_past_is_forgotten(scene: Scene) -> None:
    records = Records(scene.store)
    records.workloads()
    scene.delete(WORKLOADS, "running")
    scene.store.compact()
    assert [key[1] for key in records.holding()] == ["waiting"]


def test_an_unchanged_object_is_parsed_once(scene: Scene) -> None:
    records = Records(scene.store)
    before = records.workloads()[NAMESPACE, "running"]
    scene.submit(workload("more", "a", 1))
    assert records.workloads()[NAMESPACE, "running"] is before


def test_what_cannot_be_read_is_logged_and_left_out(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    broken = workload("broken", "a", 1)
    broken["spec"]["podSets"] = [{"count": 1}]
    with caplog.at_level(logging.WARNING):
        scene.submit(broken)
    assert (NAMESPACE, "broken") not in scene.cluster.records.workloads()
    assert "broken" in caplog.text
