"""Lists and watches of pods into the ledger, through the pull and through a watch's store."""

import threading
from datetime import datetime

import pytest

from gateways.errors import Denied, Unavailable
from gateways.records import Batch, Change, NodeRecord, PodLook
from jobs.models import Interruption, PodRun
from jobs.rules.interruptions import Cause
from jobs.sync.node_health import NodeHealth
from jobs.sync.pod_listings import PodListing
from jobs.sync.pod_store import PodStore
from jobs.sync.pull import pull_pods
from jobs.sync.sources import PODS
from jobs.sync.watch import Follower, PodFollower
from portal.models import Gap, SourceState
from portal.sync_runs import Counts
from tests.jobs.scripted import ScriptedCluster
from tests.pods import Pod, pods_page
from tests.stories import GPU, P5, Job, minute, next_version
from tests.worlds import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def job(shared: World) -> Job:
    made = Job(pods=3).admit(0)
    shared.see(made)
    return made


@pytest.fixture
def scripted(job: Job, monkeypatch: pytest.MonkeyPatch) -> ScriptedCluster:
    nodes = [NodeRecord(f"node-{n}", P5, True, {GPU: 8}) for n in range(1, 4)]
    made = ScriptedCluster(pods=[Pod(job, f"train-{n}", f"node-{n}") for n in range(1, 4)], nodes=nodes)
    monkeypatch.setattr("jobs.sync.pull.Kubernetes", lambda api: api)
    return made.install(monkeypatch)


def pull(world: World, scripted: ScriptedCluster, at: float) -> Counts:
    return pull_pods(world.cluster, scripted, lambda: minute(at))  # type: ignore[arg-type]


def state() -> SourceState:
    return SourceState.objects.get(source=PODS)


def ended() -> dict[str, tuple[datetime | None, datetime | None]]:
    return {run.name: (run.ended_after, run.ended_before) for run in PodRun.objects.order_by("name")}


def test_a_list_is_stored_and_listed_again_writes_nothing(shared: World, scripted: ScriptedCluster) -> None:
    assert pull(shared, scripted, 2).written == 3
    version = state().version
    again = pull(shared, scripted, 3)
    assert (again.seen, again.written, again.absent, state().version) == (3, 0, 0, version)


def test_a_pod_that_is_not_listed_any_more_ended_since_the_last_list(shared: World, scripted: ScriptedCluster) -> None:
    pull(shared, scripted, 2)
    del scripted.pods[0]
    assert pull(shared, scripted, 3).absent == 1
    assert ended() == {"train-1": (minute(2), minute(3)), "train-2": (None, None), "train-3": (None, None)}


def test_a_list_without_most_pods_is_read_again(shared: World, scripted: ScriptedCluster) -> None:
    pull(shared, scripted, 2)
    pods, scripted.pods = scripted.pods, []
    scripted.calls.clear()
    pull(shared, scripted, 3)
    assert scripted.calls.count("Pod") == 2
    assert len(pods) == PodRun.objects.filter(ended_before=minute(3)).count()


def test_a_list_that_breaks_marks_nothing_absent(shared: World, scripted: ScriptedCluster) -> None:
    pull(shared, scripted, 2)
    scripted.broken["Pod"] = Unavailable("broken")
    with pytest.raises(Unavailable):
        pull(shared, scripted, 3)
    assert set(ended().values()) == {(None, None)}
    assert state().last_error == "broken"


def test_a_list_that_begins_again_counts_each_pod_once(shared: World, scripted: ScriptedCluster) -> None:
    scripted.restarts = {"Pod"}
    assert pull(shared, scripted, 2).seen == 3


def test_pods_newer_than_the_list_are_not_absent(shared: World, scripted: ScriptedCluster, job: Job) -> None:
    listing = PodListing(shared.cluster, NodeHealth(scripted, lambda: minute(3)), Counts(), minute(1))  # type: ignore[arg-type]
    listing.take(pods_page(*scripted.pods), minute(3))
    PodRun.objects.filter(name="train-1").update(resource_version=next_version() + 1)
    listing.uids.clear()
    listing.close(lambda: iter([pods_page()]), lambda: minute(3))
    assert [name for name, times in ended().items() if times == (None, None)] == ["train-1"]


