from typing import Any

import pytest

from emulator.resources import CLUSTER_QUEUES, FLAVORS, NAMESPACES, WORKLOADS
from tests.emulator.manifests import cluster_queue, flavor, job, local_queue, workload
from tests.emulator.scene import Scene

INSUFFICIENT = (
    "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor default, {} more needed"
)


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_what_fits_is_admitted_at_once_what_does_not_waits_with_a_reason(scene: Scene) -> None:
    scene.submit(workload("first", "a", 8), workload("second", "a", 3))
    assert scene.is_admitted("first")
    assert scene.conditions("second") == {"QuotaReserved": ("False", "Pending")}
    assert scene.message("second") == INSUFFICIENT.format(3)
    assert scene.status("second")["resourceRequests"] == [{"name": "main", "resources": {"cpu": "3"}}]


def test_more_than_there_can_ever_be(scene: Scene) -> None:
    scene.submit(workload("huge", "a", 9))
    assert scene.message("huge").endswith(
        "insufficient quota for cpu in flavor default, previously considered podsets requests (0) + current podset "
        "request (9) > maximum capacity (8)"
    )


def test_a_borrowing_limit_holds() -> None:
    queues = [cluster_queue("a", 4), cluster_queue("b", 4)]
    resource = queues[0]["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]
    resource["borrowingLimit"] = 2
    scene = Scene(*queues)
    scene.submit(workload("six", "a", 6), workload("one", "a", 1))
    assert scene.is_admitted("six") and not scene.is_admitted("one")


def test_quota_is_reclaimed_from_who_borrows(scene: Scene) -> None:
    scene.submit(workload("borrower", "a", 6), workload("owner", "b", 4))
    uid = {name: scene.get(WORKLOADS, name)["metadata"]["uid"] for name in ("borrower", "owner")}
    message = (
        f"Preempted to accommodate a workload (UID: {uid['owner']}, JobUID: UNKNOWN) "
        "due to reclamation within the cohort; preemptor path: /all/b; preemptee path: /all/a"
    )
    assert scene.conditions("borrower") == {
        "QuotaReserved": ("True", "QuotaReserved"),
        "Admitted": ("True", "Admitted"),
        "Preempted": ("True", "InCohortReclamation"),
        "Evicted": ("True", "Preempted"),
    }
    assert scene.message("borrower", "Evicted") == scene.message("borrower", "Preempted") == message
    assert scene.status("borrower")["admission"]["clusterQueue"] == "a"
    assert scene.message("owner") == f"{INSUFFICIENT.format(2)}. Pending the preemption of 1 workload(s)"
    ranks = "preemptor effective priority: 0 (base: 0, boost: 0); preemptee effective priority: 0 (base: 0, boost: 0)"
    told = f"Preempted workload team/borrower (UID: {uid['borrower']}) in ClusterQueue a; {ranks}"
    assert scene.events()[2:] == [
        ("borrower", "EvictedDueToPreempted", message),
        ("borrower", "Preempted", f"{message}; {ranks}"),
        ("owner", "PreemptedWorkload", told),
        ("owner", "Pending", scene.message("owner")),
    ]


def test_nobody_releases_a_workload_without_an_owner(scene: Scene) -> None:
    scene.submit(workload("borrower", "a", 6), workload("owner", "b", 4))
    scene.step(3600)
    assert not scene.is_admitted("owner")
    assert scene.is_admitted("borrower")
    scene.delete(WORKLOADS, "borrower")
    assert scene.is_admitted("owner")


def test_a_reclaimed_job_queues_again_and_comes_back(scene: Scene) -> None:
    scene.submit(job("borrower", "a", 6, start=1, stop=10), job("owner", "b", 4, run=60))
    scene.step(5)
    assert scene.is_admitted("borrower") and not scene.is_admitted("owner")
    scene.step(5)
    assert scene.is_admitted("owner")
    assert scene.conditions("borrower")["Requeued"] == ("True", "Preempted")
    assert scene.message("borrower") == INSUFFICIENT.format(2)
    scene.step(62)
    assert scene.is_admitted("borrower")
    assert scene.story("borrower") == [
        ("PodsReady=False/WaitForStart",),
        ("Admitted=True/Admitted", "QuotaReserved=True/QuotaReserved"),
        ("PodsReady=True/Started",),
        ("Evicted=True/Preempted", "Preempted=True/InCohortReclamation"),
        ("Admitted=False/NoReservation", "QuotaReserved=False/Pending", "Requeued=True/Preempted"),
        ("PodsReady=False/WaitForStart",),
        (
            "Admitted=True/Admitted",
            "Evicted=False/QuotaReserved",
            "Preempted=False/QuotaReserved",
            "QuotaReserved=True/QuotaReserved",
        ),
        ("PodsReady=True/Started",),
    ]
    assert scene.message("borrower", "Evicted").startswith("Previously: Preempted to accommodate")
    assert scene.status("borrower")["schedulingStats"]["evictions"][0]["count"] == 1


def test_higher_priority_takes_from_its_own_queue(scene: Scene) -> None:
    scene.submit(workload("low", "a", 5, 1), workload("other", "b", 3, 1), workload("high", "a", 4, 9))
    assert scene.conditions("low")["Preempted"] == ("True", "InClusterQueue")
    assert "due to prioritization in the ClusterQueue" in scene.message("low", "Evicted")
    assert scene.conditions("other")["Admitted"] == ("True", "Admitted")
    assert "Evicted" not in scene.conditions("other")


def test_higher_priority_goes_first_then_the_older(scene: Scene) -> None:
    scene.submit(workload("running", "a", 8, 9))
    scene.submit(workload("old", "a", 8), workload("young", "a", 8), workload("urgent", "a", 8, 5))
    order = []
    for _ in range(3):
        running = [n for n in ("running", "old", "young", "urgent") if scene.get(WORKLOADS, n) and scene.is_admitted(n)]
        scene.delete(WORKLOADS, running[0])
        order += [n for n in ("old", "young", "urgent") if scene.get(WORKLOADS, n) and scene.is_admitted(n)]
    assert order == ["urgent", "old", "young"]


def test_own_quota_goes_before_borrowed_whatever_the_priority(scene: Scene) -> None:
    scene.create(workload("borrowing", "a", 6, 9), workload("own", "b", 4))
    scene.step()
    assert scene.is_admitted("own")
    assert not scene.is_admitted("borrowing")
    assert scene.message("borrowing") == INSUFFICIENT.format(2)


def test_two_that_fit_alone_but_not_together(scene: Scene) -> None:
    scene.create(workload("one", "a", 5, 9), workload("two", "b", 5))
    scene.step()
    assert scene.is_admitted("one")
    assert scene.story("two")[0] == ("QuotaReserved=False/Pending",)
    written = [
        c["message"]
        for event in scene.store.events_after(1)
        if event.object["metadata"]["name"] == "two"
        for c in event.object.get("status", {}).get("conditions", ())
    ]
    assert written[0] == "Workload no longer fits after processing another workload"
    assert written[-1] == INSUFFICIENT.format(2)


def test_a_workload_behind_one_that_does_not_fit_is_tried(scene: Scene) -> None:
    scene.submit(workload("running", "b", 2), workload("large", "a", 7), workload("small", "a", 2))
    assert not scene.is_admitted("large")
    assert scene.is_admitted("small")


def test_strict_order_lets_nobody_pass() -> None:
    scene = Scene(cluster_queue("a", 4, queueingStrategy="StrictFIFO"), cluster_queue("b", 4))
    scene.submit(workload("running", "b", 2), workload("large", "a", 7), workload("small", "a", 2))
    assert not scene.is_admitted("small")
    assert scene.conditions("small") == {}
    scene.delete(WORKLOADS, "running")
    assert scene.is_admitted("large")


def test_who_asks_for_the_same_as_one_who_did_not_fit_is_not_tried(scene: Scene) -> None:
    scene.submit(
        workload("running", "a", 6), workload("first", "a", 5), workload("same", "a", 5), workload("less", "a", 1)
    )
    assert scene.conditions("first") == {"QuotaReserved": ("False", "Pending")}
    assert scene.conditions("same") == {}
    assert scene.is_admitted("less")
    scene.delete(WORKLOADS, "running")
    assert scene.is_admitted("first")
    assert scene.conditions("same") == {"QuotaReserved": ("False", "Pending")}


def test_while_victims_stop_nobody_else_of_the_queue_is_served(scene: Scene) -> None:
    scene.submit(workload("borrower", "a", 6), workload("owner", "b", 4), workload("behind", "b", 1, 9))
    assert scene.conditions("behind") == {}
    assert scene.events()[-2][1] == "PreemptedWorkload"
    scene.delete(WORKLOADS, "borrower")
    assert scene.is_admitted("owner") and scene.is_admitted("behind")


def three_queues(other: int) -> Scene:
    """`mid` waits for `low`, which is to stop; `b` runs `other`."""
    calm = {"preemption": {"reclaimWithinCohort": "Never", "withinClusterQueue": "LowerPriority"}}
    scene = Scene(cluster_queue("a", 4, **calm), cluster_queue("b", 4), cluster_queue("c", 4, **calm))
    scene.submit(workload("low", "a", 5), workload("other", "b", other), workload("mid", "a", 4, 5))
    assert scene.conditions("low")["Evicted"] == ("True", "Preempted")
    return scene


def test_freed_quota_goes_to_who_stands_waiting_before_who_was_set_aside() -> None:
    scene = three_queues(other=7)
    scene.submit(workload("big", "c", 5, 9))
    scene.delete(WORKLOADS, "other")
    assert scene.is_admitted("mid")
    assert scene.message("big") == INSUFFICIENT.format(2)


def test_who_waits_for_victims_tells_what_is_missing_now() -> None:
    scene = three_queues(other=6)
    assert scene.message("mid") == f"{INSUFFICIENT.format(3)}. Pending the preemption of 1 workload(s)"
    scene.submit(workload("small", "c", 1))
    assert scene.is_admitted("small")
    assert scene.message("mid") == f"{INSUFFICIENT.format(4)}. Pending the preemption of 1 workload(s)"


def test_more_quota_lets_the_waiting_in(scene: Scene) -> None:
    scene.submit(workload("large", "a", 9))
    groups = cluster_queue("a", 5)["spec"]["resourceGroups"]
    scene.change(CLUSTER_QUEUES, "a", resourceGroups=groups)
    assert scene.is_admitted("large")


def test_a_changed_request_is_tried_again(scene: Scene) -> None:
    scene.submit(workload("large", "a", 9))
    scene.change(WORKLOADS, "large", podSets=workload("any", "a", 1)["spec"]["podSets"])
    assert scene.is_admitted("large")


def test_reclaimed_pods_make_room(scene: Scene) -> None:
    running = workload("running", "a", 4)
    running["spec"]["podSets"][0]["count"] = 2
    scene.submit(running, workload("next", "a", 4))
    assert not scene.is_admitted("next")
    status = {**scene.status("running"), "reclaimablePods": [{"name": "main", "count": 1}]}
    scene.store.set_status(WORKLOADS.storage, scene.get(WORKLOADS, "running"), status)
    scene.step()
    assert scene.is_admitted("next")


def test_the_flavor_is_chosen_by_the_node_selector() -> None:
    scene = Scene(cluster_queue("a", 4))
    small = flavor("small")
    small["spec"]["nodeLabels"] = {"size": "small"}
    large = flavor("large")
    large["spec"]["nodeLabels"] = {"size": "large"}
    both = cluster_queue("both", 4)
    quotas = both["spec"]["resourceGroups"][0]["flavors"]
    quotas[:] = [{**quotas[0], "name": "small"}, {**quotas[0], "name": "large"}]
    scene.create(small, large, both, local_queue("both", "both"))
    picky = workload("picky", "both", 1)
    picky["spec"]["podSets"][0]["template"]["spec"]["nodeSelector"] = {"size": "large"}
    scene.submit(picky, workload("any", "both", 1))
    flavors = [scene.status(n)["admission"]["podSetAssignments"][0]["flavors"]["cpu"] for n in ("picky", "any")]
    assert flavors == ["large", "small"]


def test_a_selector_keeps_other_namespaces_out() -> None:
    scene = Scene(cluster_queue("a", 4, namespaceSelector={"matchLabels": {"team": "red"}}))
    scene.submit(workload("stranger", "a", 1))
    assert scene.message("stranger") == "workload namespace doesn't match ClusterQueue selector"
    old = scene.store.get(NAMESPACES.storage, "", "team")
    assert old is not None
    scene.store.update(NAMESPACES.storage, {**old, "metadata": {**old["metadata"], "labels": {"team": "red"}}})
    scene.step()
    assert scene.is_admitted("stranger")


def test_everybody_is_tried_again_after_a_restart(scene: Scene) -> None:
    scene.submit(workload("running", "a", 8), workload("waiting", "a", 3))
    scene.store.compact()
    scene.delete(WORKLOADS, "running")
    assert scene.is_admitted("waiting")


def test_what_cannot_be_read_is_left_out(scene: Scene) -> None:
    broken: dict[str, Any] = workload("broken", "a", 1)
    broken["spec"]["podSets"][0]["count"] = "many"
    scene.submit(broken, workload("fine", "a", 1))
    assert scene.is_admitted("fine")
    assert scene.status("broken") == {}


def test_a_request_that_is_no_quantity_waits_with_the_reason(scene: Scene) -> None:
    broken = workload("broken", "a", 1)
    broken["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "much"}}
    scene.submit(broken, workload("fine", "a", 1))
    assert scene.is_admitted("fine")
    assert scene.message("broken") == "resources validation failed: 'much' is not a quantity"


def test_a_missing_flavor_does_not_hinder_other_queues(scene: Scene) -> None:
    scene.create(cluster_queue("c", 4, flavor="none"), local_queue("c", "c"))
    scene.submit(workload("lost", "c", 1), workload("fine", "a", 1))
    assert scene.is_admitted("fine")
    scene.create({**flavor("none")})
    scene.step()
    assert scene.is_admitted("lost")
    assert scene.get(FLAVORS, "none")
