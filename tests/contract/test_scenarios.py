"""What befalls Workloads of two teams: the same states, reasons, sentences and borrowed numbers on both clusters."""

import pytest

from tests.cluster import jobs, objects
from tests.cluster.objects import GPU
from tests.contract.clusters import Cluster
from tests.contract.scene import GUESTS, OWNERS, Scene

UNTRIED = ""
ADMITTED = "Admitted=True/Admitted QuotaReserved=True/QuotaReserved"
PENDING = "QuotaReserved=False/Pending"
INADMISSIBLE = "QuotaReserved=False/Inadmissible"
SHORT = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor shared, "


@pytest.fixture
def scene(cluster: Cluster) -> Scene:
    return Scene(cluster)


def test_a_team_borrows_what_the_other_leaves_idle(scene: Scene) -> None:
    scene.submit("borrower", GUESTS, 8)

    scene.until("borrower", "Admitted", "True")
    scene.reserves(GUESTS, 8, borrowed=4)
    scene.reserves(OWNERS, 0, borrowed=0)
    assert scene.history("borrower") == [UNTRIED, ADMITTED]
    assert scene.message("borrower", "QuotaReserved") == "Quota reserved in ClusterQueue guests"
    assert scene.message("borrower", "Admitted") == "The workload is admitted"


def test_what_was_borrowed_is_reclaimed_and_borrowed_again(scene: Scene) -> None:
    scene.submit("borrower", GUESTS, 8)
    scene.until("borrower", "Admitted", "True")

    scene.submit("owner", OWNERS, 6)
    scene.until("borrower", "Evicted", "True")
    scene.until_message("owner", "QuotaReserved", f"{SHORT}4 more needed. Pending the preemption of 1 workload(s)")
    scene.reserves(GUESTS, 8, borrowed=4)  # until the job has stopped
    scene.reserves(OWNERS, 0, borrowed=0)
    why = (
        "Preempted to accommodate a workload (UID: owner, JobUID: UNKNOWN) due to reclamation within the cohort; "
        "preemptor path: /shared/owners; preemptee path: /shared/guests"
    )
    assert {scene.message("borrower", kind) for kind in ("Evicted", "Preempted")} == {why}
    assert scene.evictions("borrower") == [("Preempted", "", 1)]

    scene.release("borrower")
    scene.until("owner", "Admitted", "True")
    scene.until_message("borrower", "QuotaReserved", f"{SHORT}4 more needed")
    scene.reserves(OWNERS, 6, borrowed=0)
    scene.reserves(GUESTS, 0, borrowed=0)

    scene.finish("owner")
    scene.until("borrower", "Admitted", "True")
    scene.reserves(GUESTS, 8, borrowed=4)
    scene.reserves(OWNERS, 0, borrowed=0)

    assert scene.history("borrower") == [
        UNTRIED,
        ADMITTED,
        "Admitted=True/Admitted Evicted=True/Preempted Preempted=True/InCohortReclamation "
        "QuotaReserved=True/QuotaReserved",
        "Admitted=False/NoReservation Evicted=True/Preempted Preempted=True/InCohortReclamation "
        "QuotaReserved=False/Pending Requeued=True/Preempted",
        "Admitted=True/Admitted Evicted=False/QuotaReserved Preempted=False/QuotaReserved "
        "QuotaReserved=True/QuotaReserved Requeued=True/Preempted",
    ]
    assert scene.history("owner") == [
        UNTRIED,
        PENDING,
        ADMITTED,
        "Admitted=True/Admitted Finished=True/Succeeded QuotaReserved=True/QuotaReserved",
    ]
    assert {scene.message("borrower", kind) for kind in ("Evicted", "Preempted")} == {f"Previously: {why}"}
    assert scene.message("borrower", "Requeued") == why
    assert scene.evictions("borrower") == [("Preempted", "", 1)]


def test_priority_preempts_within_a_queue(scene: Scene) -> None:
    scene.submit("low", GUESTS, 8, priority=-5)
    scene.until("low", "Admitted", "True")
    scene.submit("equal", GUESTS, 4, priority=-5)
    scene.until_message("equal", "QuotaReserved", f"{SHORT}2 more needed")

    scene.submit("high", GUESTS, 4, priority=5)
    scene.until("low", "Evicted", "True")
    scene.until_message("high", "QuotaReserved", f"{SHORT}2 more needed. Pending the preemption of 1 workload(s)")
    scene.release("low")
    scene.until("high", "Admitted", "True")
    scene.until("equal", "Admitted", "True")

    scene.reserves(GUESTS, 8, borrowed=4)
    assert scene.history("high") == [UNTRIED, PENDING, ADMITTED]
    assert scene.history("low") == [
        UNTRIED,
        ADMITTED,
        "Admitted=True/Admitted Evicted=True/Preempted Preempted=True/InClusterQueue QuotaReserved=True/QuotaReserved",
        "Admitted=False/NoReservation Evicted=True/Preempted Preempted=True/InClusterQueue "
        "QuotaReserved=False/Pending Requeued=True/Preempted",
    ]
    assert scene.message("low", "Preempted") == (
        "Preempted to accommodate a workload (UID: high, JobUID: UNKNOWN) due to prioritization in the ClusterQueue; "
        "preemptor path: /shared/guests; preemptee path: /shared/guests"
    )


