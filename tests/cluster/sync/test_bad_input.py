"""What an API server lets through though no Kueue would write it, and what is written too often."""

from typing import Any

import pytest

from jobs.models import Span
from jobs.states import JobState
from portal.models import SourceState
from tests.cluster import objects
from tests.cluster.objects import GPU
from tests.cluster.sync.ledgers import Ledgers
from tests.cluster.sync.scene import LOCAL_QUEUE, OWNERS, Scene

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

NOW = "2026-10-08T12:00:00Z"
LARGEST = 2**63 - 1
REWRITES = 60


def write_status(scene: Scene, name: str, **status: Any) -> None:
    workload = scene.workload(OWNERS, name)
    scene.admin.replace("workloads", {**workload, "status": status}, "status")


def condition(kind: str, status: str = "True", reason: str = "Said", message: str = "said") -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": NOW}


def test_odd_workloads_are_kept_as_what_they_are(still_scene: Scene, still_ledgers: Ledgers) -> None:
    scene, ledgers = still_scene, still_ledgers
    longest = "n" * 253
    scene.submit(OWNERS, longest, 1, priority=2**31 - 1)
    scene.submit(OWNERS, "humblest", 1, priority=-(2**31))
    scene.submit(OWNERS, "strange", 1)
    floats, perhaps = condition("Levitating", reason="Because"), condition("Admitted", "Unknown")
    write_status(scene, "strange", conditions=[floats, perhaps])
    pods = objects.pod_set({GPU: LARGEST, "example.com/widget": "-3", "memory": "9E"}, 3)
    scene.admin.create("workloads", objects.workload(scene.place(OWNERS), "vast", LOCAL_QUEUE, pods))
    assigned = {
        "name": "main",
        "count": 3,
        "flavors": {GPU: scene.flavor, "example.com/widget": "unheard-of"},
        "resourceUsage": {GPU: "27670116110564327421", "example.com/widget": "-9"},
    }
    admission = {"clusterQueue": scene.place(OWNERS), "podSetAssignments": [assigned]}
    write_status(scene, "vast", admission=admission, conditions=[condition("QuotaReserved"), condition("Admitted")])

    for ledger in ledgers:
        ledger.look()
        ledger.until("the last one", lambda ledger=ledger: ledger.queue(OWNERS).reservation)

    for ledger in ledgers:
        assert ledger.workload(OWNERS, longest).priority == 2**31 - 1
        assert ledger.workload(OWNERS, "humblest").priority == -(2**31)
        strange = ledger.workload(OWNERS, "strange")
        assert (strange.state, strange.condition("Levitating")["reason"]) == (JobState.QUEUED, "Because")
        assert ledger.state(OWNERS, "vast") == JobState.RUNNING
        assert ledger.queue(OWNERS).reservation == LARGEST
        assert dict(ledger.spans(OWNERS, "vast")[0].usages.values_list("resource", "amount")) == {
            GPU: LARGEST,
            "example.com/widget": -9,
        }
        assert set(SourceState.objects.filter(cluster=str(ledger)).values_list("malformed", flat=True)) == {0}


def test_a_message_that_is_rewritten_all_the_time_costs_one_column(still_scene: Scene, still_ledgers: Ledgers) -> None:
    scene, watched = still_scene, still_ledgers.watched
    scene.submit(OWNERS, "waits", 20)
    watched.agree()
    before = watched.workload(OWNERS, "waits")

    for number in range(1, REWRITES + 1):
        write_status(scene, "waits", conditions=[condition("QuotaReserved", "False", "Pending", f"attempt {number}")])
    watched.agree()

    after = watched.workload(OWNERS, "waits")
    assert after.condition("QuotaReserved")["message"] == f"attempt {REWRITES}"
    assert (after.queued_at, after.is_queued, after.state) == (before.queued_at, True, JobState.QUEUED)
    assert not Span.objects.filter(workload=after).exists()
