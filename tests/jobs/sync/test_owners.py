"""What jobs say of themselves on their own objects, and what the ledger makes of it."""

from datetime import datetime
from typing import Any

import pytest

from gateways.errors import Denied, NotFound
from jobs.evictions.story import checkpoint_notes
from jobs.ledger.eviction_losses import write_losses
from jobs.models import Eviction
from jobs.rules.lost_work import Basis
from jobs.sync import owners
from jobs.sync.owners import read_owners, to_ask
from jobs.sync.told_by_events import ToldByEvents
from notices.models import Notice
from portal.models import SourceState
from scheduling import names
from tests.jobs.sync.test_told_by_events import event
from tests.people import People
from tests.stories import Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db

GPUS = 4


class Answers:
    """Stands for the API: annotations by owner uid, or the error."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.of: dict[str, Any] = {}
        self.asked: list[str] = []
        monkeypatch.setattr(owners, "owner_annotations", self._answer)

    def _answer(self, api: object, kind: str, namespace: str, name: str, uid: str) -> dict[str, str]:
        self.asked.append(f"{kind} {namespace}/{name}")
        found = self.of.get(uid, NotFound("gone"))
        if isinstance(found, Exception):
            raise found
        return dict(found)

    def read(self, world: World, now: datetime) -> None:
        read_owners(world.cluster, None, lambda: now)  # type: ignore[arg-type]


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Answers:
    return Answers(monkeypatch)


def says(answers: Answers, job: Job, **annotations: str) -> None:
    spelled = {
        "saved": names.LAST_CHECKPOINT_ANNOTATION,
        "every": names.CHECKPOINT_INTERVAL_ANNOTATION,
        "by": names.SUBMITTED_BY_ANNOTATION,
    }
    answers.of[f"job-{job.uid}"] = {spelled[name]: text for name, text in annotations.items()}


def evicted(world: World) -> Job:
    """After an hour of work."""
    job = Job(gpus=GPUS).admit(0)
    world.see(job, now=minute(0))
    world.see(job.evict(60).release(61), now=minute(61))
    return job


def loss() -> tuple[str, int | None, int | None]:
    eviction = Eviction.objects.get()
    return eviction.basis, eviction.lost_low, eviction.lost_high


def test_the_last_checkpoint_of_the_owner_makes_the_loss_exact(shared: World, answers: Answers) -> None:
    job = evicted(shared)
    says(answers, job, saved="2026-10-08T12:50:00Z")
    answers.read(shared, minute(62))
    assert loss() == (Basis.EXACT, GPUS * 600, GPUS * 600)
    assert Eviction.objects.get().checkpoint_at == minute(50)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2026-10-08T13:30:00Z", "it lies after the eviction"),
        ("2036-10-08T12:00:00Z", "it lies after the eviction"),
        ("soon", "it is not a time such as"),
    ],
)
def test_a_checkpoint_that_cannot_be_is_ignored_and_said(shared: World, answers: Answers, text: str, why: str) -> None:
    job = evicted(shared)
    says(answers, job, saved=text)
    answers.read(shared, minute(95))
    assert loss() == (Basis.WHOLE, GPUS * 3600, GPUS * 3600)
    (note,) = checkpoint_notes(Eviction.objects.select_related("workload").get())
    assert text in note and why in note


def test_the_interval_of_the_owner_bounds_the_loss(shared: World, answers: Answers) -> None:
    says(answers, evicted(shared), every="30m")
    answers.read(shared, minute(62))
    assert loss() == (Basis.EXPECTED, 0, GPUS * 1800)


@pytest.mark.parametrize("text", ["soon", "-5m", "10y"])
def test_an_interval_that_cannot_be_is_ignored_and_said(shared: World, answers: Answers, text: str) -> None:
    says(answers, evicted(shared), every=text)
    answers.read(shared, minute(62))
    assert loss()[0] == Basis.WHOLE
    (note,) = checkpoint_notes(Eviction.objects.select_related("workload").get())
    assert text in note


def test_the_pod_template_goes_before_the_owner(shared: World, answers: Answers) -> None:
    job = Job(gpus=GPUS).admit(0)
    annotations = {names.CHECKPOINT_INTERVAL_ANNOTATION: "20m"}
    job.obj["spec"]["podSets"][0]["template"]["metadata"] = {"annotations": annotations}
    shared.see(job)
    shared.see(job.evict(60), now=minute(60))
    says(answers, job, every="30m")
    answers.read(shared, minute(62))
    assert loss() == (Basis.EXPECTED, 0, GPUS * 1200)


def test_an_owner_that_is_gone_leaves_the_loss_as_it_was(shared: World, answers: Answers) -> None:
    job = evicted(shared)
    before = loss()
    answers.read(shared, minute(62))
    answers.read(shared, minute(63))
    assert loss() == before
    assert len(answers.asked) == 1
    assert shared.row(job).submitted_by is None


def test_nobody_is_asked_twice_and_nothing_changes(shared: World, answers: Answers) -> None:
    says(answers, evicted(shared), saved="2026-10-08T12:50:00Z", by="viewer")
    answers.read(shared, minute(62))
    before, version = list(Eviction.objects.values()), SourceState.objects.get(source=owners.OWNERS).version
    answers.read(shared, minute(63))
    assert len(answers.asked) == 1
    assert list(Eviction.objects.values()) == before
    assert SourceState.objects.get(source=owners.OWNERS).version == version


def test_evictions_of_long_ago_are_not_asked_about(shared: World) -> None:
    evicted(shared)
    assert len(to_ask(shared.cluster, minute(110))) == 1
    assert to_ask(shared.cluster, minute(125)) == []


def test_kinds_that_are_no_jobs_are_not_asked(shared: World) -> None:
    job = Job().admit(0)
    job.obj["metadata"]["ownerReferences"][0]["kind"] = "LevitatingJob"
    shared.see(job)
    assert to_ask(shared.cluster, minute(1)) == []


def test_a_kind_that_may_not_be_read_is_said_and_holds_up_no_other(shared: World, answers: Answers) -> None:
    first, second = Job("first").admit(0), Job("second").admit(0)
    second.obj["metadata"]["ownerReferences"][0]["kind"] = "Job"
    shared.see(first, second, now=minute(0))
    answers.of[f"job-{first.uid}"] = Denied("GET pytorchjobs: 403")
    says(answers, second, by="viewer")
    with pytest.raises(Denied):
        answers.read(shared, minute(1))
    assert shared.row(second).submitter == "viewer"
    assert (shared.row(first).submitted_by, shared.row(first).submitted_by_source) == (None, "")
    assert SourceState.objects.get(source=owners.OWNERS).last_error == "GET pytorchjobs: 403"


def test_an_admitted_jobs_person_stands_on_its_notices(shared: World, people: People, answers: Answers) -> None:
    job = Job().admit(0)
    shared.see(job, now=minute(0))
    says(answers, job, by="viewer")
    answers.read(shared, minute(1))
    shared.see(job.evict(5), now=minute(5))
    assert {notice.submitted_by for notice in Notice.objects.all()} == {"viewer"}
    assert shared.row(job.touch()).submitter == "viewer"


def test_a_waiting_job_is_asked_when_it_is_admitted(shared: World) -> None:
    job = Job().waits("no room")
    shared.see(job)
    assert to_ask(shared.cluster, minute(1)) == []
    shared.see(job.admit(2), now=minute(2))
    assert [workload.uid for workload in to_ask(shared.cluster, minute(3))] == [job.uid]


def test_a_checkpoint_counts_as_soon_as_an_event_dates_the_eviction(shared: World, answers: Answers) -> None:
    job = Job(gpus=GPUS).admit(0)
    shared.see(job, now=minute(0))
    shared.see(job.evict(40).release(41).admit(50), now=minute(51), last_seen=minute(0))
    says(answers, job, saved="2026-10-08T12:30:00Z")
    answers.read(shared, minute(52))
    assert loss()[0] == Basis.WHOLE
    told = ToldByEvents(shared.cluster)
    told.take([event(job, 40)])
    told.write(minute(53))
    assert loss() == (Basis.EXACT, GPUS * 600, GPUS * 600)


def unseen(world: World) -> Job:
    """Admitted, evicted and admitted again between two looks; an event tells when it was evicted."""
    job = Job(gpus=GPUS).waits()
    world.see(job, now=minute(0))
    world.see(job.admit(10).evict(50).release(50).admit(60), now=minute(61), last_seen=minute(0))
    told = ToldByEvents(world.cluster)
    told.take([event(job, 50)])
    told.write(minute(62))
    return job


def test_a_checkpoint_makes_the_loss_exact_where_nobody_saw_the_hold(shared: World, answers: Answers) -> None:
    says(answers, unseen(shared), saved="2026-10-08T12:45:00Z")
    assert loss() == (Basis.WHOLE, GPUS * 2400, GPUS * 2400)
    answers.read(shared, minute(63))
    assert loss() == (Basis.EXACT, GPUS * 300, GPUS * 300)
    assert Eviction.objects.get().lost_since == minute(45)
    assert write_losses(Eviction.objects.all()) == 0


def test_a_checkpoint_of_an_earlier_run_leaves_it_the_whole_run(shared: World, answers: Answers) -> None:
    says(answers, unseen(shared), saved="2026-10-08T12:05:00Z")
    answers.read(shared, minute(63))
    assert loss() == (Basis.WHOLE, GPUS * 2400, GPUS * 2400)
