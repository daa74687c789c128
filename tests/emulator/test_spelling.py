from emulator.spelling import OLD, new_event, old_version
from scheduling.parsing import parse_cluster_queue, parse_workload
from tests.emulator import manifests

META = {"name": "x", "namespace": "team", "uid": "1", "resourceVersion": "2"}


def test_a_cluster_queue() -> None:
    queue = {**manifests.cluster_queue("x", 4), "metadata": META}
    old = OLD["ClusterQueue"](queue)
    assert old["apiVersion"] == "kueue.x-k8s.io/v1beta1"
    assert old["spec"]["cohort"] == "all" and "cohortName" not in old["spec"]
    assert parse_cluster_queue(old) == parse_cluster_queue(queue)


def test_a_workload() -> None:
    reference = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "high"}
    workload = {
        **manifests.workload("x", "queue", 1, priorityClassRef=reference),
        "metadata": META,
        "status": {"accumulatedPastExecutionTimeSeconds": 7},
    }
    old = OLD["Workload"](workload)
    assert old["spec"]["priorityClassName"] == "high"
    assert old["spec"]["priorityClassSource"] == "kueue.x-k8s.io/workloadpriorityclass"
    assert old["status"] == {"accumulatedPastExexcutionTimeSeconds": 7}
    assert parse_workload(old) == parse_workload(workload)
    assert "priorityClassRef" in workload["spec"]


def test_a_local_queue() -> None:
    queue = {**manifests.local_queue("x", "y"), "status": {"flavorsUsage": [], "flavorsReservation": []}}
    assert OLD["LocalQueue"](queue)["status"] == {"flavorUsage": [], "flavorsReservation": []}


def test_other_kinds_change_their_version_alone() -> None:
    flavor = manifests.flavor()
    assert old_version(flavor) == {**flavor, "apiVersion": "kueue.x-k8s.io/v1beta1"}


def test_an_event_in_its_newer_form() -> None:
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": META,
        "involvedObject": {"name": "w"},
        "message": "said",
        "eventTime": "2026-03-02T09:00:00.000000Z",
        "reportingComponent": "kueue-admission",
    }
    new = new_event(event)
    assert new["apiVersion"] == "events.k8s.io/v1"
    assert (new["regarding"], new["note"], new["reportingController"]) == ({"name": "w"}, "said", "kueue-admission")
    assert new["eventTime"] == event["eventTime"]
    assert "message" not in new
    assert new_event({**event, "count": 3})["deprecatedCount"] == 3
