"""Evictions as the ledger stores them, from looks at workloads in any order, often and seldom."""

from datetime import datetime

import pytest

from jobs.ledger.writing import write_workloads
from jobs.models import Eviction, Workload
from jobs.rules.lost_work import Basis
from scheduling import names
from scheduling.preemption_messages import preempted
from teams.models import NamespaceBinding, Team
from tests.people import People
from tests.stories import Job, cluster_queue, cohort, local_queue, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db

HOUR = 3600
THEIRS = "uid-hyperpod-ns-vision-endpoint"
TAKEN_BACK = preempted(
    THEIRS, f"job-{THEIRS}", names.IN_COHORT_RECLAMATION, ("shared", "vision-queue"), ("shared", "research-queue")
)


def evictions(job: Job) -> list[Eviction]:
    return list(Eviction.objects.filter(workload__uid=job.uid).order_by("decided_before", "ordinal", "pk"))


def told(job: Job) -> list[tuple[str, str, int, bool, datetime, datetime]]:
    return [(e.reason, e.cause, e.ordinal, e.observed, e.decided_after, e.decided_before) for e in evictions(job)]


def endpoint(at: float = 4) -> Job:
    return Job("endpoint", "hyperpod-ns-vision", queue="vision-queue", gpus=8, created=at, priority=1000).waits("", at)


def test_an_eviction_is_decided_released_and_priced(shared: World) -> None:
    job = Job(gpus=16, priority=7).admit(0)
    theirs = endpoint()
    shared.see(job, theirs, now=minute(5))
    shared.see(job.evict(60, message=TAKEN_BACK), now=minute(60))
    (eviction,) = evictions(job)
    assert told(job) == [("Preempted", "", 1, True, minute(60), minute(60))]
    assert (eviction.gpus, eviction.basis, eviction.lost_high) == (16, Basis.WHOLE, 16 * HOUR)
    assert (eviction.stopping, eviction.priority, eviction.priority_class) == (None, 7, "normal")
    shared.see(job.release(63), now=minute(63))
    (eviction,) = evictions(job)
    assert eviction.stopping == 16 * 180
    assert eviction.span is not None
    assert eviction.span.released_before == minute(63)
    assert eviction.by_flavor == {"ml.p5.48xlarge": [16, 16 * HOUR, 16 * HOUR, 16 * HOUR, 16 * 180]}
    assert eviction.flavor == "ml.p5.48xlarge"


def test_the_preemptor_is_kept_as_it_was(shared: World, people: People) -> None:
    job, theirs = Job().admit(0), endpoint()
    shared.see(job, theirs)
    shared.see(job.evict(5, message=TAKEN_BACK))
    theirs.obj["spec"]["priority"] = 1
    shared.see(theirs.touch())
    NamespaceBinding.objects.filter(namespace="hyperpod-ns-vision").update(team=people.research)
    (eviction,) = evictions(job)
    assert eviction.preemptor == shared.row(theirs)
    assert (eviction.preemptor_team, eviction.preemptor_queue) == (people.vision, "vision-queue")
    assert (eviction.preemptor_priority, eviction.preemptor_priority_class) == (1000, "normal")
    assert eviction.preemption == "InCohortReclamation"
    assert (eviction.preemptor_path, eviction.preemptee_path) == (
        ["shared", "vision-queue"],
        ["shared", "research-queue"],
    )


def test_a_preemptor_seen_only_later_is_named_then(shared: World, people: People) -> None:
    job, theirs = Job().admit(0), endpoint()
    shared.see(job)
    shared.see(job.evict(5, message=TAKEN_BACK))
    (eviction,) = evictions(job)
    assert (eviction.preemptor, eviction.preemptor_team) == (None, people.vision)
    shared.see(theirs)
    (eviction,) = evictions(job)
    assert (eviction.preemptor, eviction.preemptor_priority) == (shared.row(theirs), 1000)


def test_a_preemptor_nobody_saw_is_known_by_the_queue_it_stood_in(shared: World, people: People) -> None:
    job = Job().admit(0)
    shared.see(job)
    shared.see(job.evict(5, message=TAKEN_BACK))
    (eviction,) = evictions(job)
    assert (eviction.preemptor_team, eviction.preemptor_priority) == (people.vision, None)
    shared.queues(local_queue("hyperpod-ns-research", "vision-queue", name="second"))
    other = Job("other").admit(0)
    shared.see(other)
    shared.see(other.evict(6, message=TAKEN_BACK))
    assert evictions(other)[0].preemptor_team is None


def test_a_preemptor_known_by_its_job_alone(shared: World) -> None:
    job, theirs = Job().admit(0), endpoint()
    shared.see(job, theirs)
    shared.see(job.evict(5, message=f"Preempted to accommodate a workload (UID: UNKNOWN, JobUID: job-{THEIRS})"))
    assert evictions(job)[0].preemptor == shared.row(theirs)


