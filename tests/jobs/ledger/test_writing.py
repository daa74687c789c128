import copy
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs.ledger.writing import Vanished, write_workloads
from jobs.models import Span, SpanUsage, Workload
from jobs.states import JobState
from portal.write_path import BATCH
from scheduling import objects
from scheduling.names import JOB_UID_LABEL
from scheduling.parsing import MalformedObject, parse_workload
from tests.stories import KEY, START, Job, minute
from tests.worlds import World, ledger

pytestmark = pytest.mark.django_db


def writes(queries: CaptureQueriesContext) -> list[str]:
    """The tables that were written to."""
    return [
        f[1]
        for q in queries
        if (f := re.search(r'^(?:\d+ times: )?(?:INSERT INTO|UPDATE|DELETE FROM) "(\w+)"', q["sql"]))
    ]


def test_first_sight_stores_what_the_object_says(world: World) -> None:
    job = Job(gpus=4, pods=2, created=1, priority=7).waits("no room", at=1)
    assert world.see(job, now=minute(2)) == 1
    row = world.row(job)
    assert (row.namespace, row.name, row.title) == ("hyperpod-ns-research", "pytorchjob-train", "train")
    assert (row.priority, row.priority_class, row.owner_kind) == (7, "normal", "PyTorchJob")
    assert (row.created_at, row.first_seen_at, row.state) == (minute(1), minute(2), JobState.QUEUED)
    assert row.pod_sets == [{"name": "main", "count": 2, "min_count": None, "requests": {"nvidia.com/gpu": 4}}]
    assert row.condition("QuotaReserved")["message"] == "no room"
    assert row.submitted_by is None
    assert not world.spans(job)


def test_both_api_versions_give_the_same_row(world: World) -> None:
    old, new = Job("old", api="v1beta1").admit(1), Job("new", api="v1beta2").admit(1)
    world.see(old, new)
    told = [Workload.objects.filter(uid=j.uid).values("priority_class", "state", "pod_sets", "conditions").get()
            for j in (old, new)]  # fmt: skip
    assert told[0] == told[1]


def test_an_unchanged_look_reads_once_and_writes_nothing(world: World) -> None:
    job = Job().admit(1)
    world.see(job)
    before = ledger(world.cluster)
    with CaptureQueriesContext(connection) as queries:
        assert world.see(job, now=minute(5)) == 0
    assert writes(queries) == []
    assert ledger(world.cluster) == before


def test_an_older_version_is_skipped(world: World) -> None:
    job = Job().waits()
    older = job.record
    world.see(job.admit(1))
    assert world.see(older) == 0
    assert world.row(job).state == JobState.RUNNING
    assert len(world.spans(job)) == 1


def test_a_new_message_touches_the_workload_row_alone(world: World) -> None:
    job = Job().admit(1)
    world.see(job)
    with CaptureQueriesContext(connection) as queries:
        assert world.see(job.condition("PodsReady", True, 1, "Started", "and so on"), now=minute(2)) == 1
    assert writes(queries) == ["jobs_workload"]
    assert world.row(job).condition("PodsReady")["message"] == "and so on"


def test_a_message_rewritten_fifty_times_opens_nothing(world: World) -> None:
    job = Job().waits("0 more needed", at=0)
    other = Job("other").admit(0)
    world.see(job, other)
    before = {name: rows for name, rows in ledger(world.cluster).items() if name != "workloads"}
    for count in range(50):
        world.see(job.waits(f"{count} more needed"), now=START + timedelta(seconds=count / 50))
    assert world.row(job).condition("QuotaReserved") == {
        "status": False, "reason": "Pending", "message": "49 more needed", "since": minute(0).isoformat()
    }  # fmt: skip
    assert {name: rows for name, rows in ledger(world.cluster).items() if name != "workloads"} == before


def test_deletion_that_was_watched_is_exact(world: World) -> None:
    job = Job().admit(1)
    world.see(job, now=minute(1))
    world.see_deleted(job, now=minute(9))
    row, (span,) = world.row(job), world.spans(job)
    assert (row.gone_after, row.gone_before, row.state) == (minute(9), minute(9), JobState.CANCELLED)
    assert row.since == minute(9)
    assert (span.released_after, span.released_before, span.end) == (minute(9), minute(9), Span.End.DELETED)


