from datetime import datetime, timedelta
from typing import Any

import pytest
from django.apps import apps

from gateways.errors import BadReply, ConfigurationError, Conflict, Denied, GatewayError, Gone, NotFound, Unavailable
from gateways.records import NodeRecord
from jobs.models import Eviction, QueueNow, Workload
from jobs.sync import pull
from jobs.sync.pull import pull_cluster, pull_nodes, pull_specs, pull_workloads
from jobs.sync.sources import SOURCES
from portal.models import SourceState, SyncRun
from portal.sync_runs import freshness
from teams.models import Cluster, NodeCapacity, SpecVersion
from teams.sync import live_names
from tests.jobs.scripted import WORKLOADS, ScriptedCluster
from tests.stories import GPU, P5, Job, cluster_queue, cohort, flavor, local_queue, minute, priority_class
from tests.worlds import World

pytestmark = pytest.mark.django_db
Kind = SpecVersion.Kind


class Clock:
    """Every reading is a second later than the one before."""

    def __init__(self, start: datetime) -> None:
        self.time = start

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedCluster:
    cluster = ScriptedCluster(
        queues=[
            cohort(),
            cluster_queue("research-queue", 12),
            local_queue("hyperpod-ns-research", "research-queue"),
            flavor(),
            priority_class(),
        ],
        jobs=[Job("runs").admit(0), Job("waits").waits("no room"), Job("over").admit(0).finish(1)],
        nodes=[NodeRecord("n-1", P5, True, {GPU: 8})],
    )
    return cluster.install(monkeypatch)


def tables(*without: str) -> dict[str, list[dict[str, Any]]]:
    """Every row of every table, keys included."""
    models = [m for m in apps.get_models() if m.__name__ not in without]
    return {m.__name__: list(m._default_manager.order_by("pk").values()) for m in models}


def states() -> dict[str, SourceState]:
    return {state.source: state for state in SourceState.objects.all()}


def test_a_pull_stores_every_source(world: World, scripted: ScriptedCluster) -> None:
    pull_cluster(world.cluster, Clock(minute(1)))
    assert set(states()) == {*SOURCES, pull.PODS, pull.ABOUT, pull.EVENTS, pull.OWNERS}
    assert all(state.failing_since is None and state.last_good_at for state in states().values())
    assert Workload.objects.count() == 3
    assert QueueNow.objects.get().reservation == 4
    assert NodeCapacity.objects.get().total == 1
    assert Cluster.objects.get().identity == scripted.uid
    runs = {run.source: (run.seen, run.written) for run in SyncRun.objects.all()}
    assert runs[pull.WORKLOADS] == (3, 3)
    assert runs["cluster_queues"] == runs["nodes"] == (1, 1)


def event(job: Job, at: str, **rest: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": f"e-{at}", "uid": f"e-{at}", "creationTimestamp": at},
        "involvedObject": {"kind": "Workload", "name": job.record.name, "uid": job.uid},
        "reason": "EvictedDueToPreempted",
        "message": "Preempted to accommodate a workload (UID: theirs) due to reclamation within the cohort",
        "eventTime": at,
        **rest,
    }


def test_events_tell_when_an_eviction_was_that_nobody_saw(world: World, scripted: ScriptedCluster) -> None:
    pull_cluster(world.cluster, Clock(minute(1)))
    job = scripted.jobs[0].evict(10).release(11).admit(12).evict(20).release(21).admit(22)
    scripted.events = [event(job, "2026-10-08T12:10:00.030000Z"), event(job, "2026-10-08T12:20:00.030000Z"), {}]
    pull_cluster(world.cluster, Clock(minute(31)))
    found = Eviction.objects.order_by("ordinal")
    assert [(e.decided_after, e.decided_before) for e in found] == [(minute(10),) * 2, (minute(20),) * 2]
    assert found[0].preemptor_uid == "theirs"
    run = SyncRun.objects.filter(source=pull.EVENTS).latest("started_at")
    assert (run.seen, run.written, run.malformed) == (2, 2, 1)
    before = tables("SyncRun", "SourceState")
    pull_cluster(world.cluster, Clock(minute(33)))
    assert tables("SyncRun", "SourceState") == before