def test_looks_told_twice_make_one_eviction(shared: World) -> None:
    job = Job().admit(0)
    shared.see(job)
    looks = [job.evict(5).record, job.release(6).record, job.waits("no room", 6).record]
    for look in (*looks, *looks):
        shared.see(look)
    shared.see(job.waits("still no room"))
    assert told(job) == [("Preempted", "", 1, True, minute(5), minute(5))]


def test_an_eviction_seen_only_when_it_was_over_is_dated_by_its_condition(shared: World) -> None:
    job = Job(gpus=4).admit(0)
    shared.see(job)
    shared.see(job.evict(30).release(31), now=minute(40), last_seen=minute(1))
    (eviction,) = evictions(job)
    assert told(job) == [("Preempted", "", 1, True, minute(30), minute(30))]
    assert (eviction.lost_high, eviction.stopping) == (4 * 1800, 4 * 60)


def test_what_came_back_between_two_looks_keeps_reason_preemptor_and_its_hold(shared: World, people: People) -> None:
    job = Job(gpus=4).admit(0)
    shared.see(job, endpoint())
    job.evict(30, message=TAKEN_BACK).release(31)
    shared.see(job.admit(40), now=minute(50), last_seen=minute(20))
    (eviction,) = evictions(job)
    assert told(job) == [("Preempted", "", 1, False, minute(20), minute(40))]
    assert (eviction.preemptor_team, eviction.preemption) == (people.vision, "InCohortReclamation")
    assert (eviction.lost_low, eviction.lost_expected, eviction.lost_high) == (4 * 1200, 4 * 1800, 4 * 2400)


def test_at_most_what_the_earliest_or_the_latest_moment_would_have_cost(shared: World, people: People) -> None:
    Team.objects.filter(pk=people.research.pk).update(checkpoint_seconds=600)
    job = Job(gpus=4, pods=2).admit(0)
    shared.see(job)
    shared.see(job.give_back(1), now=minute(20))
    shared.see(job.evict(40).release(41).admit(50), now=minute(50), last_seen=minute(22))
    (eviction,) = evictions(job)
    assert (eviction.lost_low, eviction.lost_high) == (0, (8 * 8 + 4 * 2) * 60)  # of 12 to 22; of 40 to 50 only 4 * 10


@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_counter_that_moved_tells_of_as_many_evictions(shared: World, times: int) -> None:
    job = Job(gpus=4).admit(0)
    shared.see(job, now=minute(1))
    for n in range(times):
        job.evict(10 + 10 * n, message=TAKEN_BACK).release(11 + 10 * n).admit(15 + 10 * n)
    shared.see(job, now=minute(100), last_seen=minute(2))
    found = evictions(job)
    assert told(job) == [("Preempted", "", n + 1, False, minute(2), minute(5 + 10 * times)) for n in range(times)]
    assert [e.span is not None for e in found] == [True] + [False] * (times - 1)
    assert [bool(e.preemptor_uid) for e in found] == [False] * (times - 1) + [True]
    assert {e.basis for e in found[1:]} <= {Basis.UNKNOWN}
    assert {e.lost_high for e in found[1:]} <= {None}


@pytest.mark.parametrize("times", [2, 5])
def test_the_last_of_several_may_still_be_told(shared: World, times: int) -> None:
    job = Job(gpus=4).admit(0)
    shared.see(job, now=minute(1))
    for n in range(times):
        job.admit(9 + 10 * n) if n else job.touch()
        job.evict(10 + 10 * n, message=TAKEN_BACK).release(11 + 10 * n)
    shared.see(job, now=minute(100), last_seen=minute(2))
    assert [each[2:] for each in told(job)][-1] == (times, True, minute(10 * times), minute(10 * times))
    assert [each[3] for each in told(job)] == [False] * (times - 1) + [True]
    first, *_, last = evictions(job)
    assert first.span is not None
    assert (first.span.evicted_at, first.span.released_before) == (None, minute(10 * times))
    assert (last.span, last.basis) == (None, Basis.UNKNOWN)


def test_a_watch_that_goes_on_after_a_pause_tells_every_eviction(shared: World) -> None:
    job = Job(gpus=4).admit(0)
    shared.see(job, now=minute(1))
    looks = []
    for n in range(5):
        for step in (lambda at: job.evict(at), lambda at: job.release(at + 1), lambda at: job.admit(at + 5)):
            looks.append(step(10 + 10 * n).record)
    write_workloads(shared.cluster, looks, now=minute(70), last_seen=minute(2))
    assert told(job) == [("Preempted", "", n + 1, True, minute(10 + 10 * n), minute(10 + 10 * n)) for n in range(5)]
    assert [e.lost_high for e in evictions(job)] == [4 * 600] + [4 * 300] * 4
    assert [e.stopping for e in evictions(job)] == [4 * 60] * 5
    assert len(shared.spans(job)) == 6