def test_absence_from_a_list_is_an_interval(world: World) -> None:
    job = Job().admit(1)
    world.see(job, now=minute(1))
    assert world.lose(job, now=minute(9), after=minute(8)) == 1
    row, (span,) = world.row(job), world.spans(job)
    assert (row.gone_after, row.gone_before, row.state) == (minute(8), minute(9), JobState.ENDED)
    assert (span.released_after, span.released_before, span.end) == (minute(8), minute(9), Span.End.DELETED)
    assert world.lose(job, now=minute(10), after=minute(9)) == 0


def test_an_object_newer_than_the_list_is_not_absent_from_it(world: World) -> None:
    job = Job().admit(1)
    world.see(job)
    assert world.lose(job, now=minute(9), after=minute(8), version=job.version - 1) == 0
    assert not world.row(job).is_over


def test_an_end_seen_before_keeps_its_state_when_the_object_goes(world: World) -> None:
    job = Job().admit(1).finish(5)
    world.see(job, now=minute(5))
    world.see_deleted(job, now=minute(60))
    assert (world.row(job).state, world.row(job).since) == (JobState.FINISHED, minute(5))
    (span,) = world.spans(job)
    assert (span.released_after, span.released_before, span.end) == (minute(5), minute(5), Span.End.FINISHED)


def test_a_uid_that_comes_back_undoes_its_absence(shared: World) -> None:
    job = Job().admit(1)
    shared.see(job, now=minute(1))
    shared.lose(job, now=minute(9), after=minute(8))
    assert shared.queue_now().reservation == 0
    job.touch()
    assert shared.see(job, now=minute(10)) == 1
    row, (span,) = shared.row(job), shared.spans(job)
    assert (row.gone_after, row.gone_before, row.gone_version, row.state) == (None, None, None, JobState.RUNNING)
    assert (span.released_after, span.released_before, span.end) == (None, None, "")
    assert shared.usages(job) == [(4, minute(1), None)]
    assert shared.queue_now().reservation == 4


def test_a_later_list_undoes_an_absence_even_of_an_unchanged_object(world: World) -> None:
    job = Job().admit(1)
    world.see(job)
    version = job.touch().version
    world.lose(job, now=minute(9), after=minute(8), version=version)
    assert world.see(job, now=minute(10), as_of=version) == 0
    assert world.see(job, now=minute(10), as_of=version + 1) == 1
    assert not world.row(job).is_over


def test_a_stale_page_after_a_watched_deletion_brings_nothing_back(world: World) -> None:
    job = Job().admit(1)
    page, version = job.record, job.version
    world.see(job, now=minute(1))
    world.see_deleted(job, now=minute(2))
    assert world.see(page, now=minute(3), as_of=version + 1) == 0
    assert world.see(page, now=minute(3)) == 0
    assert world.row(job).gone_before == minute(2)
    assert world.spans(job)[0].released_before == minute(2)


def test_what_came_and_went_between_two_looks_is_stored_as_gone(world: World) -> None:
    job = Job().admit(1)
    assert world.see_deleted(job, now=minute(2)) == 1
    assert world.row(job).gone_before == minute(2)
    (span,) = world.spans(job)
    assert (span.reserved_at, span.released_before) == (minute(1), minute(2))


def test_a_malformed_quantity_is_named_and_the_others_are_stored(world: World) -> None:
    good = [Job("first"), Job("last")]
    bad = Job("bad", requests={"cpu": "many"})
    assert world.see(good[0], bad, good[1]) == 2
    assert world.problems == ["Workload hyperpod-ns-research/pytorchjob-bad: 'many' is not a quantity"]
    assert set(Workload.objects.values_list("uid", flat=True)) == {job.uid for job in good}