def test_a_finished_workload_gives_its_quota_to_the_next(scene: Scene) -> None:
    scene.submit("first", GUESTS, 8)
    scene.until("first", "Admitted", "True")
    scene.submit("next", GUESTS, 8)
    scene.until_message("next", "QuotaReserved", f"{SHORT}6 more needed")

    scene.finish("first")

    scene.until("next", "Admitted", "True")
    scene.reserves(GUESTS, 8, borrowed=4)
    assert scene.history("next") == [UNTRIED, PENDING, ADMITTED]
    assert scene.workload("first")["status"]["admission"]["clusterQueue"] == scene.queue(GUESTS)


def test_pods_that_are_done_give_their_quota_back(scene: Scene) -> None:
    scene.submit_pods("pods", GUESTS, objects.pod_set({GPU: 2}, count=4))
    scene.until("pods", "Admitted", "True")
    scene.reserves(GUESTS, 8, borrowed=4)

    jobs.give_back_pods(scene.admin, scene.name, "pods", 3)

    scene.reserves(GUESTS, 2, borrowed=0)


def test_a_held_queue_keeps_what_runs_and_a_drained_one_does_not(scene: Scene) -> None:
    scene.submit("running", GUESTS, 4)
    scene.until("running", "Admitted", "True")

    scene.change_queue(GUESTS, stopPolicy="Hold")
    scene.submit("late", GUESTS, 1)
    scene.until_message("late", "QuotaReserved", "ClusterQueue guests is inactive")
    scene.reserves(GUESTS, 4, borrowed=0)
    assert scene.history("running") == [UNTRIED, ADMITTED]
    assert scene.history("late") == [UNTRIED, INADMISSIBLE]

    scene.change_queue(GUESTS, stopPolicy="HoldAndDrain")
    scene.until("running", "Evicted", "True")
    assert scene.message("running", "Evicted") == "The ClusterQueue is stopped"
    scene.release("running")
    scene.until("running", "QuotaReserved", "False", "Inadmissible")
    scene.reserves(GUESTS, 0, borrowed=0)

    scene.change_queue(GUESTS, stopPolicy="None")
    scene.until("running", "Admitted", "True")
    scene.until("late", "Admitted", "True")
    scene.reserves(GUESTS, 5, borrowed=1)
    stopped = "Evicted=True/ClusterQueueStopped"
    assert scene.history("running") == [
        UNTRIED,
        ADMITTED,
        f"Admitted=True/Admitted {stopped} QuotaReserved=True/QuotaReserved",
        f"Admitted=False/NoReservation {stopped} {PENDING} Requeued=False/ClusterQueueStopped",
        f"Admitted=False/NoReservation {stopped} {INADMISSIBLE} Requeued=False/ClusterQueueStopped",
        f"Admitted=False/NoReservation {stopped} {INADMISSIBLE} Requeued=True/ClusterQueueRestarted",
        "Admitted=True/Admitted Evicted=False/QuotaReserved QuotaReserved=True/QuotaReserved "
        "Requeued=True/ClusterQueueRestarted",
    ]
    assert scene.message("running", "Requeued") == "The ClusterQueue was restarted after being stopped"
    assert scene.evictions("running") == [("ClusterQueueStopped", "", 1)]


def test_a_drained_local_queue_stops_its_own_workloads(scene: Scene) -> None:
    scene.submit("running", GUESTS, 4)
    scene.until("running", "Admitted", "True")

    scene.stop_local_queue(GUESTS, "HoldAndDrain")
    scene.until("running", "Evicted", "True")
    scene.submit("late", GUESTS, 1)
    scene.until_message("late", "QuotaReserved", "LocalQueue guests is inactive")
    scene.release("running")
    scene.until("running", "QuotaReserved", "False", "Inadmissible")
    scene.reserves(GUESTS, 0, borrowed=0)

    assert scene.history("running")[2:] == [
        "Admitted=True/Admitted Evicted=True/LocalQueueStopped QuotaReserved=True/QuotaReserved",
        f"Admitted=False/NoReservation Evicted=True/LocalQueueStopped {PENDING} Requeued=False/LocalQueueStopped",
        f"Admitted=False/NoReservation Evicted=True/LocalQueueStopped {INADMISSIBLE} Requeued=False/LocalQueueStopped",
    ]
    scene.stop_local_queue(GUESTS, "None")
    scene.until("running", "Admitted", "True")
    scene.until("late", "Admitted", "True")
    scene.until("running", "Requeued", "True", "LocalQueueRestarted")  # before or after admission: they race
    assert scene.message("running", "Evicted") == "Previously: The LocalQueue is stopped"


