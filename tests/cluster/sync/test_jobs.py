"""Real Jobs with their pods: what Kueue's own job controller makes of them."""

from collections.abc import Iterator
from typing import Any

import pytest

from jobs.models import Workload
from jobs.states import JobState
from teams.models import NodeCapacity
from tests.cluster import jobs, objects
from tests.cluster.objects import GPU
from tests.cluster.plane import ControlPlane
from tests.cluster.sync.conftest import watching
from tests.cluster.sync.facts import EVENT_DELAY, since
from tests.cluster.sync.ledgers import Ledger, Ledgers
from tests.cluster.sync.scene import LOCAL_QUEUE, OWNERS, Scene

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

PODS_SECONDS = 90  # the scheduler and kwok are slow where the machine is busy
INSTANCE_TYPE = "ml.g6.12xlarge"


@pytest.fixture
def scene(working_plane: ControlPlane) -> Iterator[Scene]:
    made = Scene(working_plane.admin)
    made.wait_until_active()
    capacity = {GPU: "8", "cpu": "64", "memory": "256Gi", "pods": "110"}
    labels = {"node.kubernetes.io/instance-type": INSTANCE_TYPE}
    status = {"allocatable": capacity, "capacity": capacity}
    made.admin.create("nodes", {"metadata": {"name": made.name, "labels": labels}, "status": status})
    for name, value in (("low", 10), ("high", 1000)):
        made.admin.create("workloadpriorityclasses", objects.priority_class(f"{made.name}-{name}", value))
    yield made
    made.admin.delete("nodes", made.name)
    made.clear()


@pytest.fixture
def ledgers(scene: Scene, working_plane: ControlPlane, sound_ledger: None) -> Iterator[Ledgers]:
    with watching(scene, working_plane) as made:
        yield made


def submit(scene: Scene, name: str, gpus: int, priority: str, seconds: int) -> None:
    """A Job of one pod that runs for so long."""
    labels = {"kueue.x-k8s.io/queue-name": LOCAL_QUEUE, "kueue.x-k8s.io/priority-class": f"{scene.name}-{priority}"}
    template = objects.job_template({GPU: gpus}, seconds)
    metadata = {"namespace": scene.place(OWNERS), "name": name, "labels": labels}
    scene.admin.create("jobs", {"metadata": metadata, "spec": {"suspend": True, "template": template}})


def workload(scene: Scene, job: str) -> dict[str, Any]:
    """The Workload that Kueue made for the Job."""
    return jobs.wait_for(f"the Workload of {job}", lambda: next(iter(_workloads(scene, job)), None))


def _workloads(scene: Scene, job: str) -> Iterator[dict[str, Any]]:
    for found in scene.admin.items("workloads", scene.place(OWNERS)):
        if found["metadata"]["ownerReferences"][0]["name"] == job:
            yield found


def until(scene: Scene, job: str, kind: str, status: str = "True") -> dict[str, Any]:
    return scene.until(OWNERS, workload(scene, job)["metadata"]["name"], kind, status, seconds=PODS_SECONDS)


def row(ledger: Ledger, job: str) -> Workload:
    return Workload.objects.get(cluster=ledger.cluster, namespace=ledger.scene.place(OWNERS), owner_name=job)


def test_a_job_is_preempted_comes_back_and_is_deleted(scene: Scene, ledgers: Ledgers) -> None:
    scene.change_queue(OWNERS, cohortName=None)
    submit(scene, "long", 6, "low", seconds=300)
    first = until(scene, "long", "PodsReady")
    ledgers.agree()
    for ledger in ledgers:
        held = row(ledger, "long")
        assert (held.owner_kind, held.job_uid, held.priority) == ("Job", held.owner_uid, 10)
        assert (held.priority_class, held.state) == (f"{scene.name}-low", JobState.RUNNING)
    nodes = NodeCapacity.objects.current().filter(cluster=ledgers.pulled.cluster, instance_type=INSTANCE_TYPE)
    assert nodes.get().accelerators >= 8

    submit(scene, "short", 4, "high", seconds=2)
    until(scene, "short", "Finished")
    again = until(scene, "long", "Admitted")
    ledgers.agree()

    for ledger in ledgers:
        before, after = row(ledger, "long").spans.order_by("reserved_at")
        assert before.reserved_at == since(first, "QuotaReserved")
        assert before.released_after <= before.released_before <= after.reserved_at
        assert (after.reserved_at, after.released_before) == (since(again, "QuotaReserved"), None)
        assert (row(ledger, "short").state, row(ledger, "short").spans.get().end) == (JobState.FINISHED, "finished")
    seen, unseen = (row(ledger, "long").spans.earliest("reserved_at") for ledger in (ledgers.watched, ledgers.pulled))
    assert (seen.end, seen.released_after) == ("evicted", seen.released_before)
    assert seen.reserved_at <= seen.evicted_at <= seen.released_before
    assert unseen.end == "unseen"
    assert seen.evicted_at <= unseen.evicted_at <= seen.evicted_at + EVENT_DELAY  # Kueue's event told it
    assert unseen.released_after <= seen.released_before + EVENT_DELAY
    assert seen.released_before <= unseen.released_before

    scene.admin.call(
        "DELETE", f"/apis/batch/v1/namespaces/{scene.place(OWNERS)}/jobs/long?propagationPolicy=Background"
    )
    jobs.wait_for("the Workload's end", lambda: not list(_workloads(scene, "long")))
    ledgers.agree()

    for ledger in ledgers:
        gone = row(ledger, "long")
        assert gone.gone_before is not None
        assert gone.state in (JobState.CANCELLED, JobState.ENDED)
        assert gone.spans.latest("reserved_at").released_before is not None
        assert ledger.queue(OWNERS).reservation == 0
    assert row(ledgers.watched, "long").state == JobState.CANCELLED