def test_events_that_may_not_be_read_are_said_and_hold_up_nothing(world: World, scripted: ScriptedCluster) -> None:
    scripted.failing["/apis/events.k8s.io/v1/events"] = Denied("GET /apis/events.k8s.io/v1/events: 403")
    pull_cluster(world.cluster, Clock(minute(1)))
    assert "403" in states()[pull.EVENTS].last_error
    assert all(states()[source].failing_since is None for source in SOURCES)


def test_a_pull_run_twice_writes_nothing_but_its_runs_and_states(world: World, scripted: ScriptedCluster) -> None:
    pull_cluster(world.cluster, Clock(minute(1)))
    before, versions = tables("SyncRun", "SourceState"), {s.source: s.version for s in states().values()}
    pull_cluster(world.cluster, Clock(minute(2)))
    assert tables("SyncRun", "SourceState") == before
    assert {s.source: s.version for s in states().values()} == versions
    later = SyncRun.objects.filter(started_at__gt=minute(2))
    assert {(run.status, run.written, run.absent) for run in later} == {(SyncRun.Status.UNCHANGED, 0, 0)}


def test_the_second_pull_reads_versions_and_then_the_changed_workloads_alone(
    world: World, scripted: ScriptedCluster
) -> None:
    pull_workloads(world.cluster, scripted, Clock(minute(1)))
    scripted.calls.clear()
    scripted.jobs[1].admit(2)
    counts = pull_workloads(world.cluster, scripted, Clock(minute(2)))
    assert scripted.calls == ["versions", "get pytorchjob-waits"]
    assert (counts.seen, counts.written) == (3, 1)


def test_much_news_is_read_as_a_whole_list(
    world: World, scripted: ScriptedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pull, "_FEW", 1)
    pull_workloads(world.cluster, scripted, Clock(minute(1)))
    scripted.calls.clear()
    for job in scripted.jobs:
        job.touch()
    counts = pull_workloads(world.cluster, scripted, Clock(minute(2)))
    assert scripted.calls == ["versions", WORKLOADS]
    assert (counts.seen, counts.written) == (3, 3)


def test_an_unchanged_workload_that_a_bad_list_had_lost_comes_back(world: World, scripted: ScriptedCluster) -> None:
    pull_workloads(world.cluster, scripted, Clock(minute(1)))
    world.lose(scripted.jobs[0], now=minute(2), after=minute(1))
    assert Workload.objects.live().count() == 2
    assert pull_workloads(world.cluster, scripted, Clock(minute(3))).written == 1
    assert Workload.objects.live().count() == 3


def test_a_workload_that_vanished_between_list_and_read_is_left_to_the_next_pull(
    world: World, scripted: ScriptedCluster
) -> None:
    pull_workloads(world.cluster, scripted, Clock(minute(1)))
    scripted.jobs.append(Job("fleeting"))
    scripted.failing["get pytorchjob-fleeting"] = NotFound("gone")
    assert pull_workloads(world.cluster, scripted, Clock(minute(2))).written == 0


def test_what_vanished_while_a_list_was_read_did_so_after_its_beginning(
    world: World, scripted: ScriptedCluster
) -> None:
    pull_workloads(world.cluster, scripted, Clock(minute(1)))
    lost = scripted.jobs.pop()  # as well after its page as after the whole list
    pull_workloads(world.cluster, scripted, Clock(minute(2)))
    first, second = SyncRun.objects.order_by("started_at")
    assert first.started_at < first.ended_at
    row = world.row(lost)
    assert (row.gone_after, row.gone_before) == (first.started_at, second.ended_at - timedelta(seconds=1))