def test_quota_cut_under_use_makes_its_holder_a_borrower(scene: Scene) -> None:
    scene.submit("running", GUESTS, 4)
    scene.until("running", "Admitted", "True")

    scene.cut_quota(GUESTS, 1)
    scene.reserves(GUESTS, 4, borrowed=3)
    assert scene.history("running") == [UNTRIED, ADMITTED]

    scene.submit("owner", OWNERS, 6)
    scene.until("running", "Evicted", "True")
    scene.until_message("owner", "QuotaReserved", f"{SHORT}3 more needed. Pending the preemption of 1 workload(s)")


def test_more_in_use_than_there_is_lets_nobody_in(scene: Scene) -> None:
    scene.change_queue(OWNERS, preemption={"reclaimWithinCohort": "Never"})
    scene.submit("running", GUESTS, 10)
    scene.until("running", "Admitted", "True")

    scene.cut_quota(OWNERS, 2)

    scene.reserves(GUESTS, 10, borrowed=6)
    scene.submit("owner", OWNERS, 1)
    scene.until_message("owner", "QuotaReserved", f"{SHORT}1 more needed")
    scene.submit("more", GUESTS, 7)
    scene.until_message(
        "more",
        "QuotaReserved",
        "couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor shared, previously "
        "considered podsets requests (0) + current podset request (7) > maximum capacity (6)",
    )
    assert scene.history("running") == [UNTRIED, ADMITTED]


def test_a_deactivated_workload_is_evicted_and_comes_back_when_activated(scene: Scene) -> None:
    scene.submit("running", GUESTS, 4)
    scene.until("running", "Admitted", "True")

    scene.activate("running", False)
    scene.until("running", "Evicted", "True")
    scene.reserves(GUESTS, 0, borrowed=0)  # at once: an inactive Workload holds nothing
    scene.release("running")
    scene.activate("running", True)
    scene.until("running", "Admitted", "True")

    assert scene.history("running") == [
        UNTRIED,
        ADMITTED,
        "Admitted=True/Admitted Evicted=True/Deactivated QuotaReserved=True/QuotaReserved",
        f"Admitted=False/NoReservation Evicted=True/Deactivated {PENDING} Requeued=False/Deactivated",
        f"Admitted=False/NoReservation Evicted=True/Deactivated {PENDING} Requeued=True/Reactivated",
        "Admitted=True/Admitted Evicted=False/QuotaReserved QuotaReserved=True/QuotaReserved Requeued=True/Reactivated",
    ]
    assert scene.message("running", "Evicted") == "Previously: The workload is deactivated"
    assert scene.evictions("running") == [("Deactivated", "", 1)]


@pytest.mark.parametrize(
    ("pod_sets", "why"),
    [
        (
            [objects.pod_set({GPU: 11})],
            "couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor shared, "
            "previously considered podsets requests (0) + current podset request (11) > maximum capacity (10)",
        ),
        (
            [objects.pod_set({GPU: 6}), objects.pod_set({GPU: 6}, name="extra")],
            "couldn't assign flavors to pod set extra: insufficient quota for nvidia.com/gpu in flavor shared, "
            "previously considered podsets requests (6) + current podset request (6) > maximum capacity (10)",
        ),
        (
            [objects.pod_set({"cpu": 1})],
            "couldn't assign flavors to pod set main: resource cpu unavailable in ClusterQueue",
        ),
    ],
    ids=["too large", "too large together", "not covered"],
)
def test_what_can_never_fit_says_so(scene: Scene, pod_sets: list[dict[str, object]], why: str) -> None:
    scene.submit_pods("huge", GUESTS, *pod_sets)

    scene.until_message("huge", "QuotaReserved", why)

    assert scene.history("huge") == [UNTRIED, PENDING]


def test_a_queue_that_does_not_exist_is_named(scene: Scene) -> None:
    scene.submit("lost", "nowhere", 1)

    scene.until_message("lost", "QuotaReserved", "LocalQueue nowhere doesn't exist")

    assert scene.history("lost") == [UNTRIED, INADMISSIBLE]


def test_events_tell_of_an_eviction_from_both_sides(scene: Scene) -> None:
    scene.submit("borrower", GUESTS, 8)
    scene.until("borrower", "Admitted", "True")
    scene.submit("owner", OWNERS, 6)
    scene.until("borrower", "Evicted", "True")

    priorities = (
        "preemptor effective priority: 0 (base: 0, boost: 0); preemptee effective priority: 0 (base: 0, boost: 0)"
    )
    why = (
        "Preempted to accommodate a workload (UID: owner, JobUID: UNKNOWN) due to reclamation within the cohort; "
        "preemptor path: /shared/owners; preemptee path: /shared/guests"
    )
    scene.until_event("borrower", "Preempted", f"{why}; {priorities}")
    scene.until_event("borrower", "EvictedDueToPreempted", why)
    scene.until_event(
        "owner",
        "PreemptedWorkload",
        f"Preempted workload shared/borrower (UID: borrower) in ClusterQueue guests; {priorities}",
    )
