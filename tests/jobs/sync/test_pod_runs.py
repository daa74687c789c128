from collections.abc import Collection
from datetime import datetime

import pytest

from gateways.records import PodLook
from jobs.models import Interruption, PodRun
from jobs.rules.interruptions import Cause
from jobs.sync.pod_runs import PodGone, write_pods
from scheduling import names
from tests.pods import Pod
from tests.stories import Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db


class Pods:
    """What becomes of pods in a world; `sick` are the nodes that are not healthy, `asked` those looked at."""

    def __init__(self, world: World) -> None:
        self.world, self.sick, self.asked = world, set[str](), set[str]()

    def see(self, *pods: Pod | PodLook, at: float = 1, last_seen: float | None = None) -> int:
        looks = [pod.look if isinstance(pod, Pod) else pod for pod in pods]
        return self._write(looks, [], at, last_seen)

    def gone(self, *pods: Pod, at: float) -> int:
        """The watch told it."""
        gone = [PodGone(pod.uid, minute(at), minute(at), watched=True) for pod in pods]
        return self._write([pod.touch().look for pod in pods], gone, at, None)

    def lose(self, *pods: Pod, after: float, at: float) -> int:
        """A list did not hold them."""
        return self._write([], [PodGone(p.uid, minute(after), minute(at), watched=False) for p in pods], at, after)

    def _write(self, looks: list[PodLook], gone: list[PodGone], at: float, last_seen: float | None) -> int:
        seen: datetime | None = None if last_seen is None else minute(last_seen)
        written, self.unplaced = write_pods(
            self.world.cluster, looks, gone, sick_nodes=self._ask, now=minute(at), last_seen=seen
        )
        return written

    def _ask(self, nodes: Collection[str]) -> Collection[str]:
        self.asked |= set(nodes)
        return self.sick & set(nodes)


@pytest.fixture
def pods(shared: World) -> Pods:
    return Pods(shared)


@pytest.fixture
def job(shared: World) -> Job:
    made = Job(pods=2).admit(0)
    shared.see(made)
    return made


def test_a_pod_is_kept_with_its_workload_node_and_times(pods: Pods, job: Job) -> None:
    pod = Pod(job, node="node-3", bound=2)
    assert pods.see(pod, at=3) == 1
    run = PodRun.objects.get()
    assert (run.workload.uid, run.node, run.bound_at, run.ended_before) == (job.uid, "node-3", minute(2), None)
    pods.see(pod.ends(9), at=10)
    run.refresh_from_db()
    assert (run.ended_after, run.ended_before, run.end) == (minute(9), minute(9), "succeeded")
    assert pods.asked == set()


def test_the_same_looks_again_change_nothing(pods: Pods, job: Job) -> None:
    running, stopping = (pod := Pod(job)).look, pod.stops(4).look
    pods.see(running, stopping, at=5)
    pods.gone(pod, at=6)
    before = list(PodRun.objects.values()) + list(Interruption.objects.values())
    assert pods.see(running, at=7) == pods.see(stopping, at=8) == pods.gone(pod, at=9) == 0
    assert list(PodRun.objects.values()) + list(Interruption.objects.values()) == before


def test_a_late_look_takes_nothing_back(pods: Pods, job: Job) -> None:
    early, late = (pod := Pod(job)).look, pod.restart().ends(4, code=1).look
    pods.see(late, at=5)
    assert pods.see(early, at=6) == 0
    assert (PodRun.objects.get().end, PodRun.objects.get().restarts) == ("failed", 1)


def test_a_pod_finds_its_workload_by_its_job_where_kueue_noted_none(pods: Pods, job: Job) -> None:
    pods.see(Pod(job, annotations={}))
    assert PodRun.objects.get().workload.uid == job.uid


def test_pods_of_unknown_workloads_and_without_a_node_are_left_out(pods: Pods, job: Job) -> None:
    assert pods.see(other := Pod(Job("other")), Pod(job, node="")) == 0
    assert pods.unplaced == [other.look]
    pods.world.see(Job("other").admit(0))
    assert pods.see(Pod(Job("other"))) == 1


def test_a_pod_that_vanished_unseen_ended_in_between(pods: Pods, job: Job) -> None:
    pods.see(pod := Pod(job))
    pods.lose(pod, after=3, at=8)
    run = PodRun.objects.get()
    assert (run.ended_after, run.ended_before, run.end) == (minute(3), minute(8), "unseen")
    assert Interruption.objects.get().cause == Cause.UNKNOWN


