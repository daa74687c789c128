from typing import Any

import pytest

from emulator.resources import CLUSTER_QUEUES, LOCAL_QUEUES, WORKLOADS
from scheduling.accounting import reserved_by_queue
from scheduling.cohort import figures
from tests.emulator.manifests import cluster_queue, job, local_queue, workload
from tests.emulator.scene import Scene


@pytest.fixture
def scene() -> Scene:
    return Scene()


def cpu(flavors: list[dict[str, Any]]) -> dict[str, str]:
    return {key: value for key, value in flavors[0]["resources"][0].items() if key != "name"}


def active(status: dict[str, Any]) -> tuple[str, str, str]:
    (condition,) = status["conditions"]
    return condition["status"], condition["reason"], condition["message"]


def test_an_idle_queue_reports_zeros(scene: Scene) -> None:
    status = scene.queue("a")
    assert cpu(status["flavorsReservation"]) == cpu(status["flavorsUsage"]) == {"total": "0", "borrowed": "0"}
    assert [status[f"{kind}Workloads"] for kind in ("pending", "reserving", "admitted")] == [0, 0, 0]
    assert active(status) == ("True", "Ready", "Can admit new workloads")
    assert "fairSharing" not in status


def test_use_borrowing_and_counts(scene: Scene) -> None:
    scene.submit(workload("six", "a", 6), workload("waiting", "a", 3))
    status = scene.queue("a")
    assert cpu(status["flavorsReservation"]) == cpu(status["flavorsUsage"]) == {"total": "6", "borrowed": "2"}
    assert [status[f"{kind}Workloads"] for kind in ("pending", "reserving", "admitted")] == [1, 1, 1]
    local = scene.get(LOCAL_QUEUES, "a")["status"]
    assert cpu(local["flavorsUsage"]) == {"total": "6"}
    assert [local[f"{kind}Workloads"] for kind in ("pending", "reserving", "admitted")] == [1, 1, 1]
    assert active(local) == ("True", "Ready", "Can submit new workloads to localQueue")


def test_two_local_queues_share_a_cluster_queue(scene: Scene) -> None:
    scene.create(local_queue("second", "a"))
    scene.submit(workload("one", "a", 1), workload("two", "second", 2))
    assert cpu(scene.queue("a")["flavorsUsage"])["total"] == "3"
    totals = [cpu(scene.get(LOCAL_QUEUES, name)["status"]["flavorsUsage"])["total"] for name in ("a", "second")]
    assert totals == ["1", "2"]


def test_use_is_told_until_the_quota_is_given_back(scene: Scene) -> None:
    scene.submit(job("job", "a", 4, start=1, run=20, stop=5))
    scene.change(WORKLOADS, "job", priority=1)
    assert cpu(scene.queue("a")["flavorsUsage"])["total"] == "4"
    scene.step(30)
    assert cpu(scene.queue("a")["flavorsUsage"])["total"] == "0"
    assert scene.conditions("job")["Finished"] == ("True", "Succeeded")


def test_outside_a_cohort_nothing_is_borrowed() -> None:
    queue = cluster_queue("alone", 4)
    del queue["spec"]["cohortName"]
    scene = Scene(queue)
    scene.submit(workload("four", "alone", 4))
    groups = cluster_queue("any", 2)["spec"]["resourceGroups"]
    scene.change(CLUSTER_QUEUES, "alone", resourceGroups=groups)
    assert cpu(scene.queue("alone")["flavorsUsage"]) == {"total": "4", "borrowed": "0"}


def test_what_is_used_outside_the_present_spec_is_not_told(scene: Scene) -> None:
    scene.submit(workload("four", "a", 4))
    other = cluster_queue("any", 4, flavor="other")["spec"]["resourceGroups"]
    scene.change(CLUSTER_QUEUES, "a", resourceGroups=other)
    status = scene.queue("a")
    assert status["flavorsUsage"][0]["name"] == "other"
    assert cpu(status["flavorsUsage"])["total"] == "0"
    assert status["reservingWorkloads"] == 1


@pytest.mark.parametrize("policy", ["Hold", "HoldAndDrain"])
def test_a_stopped_queue_says_so(scene: Scene, policy: str) -> None:
    scene.change(CLUSTER_QUEUES, "a", stopPolicy=policy)
    scene.submit(workload("waiting", "a", 1))
    assert active(scene.queue("a")) == ("False", "Stopped", "Can't admit new workloads: is stopped.")
    assert scene.queue("a")["pendingWorkloads"] == 1
    local = scene.get(LOCAL_QUEUES, "a")["status"]
    assert active(local) == ("False", "ClusterQueueIsInactive", "Can't submit new workloads to clusterQueue")


def test_a_stopped_local_queue_counts_nobody_as_waiting(scene: Scene) -> None:
    scene.change(LOCAL_QUEUES, "a", stopPolicy="Hold")
    scene.submit(workload("waiting", "a", 1))
    local = scene.get(LOCAL_QUEUES, "a")["status"]
    assert active(local) == ("False", "Stopped", "LocalQueue is stopped")
    assert local["pendingWorkloads"] == 0


def test_a_missing_flavor_and_a_missing_queue(scene: Scene) -> None:
    scene.create(cluster_queue("c", 4, flavor="none"), local_queue("c", "c"), local_queue("d", "nowhere"))
    scene.step()
    message = "Can't admit new workloads: references missing ResourceFlavor(s): none."
    assert active(scene.queue("c")) == ("False", "FlavorNotFound", message)
    local = scene.get(LOCAL_QUEUES, "d")["status"]
    assert active(local)[:2] == ("False", "ClusterQueueDoesNotExist")
    assert "flavorsUsage" not in local


def test_a_status_is_written_only_when_it_changes(scene: Scene) -> None:
    before = scene.get(CLUSTER_QUEUES, "a")["metadata"]["resourceVersion"]
    scene.submit(workload("one", "b", 1))
    scene.step(600)
    assert scene.get(CLUSTER_QUEUES, "a")["metadata"]["resourceVersion"] == before


def test_the_status_agrees_with_the_arithmetic(scene: Scene) -> None:
    scene.submit(workload("six", "a", 6), workload("one", "b", 1))
    records = scene.cluster.records
    reserved = reserved_by_queue(records.workloads().values())
    standing = figures(records.cluster_queues().values(), (), *reserved).queues
    for name, queue in records.cluster_queues().items():
        for key, told in queue.status.usage.items():
            computed = standing[name].figures[key]
            assert (told.total, told.borrowed) == (computed.usage, computed.borrowed)