def test_a_list_that_would_mark_more_than_half_absent_is_repeated(world: World, scripted: ScriptedCluster) -> None:
    pull_workloads(world.cluster, scripted, Clock(minute(1)))
    all_jobs, scripted.jobs = scripted.jobs, []
    versions = scripted.list_workload_versions
    answers = iter([versions()])
    scripted.jobs = all_jobs

    def first_empty_then_whole() -> Any:
        return next(answers, None) or versions()

    scripted.list_workload_versions = first_empty_then_whole  # type: ignore[method-assign]
    assert pull_workloads(world.cluster, scripted, Clock(minute(2))).absent == 0
    assert Workload.objects.live().count() == 3


def test_an_emptied_cluster_is_believed_at_the_second_list(world: World, scripted: ScriptedCluster) -> None:
    pull_workloads(world.cluster, scripted, Clock(minute(1)))
    scripted.jobs, scripted.calls = [], []
    counts = pull_workloads(world.cluster, scripted, Clock(minute(2)))
    assert scripted.calls == ["versions", "versions"]
    assert (counts.seen, counts.absent) == (0, 3)
    assert not Workload.objects.live().exists()


def test_a_list_of_queues_that_would_mark_more_than_half_absent_is_repeated(
    world: World, scripted: ScriptedCluster
) -> None:
    scripted.queues = [cluster_queue(f"queue-{n}") for n in range(3)]
    pull_specs(world.cluster, scripted, Kind.CLUSTER_QUEUE, Clock(minute(1)))
    scripted.queues, scripted.calls = scripted.queues[:1], []
    counts = pull_specs(world.cluster, scripted, Kind.CLUSTER_QUEUE, Clock(minute(2)))
    assert scripted.calls == [Kind.CLUSTER_QUEUE, Kind.CLUSTER_QUEUE]
    assert (counts.seen, counts.absent) == (1, 2)
    assert live_names(world.cluster, Kind.CLUSTER_QUEUE) == {"queue-0"}


def test_a_restarted_list_counts_once(world: World, scripted: ScriptedCluster) -> None:
    scripted.restarts = {WORKLOADS, Kind.CLUSTER_QUEUE, "Node"}
    pull_cluster(world.cluster, Clock(minute(1)))
    assert {run.source: run.seen for run in SyncRun.objects.all()}[pull.WORKLOADS] == 3
    assert Workload.objects.live().count() == 3
    assert NodeCapacity.objects.get().total == 1


def test_a_malformed_workload_among_good_ones_is_counted_named_and_skipped(
    world: World, scripted: ScriptedCluster, caplog: pytest.LogCaptureFixture
) -> None:
    scripted.malformed = [scripted.jobs[0]]
    pull_workloads(world.cluster, scripted, Clock(minute(1)))
    assert Workload.objects.count() == 2
    assert SyncRun.objects.get().malformed == states()[pull.WORKLOADS].malformed == 1
    assert "pytorchjob-runs" in caplog.text


def test_a_known_workload_that_becomes_unreadable_stays_as_it_was(world: World, scripted: ScriptedCluster) -> None:
    pull_workloads(world.cluster, scripted, Clock(minute(1)))
    scripted.jobs[0].touch()
    scripted.failing["get pytorchjob-runs"] = BadReply("Workload pytorchjob-runs: a field is missing")
    counts = pull_workloads(world.cluster, scripted, Clock(minute(2)))
    assert counts.malformed == ["Workload pytorchjob-runs: a field is missing"]
    assert Workload.objects.live().count() == 3


