"""What Kueue does not see: a node that dies under a real Job, whose pods are made anew while its Workload stays."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobs.models import Interruption, PodRun
from jobs.rules.interruptions import Cause
from scheduling import names
from tests.cluster import jobs, objects
from tests.cluster.client import CONFLICT, Refused, path
from tests.cluster.objects import GPU
from tests.cluster.plane import ControlPlane
from tests.cluster.sync.conftest import watching
from tests.cluster.sync.ledgers import Ledger, Ledgers
from tests.cluster.sync.scene import LOCAL_QUEUE, OWNERS, Scene

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

PODS_SECONDS = 90  # the scheduler and kwok are slow where the machine is busy
WHOLE_SECOND = timedelta(seconds=1)  # the cluster tells no smaller unit
HELD = "tests.example.org/held"  # a finalizer: the pod that is told to go is there until it is taken off


@pytest.fixture
def nodes(scene: Scene) -> Iterator[list[str]]:
    """Two, with room for a pod of four GPUs each."""
    made = [f"{scene.name}-{number}" for number in (1, 2)]
    capacity = {GPU: "4", "cpu": "64", "memory": "256Gi", "pods": "110"}
    for name in made:
        scene.admin.create(
            "nodes", {"metadata": {"name": name}, "status": {"allocatable": capacity, "capacity": capacity}}
        )
    yield made
    clear_jobs(scene)
    for name in made:
        scene.admin.delete("nodes", name)


def clear_jobs(scene: Scene) -> None:
    """A job that is left would have its pods on the next scene's nodes."""
    address = path("jobs", scene.place(OWNERS))
    scene.admin.call("DELETE", f"{address}?propagationPolicy=Background")
    jobs.wait_for("no pods", lambda: not scene.admin.items("pods", scene.place(OWNERS)), PODS_SECONDS)


@pytest.fixture
def scene(working_plane: ControlPlane) -> Iterator[Scene]:
    made = Scene(working_plane.admin)
    made.wait_until_active()
    yield made
    made.clear()


@pytest.fixture
def ledgers(scene: Scene, nodes: list[str], working_plane: ControlPlane, sound_ledger: None) -> Iterator[Ledgers]:
    with watching(scene, working_plane) as made:
        yield made


def submit(scene: Scene, name: str) -> None:
    """A Job of one pod that runs on."""
    template = objects.job_template({GPU: 4}, seconds=600)
    metadata = {"namespace": scene.place(OWNERS), "name": name, "labels": {names.QUEUE_LABEL: LOCAL_QUEUE}}
    scene.admin.create("jobs", {"metadata": metadata, "spec": {"suspend": True, "template": template}})


def running(scene: Scene, other_than: str = "") -> dict[str, Any]:
    """The pod that runs, once one does."""

    def look() -> dict[str, Any] | None:
        found = scene.admin.items("pods", scene.place(OWNERS))
        alive = (
            pod for pod in found if pod["status"].get("phase") == "Running" and pod["metadata"]["uid"] != other_than
        )
        return next(alive, None)

    pod: dict[str, Any] = jobs.wait_for("a running pod", look, PODS_SECONDS)
    return pod


def wait_until_gone(scene: Scene, pod: dict[str, Any]) -> None:
    """The cluster takes its time for it: only then is it the portal's turn to see it."""

    def is_gone() -> bool:
        return pod["metadata"]["uid"] not in {
            each["metadata"]["uid"] for each in scene.admin.items("pods", scene.place(OWNERS))
        }

    jobs.wait_for("the pod's end", is_gone, PODS_SECONDS)


def workload(scene: Scene) -> dict[str, Any]:
    (found,) = scene.admin.items("workloads", scene.place(OWNERS))
    return found


def die(scene: Scene, node: str, pod: dict[str, Any]) -> None:
    """As HyperPod's health agent marks a node, and as its pods are told to go then."""
    scene.admin.merge(
        "nodes", node, {"metadata": {"labels": {names.NODE_HEALTH_LABEL: "UnschedulablePendingReplacement"}}}
    )
    scene.admin.merge("nodes", node, {"spec": {"unschedulable": True}})
    scene.admin.delete("pods", pod["metadata"]["name"], scene.place(OWNERS))


def hold(scene: Scene, pod: dict[str, Any], *, held: bool) -> None:
    """While it is held it is not gone, however long ago it was told to go."""

    def is_done() -> bool:
        name, namespace = pod["metadata"]["name"], scene.place(OWNERS)
        now = scene.admin.read("pods", name, namespace)["metadata"]
        kept = [each for each in now.get("finalizers", []) if each != HELD] + [HELD] * held
        change = {"metadata": {"finalizers": kept, "resourceVersion": now["resourceVersion"]}}
        try:
            scene.admin.merge("pods", name, change, namespace)
        except Refused as error:
            if error.status != CONFLICT:  # the Job controller takes its own off meanwhile
                raise
            return False
        return True

    jobs.wait_for("the finalizer", is_done)


