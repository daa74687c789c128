from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from emulator.kueue import transitions
from scheduling.objects import Admission, PodSetAssignment

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
FLAVORS = {"cpu": "default", "memory": "default"}
ADMISSION = Admission("queue", (PodSetAssignment("main", FLAVORS, {"cpu": 1500, "memory": 2**30}, 2),))


def workload(status: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"metadata": {"name": "w", "generation": 3}, "status": status or {}}


def admitted() -> dict[str, Any]:
    return workload(transitions.admitted(workload(), ADMISSION, NOW))


def evicted() -> dict[str, Any]:
    later = NOW + timedelta(seconds=90)
    return workload(transitions.evicted(admitted(), "Preempted", "why", later, preempted="InClusterQueue"))


def conditions(status: dict[str, Any]) -> dict[str, tuple[str, str, str]]:
    return {c["type"]: (c["status"], c["reason"], c["message"]) for c in status["conditions"]}


def test_admitting_reserves_and_admits_at_once() -> None:
    pending = transitions.pending(workload(), "Pending", "no room", NOW, {"main": {"cpu": 1500}})
    assert pending["resourceRequests"] == [{"name": "main", "resources": {"cpu": "1500m"}}]
    status = transitions.admitted(workload(pending), ADMISSION, NOW)
    assert conditions(status) == {
        "QuotaReserved": ("True", "QuotaReserved", "Quota reserved in ClusterQueue queue"),
        "Admitted": ("True", "Admitted", "The workload is admitted"),
    }
    assert status["admission"] == {
        "clusterQueue": "queue",
        "podSetAssignments": [
            {
                "name": "main",
                "flavors": FLAVORS,
                "resourceUsage": {"cpu": "1500m", "memory": "1Gi"},
                "count": 2,
            }
        ],
    }
    assert "resourceRequests" not in status
    assert all(c["observedGeneration"] == 3 for c in status["conditions"])


def test_a_decided_eviction_leaves_the_quota_held() -> None:
    status = evicted()["status"]
    assert conditions(status) == {
        "QuotaReserved": ("True", "QuotaReserved", "Quota reserved in ClusterQueue queue"),
        "Admitted": ("True", "Admitted", "The workload is admitted"),
        "Preempted": ("True", "InClusterQueue", "why"),
        "Evicted": ("True", "Preempted", "why"),
    }
    assert status["admission"]["clusterQueue"] == "queue"
    assert status["schedulingStats"] == {"evictions": [{"reason": "Preempted", "underlyingCause": "", "count": 1}]}


def test_evictions_are_counted_by_reason() -> None:
    status: dict[str, Any] = {}
    for reason in ("Preempted", "ClusterQueueStopped", "Preempted"):
        status = transitions.evicted(workload(status), reason, "why", NOW)
    counts = {c["reason"]: c["count"] for c in status["schedulingStats"]["evictions"]}
    assert counts == {"Preempted": 2, "ClusterQueueStopped": 1}


def test_admission_checks_start_again_after_an_eviction() -> None:
    checked = workload({"admissionChecks": [{"name": "check", "state": "Ready"}]})
    assert transitions.evicted(checked, "Preempted", "why", NOW)["admissionChecks"][0]["state"] == "Pending"


def test_the_release_gives_quota_back_and_adds_up_the_time() -> None:
    released = transitions.released(evicted(), NOW + timedelta(seconds=100))
    assert conditions(released) == {
        "QuotaReserved": ("False", "Pending", "why"),
        "Admitted": ("False", "NoReservation", "The workload has no reservation"),
        "Preempted": ("True", "InClusterQueue", "why"),
        "Evicted": ("True", "Preempted", "why"),
        "Requeued": ("True", "Preempted", "why"),
    }
    assert "admission" not in released
    assert released["accumulatedPastExecutionTimeSeconds"] == 100


def test_admitted_time_adds_up_over_spans() -> None:
    released = workload(transitions.released(evicted(), NOW + timedelta(seconds=100)))
    again = workload(transitions.admitted(released, ADMISSION, NOW + timedelta(seconds=200)))
    gone = workload(transitions.evicted(again, "Preempted", "why", NOW + timedelta(seconds=230)))
    assert transitions.released(gone, NOW + timedelta(seconds=230))["accumulatedPastExecutionTimeSeconds"] == 130


def test_after_another_reason_it_may_not_queue_again_yet() -> None:
    stopped = workload(transitions.evicted(admitted(), "ClusterQueueStopped", "stopped", NOW))
    assert conditions(transitions.released(stopped, NOW))["Requeued"] == ("False", "ClusterQueueStopped", "stopped")
    again = transitions.requeued(workload(), "ClusterQueueRestarted", "restarted", NOW)
    assert conditions(again)["Requeued"] == ("True", "ClusterQueueRestarted", "restarted")


def test_only_an_evicted_workload_is_released() -> None:
    with pytest.raises(ValueError, match="evicted"):
        transitions.released(admitted(), NOW)


def test_quota_again_turns_the_eviction_into_history() -> None:
    released = workload(transitions.released(evicted(), NOW + timedelta(seconds=100)))
    status = transitions.admitted(released, ADMISSION, NOW + timedelta(seconds=200))
    told = conditions(status)
    assert told["Evicted"] == ("False", "QuotaReserved", "Previously: why")
    assert told["Preempted"] == ("False", "QuotaReserved", "Previously: why")
    assert told["Requeued"] == ("True", "Preempted", "why")
    assert told["Admitted"][0] == "True"


def test_a_changed_pending_message_keeps_its_time() -> None:
    first = transitions.pending(workload(), "Pending", "one", NOW)
    second = transitions.pending(workload(first), "Pending", "two", NOW + timedelta(hours=1))
    assert second["conditions"][0]["lastTransitionTime"] == first["conditions"][0]["lastTransitionTime"]
    assert "Admitted" not in conditions(second)


def test_pods_and_the_end() -> None:
    waiting = transitions.pods_ready(admitted(), False, NOW)
    assert conditions(waiting)["PodsReady"] == ("False", "WaitForStart", "Not all pods are ready or succeeded")
    running = transitions.pods_ready(workload(waiting), True, NOW)
    assert conditions(running)["PodsReady"][:2] == ("True", "Started")
    done = transitions.finished(workload(running), "Succeeded", "Job finished successfully", NOW)
    assert conditions(done)["Finished"] == ("True", "Succeeded", "Job finished successfully")
    assert conditions(done)["Admitted"][0] == "True"
    assert done["admission"]
