import pytest

from emulator.resources import CLUSTER_QUEUES, LOCAL_QUEUES, WORKLOADS
from tests.emulator.manifests import cluster_queue, job, local_queue, workload
from tests.emulator.scene import Scene


@pytest.fixture
def scene() -> Scene:
    scene = Scene()
    scene.submit(job("running", "a", 2, start=1, stop=5))
    return scene


@pytest.mark.parametrize("policy", ["Hold", "HoldAndDrain"])
def test_a_stopped_cluster_queue_admits_nobody(scene: Scene, policy: str) -> None:
    scene.change(CLUSTER_QUEUES, "a", stopPolicy=policy)
    scene.submit(workload("late", "a", 1))
    assert scene.conditions("late") == {"QuotaReserved": ("False", "Inadmissible")}
    assert scene.message("late") == "ClusterQueue a is inactive"


def test_hold_lets_the_running_run(scene: Scene) -> None:
    scene.change(CLUSTER_QUEUES, "a", stopPolicy="Hold")
    scene.step(60)
    assert scene.is_admitted("running")
    assert "Evicted" not in scene.conditions("running")


def test_a_drained_queue_evicts_holds_back_and_lets_in_again(scene: Scene) -> None:
    scene.change(CLUSTER_QUEUES, "a", stopPolicy="HoldAndDrain")
    assert scene.conditions("running")["Evicted"] == ("True", "ClusterQueueStopped")
    assert scene.message("running", "Evicted") == "The ClusterQueue is stopped"
    assert ("running", "EvictedDueToClusterQueueStopped", "The ClusterQueue is stopped") in scene.events()
    assert scene.is_admitted("running")
    scene.step(5)
    assert scene.conditions("running")["Requeued"] == ("False", "ClusterQueueStopped")
    assert not scene.is_admitted("running")
    scene.change(CLUSTER_QUEUES, "a", stopPolicy="None")
    assert scene.conditions("running")["Requeued"] == ("True", "ClusterQueueRestarted")
    assert scene.is_admitted("running")
    assert scene.conditions("running")["Evicted"] == ("False", "QuotaReserved")


def test_a_drained_local_queue(scene: Scene) -> None:
    scene.change(LOCAL_QUEUES, "a", stopPolicy="HoldAndDrain")
    assert scene.conditions("running")["Evicted"] == ("True", "LocalQueueStopped")
    scene.step(5)
    scene.submit(workload("late", "a", 1))
    assert scene.message("late") == scene.message("running") == "LocalQueue a is inactive"
    scene.change(LOCAL_QUEUES, "a", stopPolicy="None")
    assert scene.conditions("running")["Requeued"] == ("True", "LocalQueueRestarted")
    assert scene.is_admitted("running") and scene.is_admitted("late")


def test_the_waiting_of_a_stopped_queue_wait_for_it(scene: Scene) -> None:
    scene.change(CLUSTER_QUEUES, "a", stopPolicy="Hold")
    scene.submit(workload("late", "a", 1))
    scene.change(CLUSTER_QUEUES, "a", stopPolicy="None")
    assert scene.is_admitted("late")


@pytest.mark.parametrize(
    ("queue", "message"),
    [
        ("none", "LocalQueue none doesn't exist"),
        ("loose", "ClusterQueue nowhere doesn't exist"),
        ("flavorless", "ClusterQueue flavorless is inactive"),
    ],
)
def test_queues_that_lead_nowhere(scene: Scene, queue: str, message: str) -> None:
    scene.create(
        local_queue("loose", "nowhere"),
        local_queue("flavorless", "flavorless"),
        cluster_queue("flavorless", 4, flavor="none"),
    )
    scene.submit(workload("lost", queue, 1))
    assert scene.conditions("lost") == {"QuotaReserved": ("False", "Inadmissible")}
    assert scene.message("lost") == message


def test_a_queue_that_appears_takes_who_waited_for_it(scene: Scene) -> None:
    scene.submit(workload("early", "c", 1))
    scene.create(cluster_queue("c", 4), local_queue("c", "c"))
    scene.step()
    assert scene.is_admitted("early")


def test_a_deleted_queue_leaves_the_running_and_stops_the_waiting(scene: Scene) -> None:
    scene.submit(workload("waiting", "a", 7))
    scene.delete(CLUSTER_QUEUES, "a")
    assert scene.is_admitted("running")
    assert scene.message("waiting") == "ClusterQueue a doesn't exist"
    scene.create(cluster_queue("a", 8))
    scene.step()
    assert scene.is_admitted("waiting")


def test_a_deactivated_workload_is_evicted_and_comes_back_when_active_again(scene: Scene) -> None:
    scene.change(WORKLOADS, "running", active=False)
    assert scene.conditions("running")["Evicted"] == ("True", "Deactivated")
    assert scene.message("running", "Evicted") == "The workload is deactivated"
    scene.step(5)
    assert scene.conditions("running")["Requeued"] == ("False", "Deactivated")
    scene.step(60)
    assert not scene.is_admitted("running")
    scene.change(WORKLOADS, "running", active=True)
    assert scene.conditions("running")["Requeued"] == ("True", "Reactivated")
    assert scene.is_admitted("running")


def test_a_waiting_workload_can_be_deactivated(scene: Scene) -> None:
    scene.submit(workload("waiting", "a", 7))
    scene.change(WORKLOADS, "waiting", active=False)
    assert scene.conditions("waiting")["Evicted"] == ("True", "Deactivated")
    assert not [event for event in scene.events() if event[:2] == ("waiting", "EvictedDueToDeactivated")]
    scene.step(60)
    assert scene.status("waiting")["schedulingStats"]["evictions"][0]["count"] == 1


def test_who_is_being_evicted_is_not_evicted_again(scene: Scene) -> None:
    scene.submit(workload("borrower", "a", 5), workload("owner", "b", 4))
    assert scene.conditions("borrower")["Evicted"] == ("True", "Preempted")
    scene.change(WORKLOADS, "borrower", active=False)
    scene.change(CLUSTER_QUEUES, "a", stopPolicy="HoldAndDrain")
    assert scene.conditions("borrower")["Evicted"] == ("True", "Preempted")
    assert len(scene.status("borrower")["schedulingStats"]["evictions"]) == 1
