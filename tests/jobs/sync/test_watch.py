import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from gateways.errors import Gone, Unavailable
from gateways.records import Batch, Change, ObjectVersion, Outage, Page, Recovered, Relisted
from gateways.watching import Source
from jobs.models import QueueNow, Span, Workload
from jobs.sync import watch
from jobs.sync.sources import SOURCE_OF, WORKLOADS
from jobs.sync.watch import ClusterWatch, Follower, SpecStore, WorkloadStore
from portal.models import Gap, SourceState, SyncRun
from portal.sync_runs import SyncRefused
from scheduling import objects
from teams.models import Cluster, SpecVersion
from teams.sync import QueueRecord, live_names
from tests.jobs.scripted import ScriptedCluster
from tests.stories import Job, cluster_queue, cohort, local_queue, minute, next_version
from tests.worlds import World

pytestmark = pytest.mark.django_db
Kind = SpecVersion.Kind


class Story:
    """What a watch tells, item by item, each at its minute; `since` is the version from which it was asked to go on.
    Asked again, it tells the rest."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *told: tuple[float, Any]) -> None:
        self.told, self.now, self.since = iter(told), minute(0), None
        monkeypatch.setattr(watch, "follow", self._follow)
        monkeypatch.setattr(watch, "_AGAIN_SECONDS", 0)

    def clock(self) -> datetime:
        return self.now

    def _follow(self, source: object, stop: threading.Event, *, since: int | None = None) -> Iterator[Any]:
        self.since = since
        for at, item in self.told:
            self.now = minute(at)
            yield item() if callable(item) else item


@pytest.fixture
def scripted() -> ScriptedCluster:
    return ScriptedCluster()


@pytest.fixture
def follow_jobs(world: World, scripted: ScriptedCluster, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Story]:
    """Follows workloads through a story to its end."""

    def run(*told: tuple[float, Any]) -> Story:
        story = Story(monkeypatch, *told)
        store = WorkloadStore(world.cluster, scripted, story.clock)
        Follower(world.cluster, Source(Mocked, Mocked), store, story.clock).run(threading.Event())
        return story

    return run


def Mocked(*_: object) -> Iterator[Any]:  # noqa: N802
    """A source that nobody reads: the story stands in for `follow`."""
    raise AssertionError("read")


@pytest.fixture
def follow_queues(world: World, scripted: ScriptedCluster, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Story]:
    """Follows ClusterQueues through a story to its end."""

    def run(*told: tuple[float, Any]) -> Story:
        story = Story(monkeypatch, *told)
        store = SpecStore(world.cluster, scripted, Kind.CLUSTER_QUEUE, story.clock)
        Follower(world.cluster, Source(Mocked, Mocked), store, story.clock).run(threading.Event())
        return story

    return run


def page(*records: objects.Workload | QueueRecord, is_last: bool = True, restarted: bool = False) -> Page[Any]:
    return Page(tuple(records), (), next_version(), restarted, is_last)


def batch(*records: objects.Workload | QueueRecord, gone: tuple[Any, ...] = ()) -> Batch[Any]:
    changes = [Change(record, False, record.resource_version) for record in records]
    changes += [Change(record, True, record.resource_version) for record in gone]
    changes.sort(key=lambda change: change.resource_version)
    return Batch(tuple(changes), next_version())


def versions(*jobs: Job, is_last: bool = True) -> Relisted:
    listed = tuple(ObjectVersion(job.uid, job.namespace, job.record.name, job.version) for job in jobs)
    return Relisted(Page(listed, (), next_version(), False, is_last))


def state(source: str = WORKLOADS) -> SourceState:
    return SourceState.objects.get(source=source)


def test_a_first_list_is_stored_page_by_page_and_leaves_a_run(follow_jobs: Callable[..., Story]) -> None:
    jobs = [Job(f"job-{n}").admit(0) for n in range(3)]
    follow_jobs((1, page(*(job.record for job in jobs[:2]), is_last=False)), (2, page(jobs[2].record)))
    assert Workload.objects.count() == 3
    run = SyncRun.objects.get()
    assert (run.seen, run.written, run.started_at, run.ended_at) == (3, 3, minute(1), minute(2))
    assert (state().last_good_at, state().version) == (minute(1), 1)


def test_a_change_is_stored_and_moves_the_age_and_the_version(world: World, follow_jobs: Callable[..., Story]) -> None:
    job = Job().waits()
    change = batch(job.admit(2).record)
    follow_jobs((1, page(job.record)), (2, change), (3, Batch((), change.resource_version + 7)))
    assert world.spans(job)[0].reserved_at == minute(2)
    assert state().last_good_at == minute(3)
    assert state().resource_version == change.resource_version + 7
    assert SyncRun.objects.count() == 1


def test_an_object_that_cannot_be_read_is_counted_until_the_next_list(follow_jobs: Callable[..., Story]) -> None:
    bad = Change(None, False, next_version(), "Workload ns/odd: a field is missing")
    follow_jobs((1, page()), (2, Batch((bad,), next_version())), (3, batch()))
    assert state().malformed == 1
    follow_jobs((4, page()))
    assert state().malformed == 0


def test_a_deletion_that_is_told_live_is_exact(world: World, follow_jobs: Callable[..., Story]) -> None:
    job = Job().admit(0)
    first = page(job.record)
    follow_jobs((1, first), (2, batch()), (5, batch(gone=(job.touch().record,))))
    row = world.row(job)
    assert (row.gone_after, row.gone_before) == (minute(5), minute(5))


def test_a_deletion_that_is_told_live_is_one_instant_though_the_clock_goes_on(
    world: World, follow_jobs: Callable[..., Story], monkeypatch: pytest.MonkeyPatch
) -> None:
    def clock(story: Story) -> datetime:
        story.now += timedelta(microseconds=1)
        return story.now

    monkeypatch.setattr(Story, "clock", clock)
    job = Job().admit(0)
    first = page(job.record)
    follow_jobs((1, first), (2, batch()), (5, batch(gone=(job.touch().record,))))
    row, (span,) = world.row(job), world.spans(job)
    assert row.gone_after == row.gone_before == span.released_after == span.released_before


def test_a_deletion_that_is_told_after_an_outage_lies_somewhere_in_it(
    world: World, follow_jobs: Callable[..., Story]
) -> None:
    job, other = Job().admit(0), Job("other").admit(0)
    first = page(job.record, other.record)
    follow_jobs(
        (1, first),
        (2, batch()),
        (4, Outage(Unavailable("no answer"), minute(2))),
        (9, Recovered(minute(2), lossless=True)),
        (9, batch(gone=(job.touch().record,))),
        (10, batch(gone=(other.touch().record,))),
    )
    row, (span,) = world.row(job), world.spans(job)
    assert (row.gone_after, row.gone_before) == (minute(2), minute(9))
    assert (span.released_after, span.released_before) == (minute(2), minute(9))
    assert world.row(other).gone_after == minute(10)


def test_a_deletion_that_is_told_on_resuming_lies_between_the_last_good_read_and_now(
    world: World, follow_jobs: Callable[..., Story]
) -> None:
    job = Job().admit(0)
    follow_jobs((1, page(job.record)))
    story = follow_jobs((6, batch(gone=(job.touch().record,))))
    assert story.since is not None
    row = world.row(job)
    assert (row.gone_after, row.gone_before) == (minute(1), minute(6))


def test_the_watch_goes_on_where_it_stopped_a_short_while_ago(world: World, follow_jobs: Callable[..., Story]) -> None:
    assert follow_jobs((1, page())).since is None
    version = state().resource_version
    follower = Follower(world.cluster, Source(Mocked, Mocked), WorkloadStore(world.cluster, None, None), None)
    for at, since in ((9, version), (12, None)):
        follower.clock = lambda at=at: minute(at)
        assert follower._resume_from() == since


def test_a_relist_by_versions_reads_what_differs_and_marks_what_is_absent(
    world: World, scripted: ScriptedCluster, follow_jobs: Callable[..., Story]
) -> None:
    kept, changed, lost, new = (Job(name) for name in ("kept", "changed", "lost", "new"))
    first = page(kept.record, changed.record, lost.record)
    changed.admit(2)
    scripted.jobs = [kept, changed, new]
    follow_jobs((1, first), (3, versions(kept, is_last=False)), (4, lambda: versions(changed, new)))
    assert scripted.calls == ["get pytorchjob-changed", "get pytorchjob-new"]
    assert set(Workload.objects.live().values_list("uid", flat=True)) == {kept.uid, changed.uid, new.uid}
    assert SyncRun.objects.order_by("-pk").first().absent == 1


def test_a_relist_brings_back_what_a_bad_list_had_lost(
    world: World, scripted: ScriptedCluster, follow_jobs: Callable[..., Story]
) -> None:
    scripted.jobs = [Job(f"job-{n}") for n in range(3)]
    follow_jobs((1, page(*(job.record for job in scripted.jobs))))
    world.lose(scripted.jobs[0], now=minute(2), after=minute(1))
    follow_jobs((3, lambda: versions(*scripted.jobs)))
    assert Workload.objects.live().count() == 3


def test_a_list_that_an_outage_interrupted_marks_nothing_absent(
    world: World, follow_jobs: Callable[..., Story]
) -> None:
    jobs = [Job(f"job-{n}") for n in range(4)]
    first = page(*(job.record for job in jobs))
    follow_jobs(
        (1, first),
        (2, versions(*jobs[:2], is_last=False)),
        (3, Outage(Unavailable("no answer"), minute(1))),
        (4, Recovered(minute(1), lossless=True)),
        (5, lambda: versions(*jobs)),
    )
    assert Workload.objects.live().count() == 4
    assert {run.absent for run in SyncRun.objects.all()} == {0}


def test_a_doubtful_list_is_read_again_before_it_is_believed(
    world: World, scripted: ScriptedCluster, follow_jobs: Callable[..., Story]
) -> None:
    jobs = [Job(f"job-{n}") for n in range(3)]
    scripted.jobs = jobs
    first = page(*(job.record for job in jobs))
    follow_jobs((1, first), (2, lambda: versions()))
    assert scripted.calls == ["versions"]
    assert SyncRun.objects.count() == 2
    assert Workload.objects.live().count() == 3


def test_a_list_that_cannot_be_read_again_is_void_and_the_watch_goes_on(
    world: World, scripted: ScriptedCluster, follow_jobs: Callable[..., Story]
) -> None:
    jobs = [Job(f"job-{n}") for n in range(3)]
    first = page(*(job.record for job in jobs))
    scripted.failing["versions"] = Unavailable("storage is (re)initializing")
    story = follow_jobs((1, first), (2, lambda: versions()), (5, lambda: batch(gone=(jobs[0].touch().record,))))
    assert SyncRun.objects.count() == 1
    assert story.since == first.resource_version
    assert {job.uid: world.row(job).gone_before for job in jobs} == {
        jobs[0].uid: minute(5),
        jobs[1].uid: None,
        jobs[2].uid: None,
    }
    assert world.row(jobs[0]).gone_after == minute(1)


def test_what_cannot_be_read_singly_is_recorded_and_tried_again(
    world: World, scripted: ScriptedCluster, follow_jobs: Callable[..., Story]
) -> None:
    job, new = Job("old"), Job("new")
    scripted.jobs = [job, new]
    scripted.failing["get pytorchjob-new"] = Unavailable("no answer within 10 s")

    def fails() -> Relisted:
        return versions(job, new)

    def works() -> Relisted:
        assert (state().failing_since, state().last_error) == (minute(2), "no answer within 10 s")
        scripted.failing.clear()
        return versions(job, new)

    follow_jobs((1, page(job.record)), (2, fails), (3, works))
    assert Workload.objects.live().count() == 2
    assert state().failing_since is None


def test_an_outage_is_recorded_and_a_lossless_recovery_leaves_no_gap(follow_jobs: Callable[..., Story]) -> None:
    outage = Outage(Unavailable("no answer within 10 s"), minute(1))
    follow_jobs((1, page()), (2, outage), (5, outage))
    assert (state().failing_since, state().last_error) == (minute(2), "no answer within 10 s")
    assert [(gap.start, gap.end) for gap in Gap.objects.all()] == [(minute(1), None)]
    follow_jobs((6, Recovered(minute(1), lossless=True)))
    assert (state().failing_since, state().last_good_at) == (None, minute(6))
    assert not Gap.objects.exists()


def test_a_recovery_with_losses_closes_the_gap_at_the_list_that_follows(follow_jobs: Callable[..., Story]) -> None:
    outage = Outage(Gone("too old"), minute(1))
    follow_jobs((1, page()), (2, outage), (5, outage), (6, Recovered(minute(1), lossless=False)))
    assert state().last_good_at == minute(1)
    follow_jobs((6, outage), (7, page()))
    assert [(gap.start, gap.end) for gap in Gap.objects.all()] == [(minute(1), minute(7))]


def test_a_hold_that_came_and_went_in_an_outage_is_dated_by_the_cluster(
    world: World, follow_jobs: Callable[..., Story]
) -> None:
    job = Job().waits()
    first = page(job.record)
    follow_jobs((1, first), (9, lambda: batch(job.admit(3).finish(5).record)))
    (span,) = world.spans(job)
    assert (span.reserved_at, span.released_before, span.end) == (minute(3), minute(5), Span.End.FINISHED)


def test_queues_that_are_told_are_stored_with_the_caches(world: World, follow_queues: Callable[..., Story]) -> None:
    follow_queues((1, page(cluster_queue("research-queue", 12))), (2, batch(cluster_queue("research-queue", 9))))
    assert QueueNow.objects.get().nominal == 9
    assert state("cluster_queues").last_good_at == minute(2)


def test_a_queue_deleted_and_re_created_in_one_batch_lives(world: World, follow_queues: Callable[..., Story]) -> None:
    first = cluster_queue("research-queue", 12, uid="first")
    follow_queues((1, page(first)))
    last_of_it = cluster_queue("research-queue", 12, uid="first")
    follow_queues((2, batch(cluster_queue("research-queue", 9, uid="second"), gone=(last_of_it,))))
    assert live_names(world.cluster, Kind.CLUSTER_QUEUE) == {"research-queue"}
    line = SpecVersion.objects.order_by("valid_from")
    assert [(version.uid, version.deleted) for version in line] == [
        ("first", False),
        ("first", True),
        ("second", False),
    ]


def test_a_deleted_queue_is_closed(world: World, follow_queues: Callable[..., Story]) -> None:
    follow_queues((1, page(cluster_queue())), (2, lambda: batch(gone=(cluster_queue(),))))
    assert live_names(world.cluster, Kind.CLUSTER_QUEUE) == set()


def test_a_doubtful_list_of_queues_is_read_again(
    world: World, scripted: ScriptedCluster, follow_queues: Callable[..., Story]
) -> None:
    scripted.queues = [cluster_queue("a"), cluster_queue("b")]
    follow_queues((1, page(*scripted.queues)), (2, lambda: page()))
    assert scripted.calls == [Kind.CLUSTER_QUEUE]
    assert SyncRun.objects.count() == 2
    assert live_names(world.cluster, Kind.CLUSTER_QUEUE) == {"a", "b"}


@pytest.mark.parametrize(
    ("kind", "record", "line"),
    [(Kind.COHORT, cohort("shared", 3), "shared"), (Kind.LOCAL_QUEUE, local_queue("ns", "queue"), "ns/main-queue")],
)
def test_every_watched_kind_is_stored_under_its_own_source(
    world: World, scripted: ScriptedCluster, monkeypatch: pytest.MonkeyPatch, kind: Kind, record: Any, line: str
) -> None:
    story = Story(monkeypatch, (1, page(record)))
    store = SpecStore(world.cluster, scripted, kind, story.clock)
    Follower(world.cluster, Source(Mocked, Mocked), store, story.clock).run(threading.Event())
    assert live_names(world.cluster, kind) == {line}
    assert state(SOURCE_OF[kind]).last_good_at == minute(1)


class SourcesOf(ScriptedCluster):
    def source(self, kind: object) -> Source[Any]:
        return Source(Mocked, Mocked)


@pytest.fixture
def cluster_watch(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClusterWatch]:
    """Its threads keep off the database, which belongs to the test's own thread."""
    SourcesOf().install(monkeypatch, "jobs.sync.watch")
    monkeypatch.setattr(watch.connections, "close_all", lambda: None)
    made = ClusterWatch(world.cluster, lambda: minute(1))
    yield made
    made.stop()


def test_an_error_in_one_follower_is_recorded_and_ends_them_all(
    cluster_watch: ClusterWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[tuple[str, str]] = []
    monkeypatch.setattr(
        watch, "record_failure", lambda source, cluster, *, now, error: failures.append((source, repr(error)))
    )

    def run(self: Follower, stop: threading.Event) -> None:
        if self.store.name == "cohorts":
            raise ValueError("broken")
        assert stop.wait(10)

    monkeypatch.setattr(Follower, "run", run)
    assert cluster_watch.is_alive
    cluster_watch.start()
    for thread in cluster_watch._threads:
        thread.join(10)
    assert not cluster_watch.is_alive
    assert failures == [("cohorts", "ValueError('broken')")]


def test_a_watch_that_was_never_started_can_be_stopped(cluster_watch: ClusterWatch) -> None:
    cluster_watch.stop()
    assert not cluster_watch.is_alive


def test_a_watch_on_another_cluster_does_not_start(world: World, cluster_watch: ClusterWatch) -> None:
    Cluster.objects.update(identity="uid-of-another")
    cluster_watch.cluster.refresh_from_db()
    with pytest.raises(SyncRefused):
        cluster_watch.start()
    assert not any(thread.is_alive() for thread in cluster_watch._threads)