def places(of: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value within an object."""
    if path:
        yield path
    for key, value in of.items() if isinstance(of, dict) else enumerate(of) if isinstance(of, list) else ():
        yield from places(value, (*path, key))


def misshapen(job: Job, odd: object) -> Iterator[objects.Workload]:
    """The job with an odd value in each of its places, as far as it can be read then."""
    for number, path in enumerate(places(job.json)):
        obj = copy.deepcopy(job.json)
        obj["metadata"]["uid"] = f"{job.uid}-{number}"
        holder = obj
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = odd
        try:
            yield parse_workload(obj)
        except MalformedObject:
            continue


@pytest.mark.parametrize("odd", [None, 5, -1, 2**70, 1.5, True, "odd", [], ["odd"], [None], {}, {"odd": 5}], ids=repr)
def test_whatever_one_field_holds_the_others_are_stored(world: World, odd: object) -> None:
    """Also what the cluster's own schema forbids."""
    evicted, past = Job("evicted", gpus=2).admit(0).evict(2).release(3).admit(4).evict(5), Job("past").admit(0).evict(1)
    for job in (evicted, past.release(2)):
        job.obj["metadata"]["labels"] = {JOB_UID_LABEL: "uid-of-job"}
    found = [*misshapen(evicted, odd), *misshapen(past, odd)]
    assert found
    first, last = Job("first").waits("no room"), Job("last").admit(0)
    written = world.see(first, *found, last, now=minute(9), last_seen=minute(0))
    assert written == 2 + len(found) - len(world.problems)
    assert [world.row(job).state for job in (first, last)] == [JobState.QUEUED, JobState.RUNNING]


def test_a_record_that_no_column_holds_is_named_and_the_others_are_stored(world: World) -> None:
    good, bad = Job("good"), Job("bad")
    bad.obj["spec"]["priority"] = 2**80
    assert world.see(bad, good) == 1
    assert len(world.problems) == 1
    assert world.problems[0].startswith("Workload hyperpod-ns-research/pytorchjob-bad cannot be stored: ")


def test_one_that_no_column_holds_among_many(world: World) -> None:
    """PostgreSQL takes many rows another way than few."""
    jobs = [Job(f"job-{n}") for n in range(80)]
    jobs[33].obj["spec"]["priority"] = 2**80
    assert world.see(*jobs) == 79
    assert [problem.split(" cannot")[0] for problem in world.problems] == [
        "Workload hyperpod-ns-research/pytorchjob-job-33"
    ]


@pytest.mark.parametrize("priority", [-(2**31), 2**31 - 1])
@pytest.mark.parametrize("boost", ["-2147483648", "2147483647"])
def test_priorities_at_the_ends_of_int32_with_a_boost(world: World, priority: int, boost: str) -> None:
    job = Job(priority=priority)
    job.obj["metadata"]["annotations"] = {"kueue.x-k8s.io/priority-boost": boost}
    world.see(job)
    assert world.row(job).priority == priority + int(boost)


def test_names_of_253_characters(world: World) -> None:
    name = "a" * 253
    job = Job(name, namespace="n" * 63, queue="c" * 253, uid="uid-long", queueName="q" * 253)
    job.obj["metadata"]["name"] = name
    job.admit(1, flavor="f" * 253)
    world.see(job)
    row = world.row(job)
    assert (row.name, row.owner_name, row.queue_name) == (name, name, "q" * 253)
    assert world.spans(job)[0].cluster_queue == "c" * 253


def test_unknown_conditions_reasons_and_kinds_are_kept_as_they_are(world: World) -> None:
    job = Job().condition("Levitating", None, 1, "NobodyKnows", "up").condition("QuotaReserved", False, 1, "Sulking")
    job.obj["metadata"]["ownerReferences"][0]["kind"] = "FutureJob"
    world.see(job)
    row = world.row(job)
    assert row.condition("Levitating")["status"] is None
    assert row.condition("QuotaReserved")["reason"] == "Sulking"
    assert (row.owner_kind, row.state) == ("FutureJob", JobState.QUEUED)


def test_no_environment_arguments_or_foreign_annotations_are_stored(world: World) -> None:
    job = Job()
    job.obj["metadata"]["annotations"] = {"example.com/token": "secret-annotation"}
    job.obj["metadata"]["managedFields"] = [{"manager": "secret-manager"}]
    container = job.obj["spec"]["podSets"][0]["template"]["spec"]["containers"][0]
    container |= {"env": [{"name": "KEY", "value": "secret-value"}], "args": ["secret-argument"]}
    world.see(job)
    assert "secret" not in repr(Workload.objects.values().get())


def test_more_workloads_than_one_transaction_takes(world: World) -> None:
    jobs = [Job(f"job-{n}").reserve(1) for n in range(BATCH + 1)]
    assert world.see(*jobs) == BATCH + 1
    gone = [Vanished(job.uid, jobs[-1].version, minute(2), minute(2), watched=False) for job in jobs]
    assert write_workloads(world.cluster, (), gone, now=minute(2), last_seen=minute(1)) == (BATCH + 1, [])
    assert not Span.objects.filter(released_before__isnull=True).exists()
    assert SpanUsage.objects.filter(flavor=KEY[0], resource=KEY[1]).count() == BATCH + 1


def test_the_newest_of_two_looks_in_one_batch_counts(world: World) -> None:
    job = Job()
    looks = [job.record, job.admit(1).record, job.finish(2).record]
    assert world.see(looks[2], looks[0], looks[1]) == 1
    assert world.row(job).state == JobState.FINISHED