def test_counters_found_at_first_sight_are_from_before(shared: World) -> None:
    job = Job(created=-600).admit(-500)
    job.evict(-400).release(-399).admit(-300).evict(-200, names.DEACTIVATED, cause="RequeuingLimitExceeded")
    shared.see(job.release(-199).admit(-100), now=minute(0))
    assert sorted(told(job)) == [
        ("Deactivated", "RequeuingLimitExceeded", 1, False, minute(-600), minute(-100)),
        ("Preempted", "", 1, False, minute(-600), minute(-100)),
    ]
    assert {e.span for e in evictions(job)} == {None}


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("PodsReadyTimeout", "WaitForStart"),
        ("Deactivated", "MaximumExecutionTimeExceeded"),
        ("Deactivated", ""),
        ("AdmissionCheck", ""),
        ("ClusterQueueStopped", ""),
        ("LocalQueueStopped", ""),
        ("NodeFailures", ""),
        ("AbductedByAliens", "WithCause"),
    ],
)
def test_each_reason_once_whatever_it_is_called(shared: World, reason: str, cause: str) -> None:
    job = Job().admit(0)
    shared.see(job)
    shared.see(job.evict(5, reason, "why", cause))
    shared.see(job.release(6))
    assert [each[:3] for each in told(job)] == [(reason, cause, 1)]
    assert evictions(job)[0].preemption == ""


def test_without_counters_the_portal_counts(shared: World) -> None:
    job = Job().admit(0)
    shared.see(job)
    for n in range(3):
        shared.see(job.evict(10 + n * 10, "InactiveWorkload", "off", counts=False))
        shared.see(job.release(11 + n * 10))
        shared.see(job.admit(15 + n * 10))
    assert [each[:4] for each in told(job)] == [("Deactivated", "", n + 1, True) for n in range(3)]


def test_without_counters_a_past_eviction_is_told_by_its_wording(shared: World) -> None:
    job = Job().admit(0)
    shared.see(job, now=minute(1))
    job.evict(10, message=TAKEN_BACK, counts=False).release(11).admit(15)
    for now in (20, 21):
        shared.see(job.touch(), now=minute(now), last_seen=minute(2))
    assert told(job) == [("Preempted", "", 1, False, minute(2), minute(15))]


def test_an_eviction_of_what_never_was_admitted_costs_nothing(shared: World) -> None:
    waiting, reserved = Job("waiting").waits("no room"), Job("reserved").reserve(1)
    shared.see(waiting, reserved, now=minute(2))
    shared.see(waiting.evict(5, names.DEACTIVATED), reserved.evict(5), now=minute(6))
    shared.see(reserved.release(7), now=minute(8))
    for job in (waiting, reserved):
        (eviction,) = evictions(job)
        assert (eviction.basis, eviction.lost_low, eviction.lost_high) == (Basis.NOTHING, 0, 0)


def test_a_job_that_waits_again_loses_nothing_more_when_it_is_switched_off(shared: World) -> None:
    job = Job(gpus=4).admit(0)
    shared.see(job)
    shared.see(job.evict(10))
    shared.see(job.release(11))
    shared.see(job.admit(20))
    shared.see(job.condition("Evicted", False, 20), job.evict(25), now=minute(25))
    shared.see(job.release(26), now=minute(26))
    assert [e.lost_high for e in evictions(job)] == [4 * 600, 4 * 300]


def test_the_checkpoint_interval_of_the_job_counts_else_the_teams(shared: World, people: People) -> None:
    Team.objects.filter(pk=people.research.pk).update(checkpoint_seconds=600)
    told_jobs = {"says": "30m", "silent": "", "soon": "soon", "negative": "-5m", "ages": "10y"}
    jobs = [Job(name, gpus=16).admit(0) for name in told_jobs]
    for job, text in zip(jobs, told_jobs.values(), strict=True):
        annotations = {"hyperpod-portal/checkpoint-interval": text} if text else {}
        job.obj["spec"]["podSets"][0]["template"]["metadata"] = {"annotations": annotations}
    shared.see(*jobs)
    shared.see(*(job.evict(100) for job in jobs))
    found = [evictions(job)[0] for job in jobs]
    assert [e.checkpoint_seconds for e in found] == [1800, 600, 600, 600, 600]
    assert [e.checkpoint_source for e in found] == ["job", "team", "team", "team", "team"]
    assert (found[0].lost_expected, found[0].lost_high) == (4 * HOUR, 8 * HOUR)
    assert Workload.objects.get(uid=jobs[2].uid).status["checkpoint_interval"] == "soon"