def test_a_cluster_whose_pods_may_not_be_read_says_so_and_leaves_a_gap(
    shared: World, scripted: ScriptedCluster
) -> None:
    pull(shared, scripted, 2)
    scripted.failing["Pod"] = Denied("pods may not be listed")
    with pytest.raises(Denied):
        pull(shared, scripted, 10)
    assert (state().failing_since, state().last_error) == (minute(10), "pods may not be listed")
    assert Gap.objects.get(source=PODS).start == minute(2)


def test_nodes_are_read_once_for_many_pods_and_only_if_one_is_to_blame(
    shared: World, scripted: ScriptedCluster
) -> None:
    pull(shared, scripted, 2)
    assert "Node" not in scripted.calls
    scripted.nodes[0] = NodeRecord("node-1", P5, False, {GPU: 8})
    scripted.pods = [pod.stops(5) for pod in scripted.pods]
    pull(shared, scripted, 5)
    assert scripted.calls.count("Node") == 1
    assert (Interruption.objects.get().cause, Interruption.objects.get().nodes) == (Cause.NODE, ["node-1"])


def test_nodes_that_cannot_be_read_are_not_blamed(shared: World, scripted: ScriptedCluster) -> None:
    pull(shared, scripted, 2)
    scripted.failing["Node"] = Denied("no")
    scripted.pods = [pod.stops(5) for pod in scripted.pods]
    pull(shared, scripted, 5)
    assert Interruption.objects.get().cause == Cause.DELETED


def test_a_node_that_is_no_more_is_to_blame(scripted: ScriptedCluster) -> None:
    health = NodeHealth(scripted, lambda: minute(1))  # type: ignore[arg-type]
    assert health.sick({"node-1", "node-9"}) == {"node-9"}


def test_a_deletion_that_is_watched_is_one_instant(shared: World, scripted: ScriptedCluster) -> None:
    store = PodStore(shared.cluster, scripted, lambda: minute(4))  # type: ignore[arg-type]
    store.health = NodeHealth(scripted, lambda: minute(4))  # type: ignore[arg-type]
    pod = scripted.pods[0]
    store.begin()
    store.take(pods_page(pod))
    looks: list[PodLook] = [pod.touch().look]
    changes = tuple(Change(look, True, look.resource_version) for look in looks)
    assert store.write(Batch(changes, next_version()), None).written == 1
    assert ended()["train-1"] == (minute(4), minute(4))
    store.write(Batch(changes, next_version()), minute(1))
    assert ended()["train-1"] == (minute(4), minute(4))


def test_pods_are_followed_when_the_workloads_are_known(shared: World, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[bool] = []
    monkeypatch.setattr(Follower, "_follow", lambda self, stop: begun.append(True))
    monkeypatch.setattr("jobs.sync.watch._WORKLOADS_SECONDS", 0)
    follower = PodFollower(shared.cluster, None, None, lambda: minute(0))  # type: ignore[arg-type]
    reads = iter((None, None, minute(1)))
    monkeypatch.setattr("jobs.sync.watch.last_good_read", lambda *_: next(reads))
    follower.run(threading.Event())
    assert begun == [True]
    stopped = threading.Event()
    stopped.set()
    monkeypatch.setattr("jobs.sync.watch.last_good_read", lambda *_: None)
    follower.run(stopped)
    assert begun == [True]


def test_a_pod_that_is_told_of_before_its_workload_waits_for_it(shared: World, scripted: ScriptedCluster) -> None:
    store = PodStore(shared.cluster, scripted, lambda: minute(4))  # type: ignore[arg-type]
    late, never = Pod(Job("late"), "late-0"), Pod(Job("never"), "never-0")
    changes = tuple(Change(pod.look, False, pod.look.resource_version) for pod in (late, never))
    store.begin()
    assert store.write(Batch(changes, next_version()), None).written == 0
    assert store.write(Batch((), next_version()), None).written == 0
    shared.see(Job("late").admit(0))
    assert store.write(Batch((), next_version()), None).written == 1
    assert list(ended()) == ["late-0"]
    assert set(store.waiting) == {never.uid}
    look = never.touch().look
    store.health = NodeHealth(scripted, lambda: minute(4))  # type: ignore[arg-type]
    store.write(Batch((Change(look, True, look.resource_version),), next_version()), None)
    assert store.waiting == {}