def test_a_pod_that_was_over_already_keeps_its_end(pods: Pods, job: Job) -> None:
    pods.see(pod := Pod(job).ends(4, code=1), at=5)
    pods.gone(pod, at=9)
    assert (PodRun.objects.get().ended_before, PodRun.objects.get().end) == (minute(4), "failed")


def test_a_node_that_died_is_told_by_the_pod(pods: Pods, job: Job) -> None:
    pods.see(pod := Pod(job))
    pods.see(pod.stops(5, "DeletionByTaintManager"), at=5)
    broken = Interruption.objects.get()
    assert (broken.cause, broken.nodes, broken.reason) == (Cause.NODE, ["node-1"], "DeletionByTaintManager")
    assert (broken.after, broken.before, broken.namespace) == (minute(5), minute(5), job.namespace)
    assert pods.asked == set()


def test_a_node_that_died_is_told_by_the_node(pods: Pods, job: Job) -> None:
    pods.see(pod := Pod(job))
    pods.sick = {"node-1"}
    pods.gone(pod, at=5)
    assert (Interruption.objects.get().cause, pods.asked) == (Cause.NODE, {"node-1"})


def test_a_node_that_died_is_blamed_for_a_pod_that_vanished_between_two_lists(pods: Pods, job: Job) -> None:
    pods.see(pod := Pod(job))
    pods.sick = {"node-1"}
    pods.lose(pod, after=4, at=5)
    broken = Interruption.objects.get()
    assert (broken.cause, broken.nodes, pods.asked) == (Cause.NODE, ["node-1"], {"node-1"})


def test_a_node_is_not_blamed_for_a_pod_that_vanished_in_a_long_gap(pods: Pods, job: Job) -> None:
    pods.see(pod := Pod(job))
    pods.sick = {"node-1"}
    pods.lose(pod, after=4, at=90)
    assert (Interruption.objects.get().cause, pods.asked) == (Cause.UNKNOWN, set())


def test_the_node_of_a_pod_that_was_over_is_not_asked(pods: Pods, job: Job) -> None:
    pods.see(pod := Pod(job).ends(4), at=5)
    pods.sick = {"node-1"}
    pods.lose(pod, after=5, at=6)
    assert (PodRun.objects.get().node_failed, pods.asked) == (False, set())


def test_a_restart_is_told_apart(pods: Pods, job: Job) -> None:
    pods.see(pod := Pod(job))
    pods.gone(pod, at=5)
    pods.see(Pod(job, bound=6), at=6)
    broken = Interruption.objects.get()
    assert (broken.cause, broken.replaced_at) == (Cause.DELETED, minute(6))


def test_an_eviction_is_no_interruption_whoever_is_seen_first(pods: Pods, job: Job) -> None:
    pods.see(pod := Pod(job))
    pods.see(pod.stops(5), at=5)
    assert Interruption.objects.count() == 1  # until the eviction is seen
    pods.world.see(job.evict(5), now=minute(6))
    assert Interruption.objects.count() == 0


def test_the_end_of_a_job_is_no_interruption(pods: Pods, job: Job) -> None:
    pods.see(Pod(job).ends(5, code=1), at=5)
    pods.world.see(job.finish(6, names.FAILED), now=minute(6))
    assert Interruption.objects.count() == 0


def test_an_interruption_is_found_when_the_hold_is_seen_after_the_pods(pods: Pods) -> None:
    job = Job()
    pods.world.see(job.waits())
    pods.see(Pod(job).ends(5, code=1), at=5)
    assert Interruption.objects.count() == 0
    pods.world.see(job.admit(0), now=minute(6))
    assert Interruption.objects.get().cause == Cause.FAILED


def test_odd_times_are_put_in_order(pods: Pods, job: Job) -> None:
    pods.see(Pod(job, bound=5).ends(2, code=1), at=6)
    run = PodRun.objects.get()
    assert run.bound_at == run.ended_after == run.ended_before == minute(5)


def test_many_pods_are_written_in_parts(pods: Pods, job: Job) -> None:
    assert pods.see(*(Pod(job, f"train-{n}") for n in range(1100))) == 1100