@pytest.mark.parametrize(("kind", "basis"), [("InferenceEndpointConfig", "availability"), ("Workspace", "session")])
def test_endpoints_and_spaces_lose_no_gpu_hours(shared: World, kind: str, basis: str) -> None:
    job = Job().admit(0)
    job.obj["metadata"]["ownerReferences"][0]["kind"] = kind
    shared.see(job)
    shared.see(job.evict(60))
    shared.see(job.release(61))
    (eviction,) = evictions(job)
    assert (eviction.basis, eviction.lost_high, eviction.stopping) == (basis, 0, 4 * 60)


def test_times_in_no_order_cost_nothing_and_break_nothing(shared: World) -> None:
    """The cluster's clock ran backwards: evicted before it was admitted, released before it was evicted."""
    job = Job().admit(30)
    shared.see(job, now=minute(10))
    shared.see(job.evict(20), now=minute(11))
    shared.see(job.release(5), now=minute(12))
    for eviction in evictions(job):
        assert eviction.lost_high in (0, None)
        assert eviction.stopping in (0, None)


def test_wording_that_nobody_knows_is_stored_whole(shared: World) -> None:
    job = Job().admit(0)
    shared.see(job)
    shared.see(job.evict(5, message="Preempted, and nobody will ever know why"))
    (eviction,) = evictions(job)
    assert (eviction.message, eviction.preemptor_uid) == ("Preempted, and nobody will ever know why", "")


def test_a_deleted_and_recreated_preemptor_queue_breaks_nothing(shared: World, people: People) -> None:
    shared.queues(cohort("deep", parent="shared"), cluster_queue("vision-queue", 8, cohort="deep"))
    shared.queues_gone("vision-queue")
    job = Job().admit(0)
    shared.see(job)
    shared.see(job.evict(5, message=TAKEN_BACK))
    assert evictions(job)[0].preemptor_team == people.vision


def test_a_counter_beyond_all_measure_is_told_by_its_latest(shared: World) -> None:
    job = Job(created=-10).admit(0)
    job.obj["status"]["schedulingStats"] = {
        "evictions": [{"reason": "Preempted", "underlyingCause": "", "count": 2**31 - 1}]
    }
    shared.see(job)
    assert Eviction.objects.count() == 1000
    assert max(e.ordinal for e in evictions(job)) == 2**31 - 1


def test_a_watch_that_goes_on_tells_every_hold_of_what_was_switched_off_and_on(shared: World) -> None:
    job = Job(gpus=4).admit(0)
    shared.see(job, now=minute(1))
    looks = []
    for at in (10, 20, 30):
        looks.append(job.deactivate().record)
        looks.append(job.evict(at, names.DEACTIVATED).record)
        looks.append(job.release(at + 1).record)
        job.obj["spec"]["active"] = True
        looks.append(job.admit(at + 5).record)
    write_workloads(shared.cluster, looks, now=minute(70), last_seen=minute(2))
    found = evictions(job)
    assert [e.decided_before for e in found] == [minute(10), minute(20), minute(30)]
    assert [e.span.reserved_at for e in found if e.span] == [minute(0), minute(15), minute(25)]
    assert [e.lost_high for e in found] == [4 * 600, 4 * 300, 4 * 300]


def test_a_hold_that_nobody_saw_is_priced_by_what_kueue_adds_up(shared: World) -> None:
    job = Job(gpus=8, created=-100).admit(-90)
    job.evict(-60).release(-58)
    shared.see(job.admit(-50), now=minute(0))
    (eviction,) = evictions(job)
    assert (eviction.span, eviction.gpus, eviction.basis) == (None, 8, Basis.WHOLE)
    assert (eviction.lost_high, eviction.stopping) == (8 * 32 * 60, None)


@pytest.mark.parametrize(
    ("text", "basis", "lost"),
    [
        ("2026-10-08T12:45:00Z", Basis.EXACT, 8 * 15 * 60),
        ("2026-10-08T11:00:00Z", Basis.EXACT, 8 * HOUR),
        ("2026-10-08T13:01:00Z", Basis.WHOLE, 8 * HOUR),
        ("yesterday", Basis.WHOLE, 8 * HOUR),
    ],
)
def test_since_the_last_checkpoint_that_the_job_tells(shared: World, text: str, basis: Basis, lost: int) -> None:
    job = Job(gpus=8).admit(0)
    job.obj["metadata"]["annotations"] = {"hyperpod-portal/last-checkpoint": text}
    shared.see(job)
    shared.see(job.evict(60))
    (eviction,) = evictions(job)
    assert (eviction.basis, eviction.lost_low, eviction.lost_high) == (basis, lost, lost)
