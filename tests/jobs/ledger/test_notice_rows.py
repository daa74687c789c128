"""What the ledger tells of a job's fate, in the transaction that stores it."""

from typing import Any

import pytest
from django.db import transaction

from jobs.models import Eviction
from notices.kinds import Kind
from notices.models import Notice
from scheduling import names
from tests.people import People
from tests.stories import Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db


def told(job: Job) -> list[str]:
    rows = Notice.objects.filter(subject=job.uid).order_by("at", "kind")
    return [str(kind) for kind in rows.values_list("kind", flat=True)]


def test_a_job_that_is_evicted_waits_and_runs_again_and_finishes(shared: World) -> None:
    job = Job().admit(0)
    shared.see(job, now=minute(1))
    assert told(job) == []
    shared.see(job.evict(5), now=minute(5))
    assert told(job) == [Kind.EVICTED]
    shared.see(job.release(6), now=minute(6))
    shared.see(job.admit(9), now=minute(9))
    shared.see(job.finish(20), now=minute(20))
    assert told(job) == [Kind.EVICTED, Kind.REQUEUED, Kind.READMITTED, Kind.FINISHED]


def test_a_job_that_fails(shared: World) -> None:
    job = Job().admit(0)
    shared.see(job, now=minute(1))
    shared.see(job.finish(3, names.FAILED), now=minute(3))
    assert told(job) == [Kind.FAILED]


def test_the_first_admission_is_no_news(shared: World) -> None:
    job = Job()
    shared.see(job.waits())
    shared.see(job.admit(1))
    assert told(job) == []


def test_the_notice_names_its_eviction_team_and_submitter(shared: World, people: People) -> None:
    job = Job()
    template = job.obj["spec"]["podSets"][0]["template"]
    template["metadata"] = {"annotations": {names.SUBMITTED_BY_ANNOTATION: "member"}}
    shared.see(job.admit(0))
    shared.see(job.evict(5), now=minute(5))
    notice = Notice.objects.get(kind=Kind.EVICTED)
    assert notice.details == {"namespace": job.namespace, "eviction": Eviction.objects.get().pk}
    assert (notice.team, notice.submitted_by, notice.title, notice.at) == (
        people.research,
        "member",
        "train",
        minute(5),
    )


def test_each_look_twice_tells_once(shared: World) -> None:
    job = Job().admit(0)
    shared.see(job)
    job.evict(5)
    shared.see(job, now=minute(5))
    shared.see(job.touch(), now=minute(6))
    shared.see(job.touch(), now=minute(7))
    assert told(job) == [Kind.EVICTED]


def test_what_was_over_before_the_portal_came_is_no_news(shared: World) -> None:
    past, ended = Job("past").admit(0).evict(5).release(6), Job("ended").admit(0).finish(3, names.FAILED)
    shared.see(past, ended, now=minute(60))
    assert told(past) == told(ended) == []


def test_what_happened_since_the_last_look_to_a_job_never_seen_is_news(shared: World) -> None:
    job, failed = Job("quick").admit(31).evict(35), Job("failed").admit(31).finish(33, names.FAILED)
    shared.see(job, failed, now=minute(60), last_seen=minute(30))
    assert (told(job), told(failed)) == ([Kind.EVICTED], [Kind.FAILED])


def test_every_eviction_that_only_a_counter_told_is_told(shared: World) -> None:
    job = Job().admit(0)
    shared.see(job, now=minute(1))
    for n in range(3):
        job.evict(10 + n).release(10 + n).admit(10 + n)
    shared.see(job, now=minute(20), last_seen=minute(2))
    assert told(job).count(Kind.EVICTED) == Eviction.objects.count() == 3


def test_jobs_of_no_team_are_told_to_nobody(shared: World) -> None:
    job = Job("job", "of-nobody").admit(0)
    shared.see(job)
    shared.see(job.evict(5))
    assert told(job) == []


def test_without_the_eviction_there_is_no_notice(shared: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both or neither: here the transaction breaks after both were written."""

    def broken(*args: Any) -> None:
        raise RuntimeError

    job = Job().admit(0)
    shared.see(job)
    monkeypatch.setattr("jobs.ledger.writing.caches.refresh", broken)
    with pytest.raises(RuntimeError), transaction.atomic():
        shared.see(job.evict(5))
    assert (Notice.objects.count(), Eviction.objects.count()) == (0, 0)