def until(ledger: Ledger, what: str, is_so: Callable[[Ledger], object]) -> None:
    ledger.until(what, lambda: is_so(ledger))


def runs(ledger: Ledger) -> list[PodRun]:
    found = PodRun.objects.filter(cluster=ledger.cluster, workload__namespace=ledger.scene.place(OWNERS))
    return list(found.order_by("bound_at", "pk"))


def interrupted(ledger: Ledger) -> list[Interruption]:
    return list(Interruption.objects.filter(cluster=ledger.cluster, namespace=ledger.scene.place(OWNERS)))


def is_replaced(ledger: Ledger) -> bool:
    broken = interrupted(ledger)
    return bool(broken and broken[0].replaced_at) and runs(ledger)[0].ended_before is not None


def begin(scene: Scene, ledgers: Ledgers) -> dict[str, Any]:
    """A job whose pod runs, which both ledgers know."""
    submit(scene, "train")
    pod = running(scene)
    for ledger in ledgers:
        until(ledger, "the pod", runs)
    return pod


@dataclass
class During:
    """Between when and when something was done."""

    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    ended: datetime = datetime.max.replace(tzinfo=UTC)

    def __enter__(self) -> "During":
        return self

    def __exit__(self, *error: object) -> None:
        self.ended = datetime.now(UTC)

    def is_when(self, broken: Interruption) -> bool:
        return broken.after <= self.ended and self.began - WHOLE_SECOND < broken.before


def test_a_node_dies_and_the_pod_is_replaced_while_the_workload_stays(
    scene: Scene, nodes: list[str], ledgers: Ledgers
) -> None:
    first = begin(scene, ledgers)
    with During() as death:
        die(scene, first["spec"]["nodeName"], first)
    second = running(scene, other_than=first["metadata"]["uid"])
    died, lives = first["spec"]["nodeName"], second["spec"]["nodeName"]
    assert {died, lives} == set(nodes)
    assert jobs.is_true(workload(scene), "Admitted") and not jobs.is_true(workload(scene), "Evicted")
    wait_until_gone(scene, first)
    for ledger in ledgers:
        until(ledger, "both pods", is_replaced)
        before, after = runs(ledger)
        assert [(run.uid, run.node) for run in (before, after)] == [
            (first["metadata"]["uid"], died), (second["metadata"]["uid"], lives),
        ]  # fmt: skip
        assert (before.ended_before is not None, after.ended_before) == (True, None)
        (interruption,) = interrupted(ledger)
        assert (interruption.cause, interruption.nodes, interruption.pods) == (Cause.NODE, [died], 1)
        assert death.is_when(interruption)
        assert interruption.replaced_at == after.bound_at
        (span,) = ledger.spans(OWNERS, workload(scene)["metadata"]["name"])
        assert (interruption.span, span.released_before) == (span, None)
    (watched,) = interrupted(ledgers.watched)
    assert watched.after == watched.before


def test_a_pod_that_somebody_deletes_on_a_healthy_node_is_a_restart(
    scene: Scene, nodes: list[str], ledgers: Ledgers
) -> None:
    first = begin(scene, ledgers)
    hold(scene, first, held=True)
    with During() as deletion:
        scene.admin.delete("pods", first["metadata"]["name"], scene.place(OWNERS))
    running(scene, other_than=first["metadata"]["uid"])
    for ledger in ledgers:
        until(ledger, "that it was told to go", interrupted)
    hold(scene, first, held=False)
    wait_until_gone(scene, first)
    for ledger in ledgers:
        until(ledger, "both pods", is_replaced)
        (interruption,) = interrupted(ledger)
        assert (interruption.cause, interruption.after) == (Cause.DELETED, interruption.before)
        assert deletion.is_when(interruption)


def test_what_took_a_pod_between_two_pulls_is_known_to_the_watch_alone(
    scene: Scene, nodes: list[str], ledgers: Ledgers
) -> None:
    first = begin(scene, ledgers)
    with During() as deletion:
        scene.admin.delete("pods", first["metadata"]["name"], scene.place(OWNERS))
    running(scene, other_than=first["metadata"]["uid"])
    wait_until_gone(scene, first)
    for ledger in ledgers:
        until(ledger, "both pods", is_replaced)
    (pulled,), (watched,) = map(interrupted, ledgers)
    assert (pulled.cause, watched.cause) == (Cause.UNKNOWN, Cause.DELETED)
    assert deletion.is_when(pulled) and deletion.is_when(watched)


def test_a_job_that_is_deleted_was_not_interrupted(scene: Scene, nodes: list[str], ledgers: Ledgers) -> None:
    pod = begin(scene, ledgers)
    job = path("jobs", scene.place(OWNERS), "train")
    scene.admin.call("DELETE", f"{job}?propagationPolicy=Background")
    wait_until_gone(scene, pod)
    for ledger in ledgers:
        until(ledger, "the pod's end", lambda ledger: runs(ledger)[0].ended_before is not None)
        until(ledger, "no interruption", lambda ledger: not interrupted(ledger))