ERRORS = [
    Unavailable("no answer within 10 s"),
    Denied("403: workloads is forbidden"),
    NotFound("404: the kind is not served"),
    Conflict("409: it changed"),
    Gone("410: too old"),
    BadReply("JSON, but no Kubernetes list"),
    ConfigurationError("the kubeconfig cannot be read"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_source_that_fails_keeps_what_is_stored_and_says_since_when(
    world: World, scripted: ScriptedCluster, error: GatewayError
) -> None:
    pull_cluster(world.cluster, Clock(minute(1)))
    before = tables("SyncRun", "SourceState", "Gap")
    scripted.failing["versions"] = error
    pull_cluster(world.cluster, Clock(minute(2)))
    assert tables("SyncRun", "SourceState", "Gap") == before
    state = states()[pull.WORKLOADS]
    assert state.failing_since is not None
    assert state.failing_since > minute(2) > state.last_good_at
    assert state.last_error == str(error)
    assert [s.source for s in states().values() if s.failing_since] == [pull.WORKLOADS]
    found = freshness(SOURCES, [world.cluster.slug])[world.cluster.slug]
    assert (found.as_of, found.error) == (state.last_good_at, str(error))


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_cluster_that_cannot_be_identified_fails_in_every_source(
    world: World, scripted: ScriptedCluster, error: GatewayError
) -> None:
    scripted.failing["identity"] = error
    pull_cluster(world.cluster, Clock(minute(1)))
    assert {(s.source, s.last_error) for s in states().values()} == {
        (source, str(error)) for source in (*SOURCES, pull.PODS)
    }
    assert scripted.calls == ["identity"]


def test_a_list_that_breaks_after_a_page_marks_nothing_absent(world: World, scripted: ScriptedCluster) -> None:
    pull_cluster(world.cluster, Clock(minute(1)))
    scripted.jobs = scripted.jobs[:1]
    scripted.broken = {"versions": Unavailable("broken"), Kind.CLUSTER_QUEUE: Unavailable("broken")}
    scripted.queues = []
    pull_cluster(world.cluster, Clock(minute(2)))
    assert Workload.objects.live().count() == 3
    assert live_names(world.cluster, Kind.CLUSTER_QUEUE) == {"research-queue"}


def test_another_cluster_behind_the_connection_is_not_read(world: World, scripted: ScriptedCluster) -> None:
    pull_cluster(world.cluster, Clock(minute(1)))
    scripted.uid, scripted.jobs, scripted.calls = "uid-of-another", [], []
    pull_cluster(Cluster.objects.get(), Clock(minute(2)))
    assert scripted.calls == ["identity"]
    assert Workload.objects.live().count() == 3
    assert "leads to another cluster than before" in states()[pull.WORKLOADS].last_error


def test_an_unexpected_error_in_one_source_leaves_the_others_their_turn(
    world: World, scripted: ScriptedCluster, caplog: pytest.LogCaptureFixture
) -> None:
    scripted.failing[Kind.CLUSTER_QUEUE] = ZeroDivisionError("a fault of ours with a secret")  # type: ignore[assignment]
    pull_cluster(world.cluster, Clock(minute(1)))
    assert states()["cluster_queues"].last_error == "unexpected ZeroDivisionError"
    assert Workload.objects.count() == 3
    assert "ZeroDivisionError" in caplog.text


def test_only_due_sources_are_pulled(world: World, scripted: ScriptedCluster) -> None:
    pull_cluster(world.cluster, Clock(minute(1)), lambda source: source == pull.NODES)
    assert scripted.calls == ["identity", "Node"]


def test_a_pull_heals_caches_that_were_lost(world: World, scripted: ScriptedCluster) -> None:
    pull_cluster(world.cluster, Clock(minute(1)))
    QueueNow.objects.all().delete()
    pull_cluster(world.cluster, Clock(minute(2)))
    assert QueueNow.objects.get().reservation == 4


def test_nodes_over_several_pages(world: World, scripted: ScriptedCluster) -> None:
    scripted.nodes = [NodeRecord(f"n-{n}", P5, n != 0, {GPU: 8}) for n in range(5)]
    scripted.restarts = {"Node"}
    assert pull_nodes(world.cluster, scripted, Clock(minute(1))).seen == 5
    assert (NodeCapacity.objects.get().total, NodeCapacity.objects.get().healthy) == (5, 4)
