"""Evictions on a real Kueue: for each, the stored episode is what the test did."""

import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from gateways.http import connect
from jobs.models import Eviction, ToldEviction, Workload
from jobs.rules.lost_work import Basis
from jobs.sync.eviction_notes import SETTLED
from jobs.sync.pull import pull_events
from notices.kinds import Kind
from notices.models import Notice
from scheduling import names
from tests.cluster import jobs, objects
from tests.cluster.objects import GPU
from tests.cluster.plane import ControlPlane
from tests.cluster.sync.conftest import watching
from tests.cluster.sync.facts import EVENT_DELAY, since
from tests.cluster.sync.ledgers import Ledger, Ledgers
from tests.cluster.sync.scene import GUESTS, LOCAL_QUEUE, OWNERS, Scene

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

Json = dict[str, Any]


def evictions(ledger: Ledger, team: str, name: str) -> list[Eviction]:
    found = Eviction.objects.filter(workload=ledger.workload(team, name)).select_related("span", "preemptor")
    return list(found.order_by("decided_before", "ordinal"))


def evict(scene: Scene, team: str, name: str, reason: str = "") -> tuple[Json, Json]:
    """Wait for the decision and stop the workload in a later second: as it was decided, and as it was released."""
    decided = scene.until(team, name, "Evicted", reason=reason)
    scene.next_second(decided)
    return decided, scene.release(team, name)


def agrees(ledger: Ledger, team: str, name: str, decided: Json, released: Json) -> Eviction:
    """The one eviction of the workload, with the times that Kueue wrote and the quota between them."""
    (eviction,) = evictions(ledger, team, name)
    assert eviction.observed
    assert eviction.decided_before == since(decided, "Evicted")
    assert eviction.span is not None
    assert eviction.span.admitted_at == since(decided, "Admitted")
    assert eviction.span.released_before == hold_ends(decided, released)
    held = eviction.span.released_before - eviction.decided_before
    assert eviction.stopping == eviction.gpus * held.total_seconds()
    ran = eviction.decided_before - eviction.span.admitted_at
    assert (eviction.basis, eviction.lost_high) in (
        (Basis.WHOLE, eviction.gpus * ran.total_seconds()),
        (Basis.NOTHING, 0),
    )
    return eviction


def hold_ends(decided: Json, released: Json) -> datetime | None:
    """When the quota came back: what is switched off holds none from its eviction on."""
    if decided["spec"].get("active") is False:
        return since(decided, "Evicted")
    return since(released, "QuotaReserved", "False")


def is_preempted_by(ledger: Ledger, eviction: Eviction, rule: str, team: str, name: str) -> None:
    assert (eviction.reason, eviction.cause, eviction.ordinal) == ("Preempted", "", 1)
    assert eviction.preemption == rule
    assert eviction.preemptor == ledger.workload(team, name)
    assert eviction.preemptor_team == ledger.teams[team]
    assert eviction.preemptor_queue == ledger.scene.place(team)
    assert eviction.preemptor_path == [ledger.scene.name, ledger.scene.place(team)]


def test_the_lender_takes_its_quota_back(scene: Scene, ledgers: Ledgers) -> None:
    scene.admit(GUESTS, "guest", 8)
    ledgers.agree()
    scene.submit(OWNERS, "own", 6, priority=7)
    decided, released = evict(scene, GUESTS, "guest", "Preempted")
    scene.until(OWNERS, "own", "Admitted")
    ledgers.agree()

    for ledger in ledgers:
        eviction = agrees(ledger, GUESTS, "guest", decided, released)
        is_preempted_by(ledger, eviction, "InCohortReclamation", OWNERS, "own")
        assert (eviction.gpus, eviction.preemptor_priority) == (8, 7)
        assert eviction.preemptee_path == [scene.name, scene.place(GUESTS)]
    (watched,) = evictions(ledgers.watched, GUESTS, "guest")
    assert watched.lacking == 4


def test_priority_decides_within_a_queue(scene: Scene, ledgers: Ledgers) -> None:
    scene.admit(OWNERS, "low", 6, priority=-1)
    scene.admit(GUESTS, "theirs", 4)
    ledgers.agree()
    scene.submit(OWNERS, "high", 6, priority=10)
    decided, released = evict(scene, OWNERS, "low", "Preempted")
    scene.until(OWNERS, "high", "Admitted")
    ledgers.agree()

    for ledger in ledgers:
        eviction = agrees(ledger, OWNERS, "low", decided, released)
        is_preempted_by(ledger, eviction, "InClusterQueue", OWNERS, "high")
        assert (eviction.priority, eviction.preemptor_priority) == (-1, 10)


def test_who_borrows_may_evict_who_matters_less(scene: Scene, ledgers: Ledgers) -> None:
    rule = {"policy": "LowerPriority", "maxPriorityThreshold": 100}
    scene.change_queue(OWNERS, preemption={"reclaimWithinCohort": "Any", "borrowWithinCohort": rule})
    scene.admit(GUESTS, "guest", 6)
    ledgers.agree()
    scene.submit(OWNERS, "big", 8, priority=200)
    decided, released = evict(scene, GUESTS, "guest", "Preempted")
    scene.until(OWNERS, "big", "Admitted")
    ledgers.agree()

    for ledger in ledgers:
        eviction = agrees(ledger, GUESTS, "guest", decided, released)
        is_preempted_by(ledger, eviction, "InCohortReclaimWhileBorrowing", OWNERS, "big")


@pytest.fixture
def fair_scene(fair_plane: ControlPlane) -> Iterator[Scene]:
    """Little of their own, much in the cohort."""
    made = Scene(fair_plane.admin)
    made.admin.create("cohorts", objects.cohort(made.name, objects.group((made.flavor, {GPU: 6}))))
    for team in (OWNERS, GUESTS):
        made.set_quota(team, (made.flavor, {GPU: 2}))
    made.wait_until_active()
    yield made
    made.clear()
    made.admin.delete("cohorts", made.name)


def test_who_has_less_than_a_fair_share_takes_over(
    fair_scene: Scene, fair_plane: ControlPlane, sound_ledger: None
) -> None:
    with watching(fair_scene, fair_plane) as ledgers:
        for number in range(5):
            fair_scene.admit(GUESTS, f"guest-{number}", 2)
        ledgers.agree()
        fair_scene.submit(OWNERS, "more", 4)
        victims = fair_scene.admin.items("workloads", fair_scene.place(GUESTS))
        names = [workload["metadata"]["name"] for workload in victims]
        evicted = wait_for_victims(fair_scene, names, 2)
        told = {name: evict(fair_scene, GUESTS, name, "Preempted") for name in evicted}
        fair_scene.until(OWNERS, "more", "Admitted")
        ledgers.agree()
        for ledger in ledgers:
            for name, (decided, released) in told.items():
                eviction = agrees(ledger, GUESTS, name, decided, released)
                is_preempted_by(ledger, eviction, rule_of(decided), OWNERS, "more")
            rules = {evictions(ledger, GUESTS, name)[0].preemption for name in told}
            assert "InCohortFairSharing" in rules


def rule_of(decided: Json) -> str:
    told = jobs.condition(decided, "Preempted")
    assert told is not None
    return str(told["reason"])


def wait_for_victims(scene: Scene, names: list[str], count: int) -> list[str]:
    def look() -> list[str]:
        found = [name for name in names if jobs.is_true(scene.workload(GUESTS, name), "Evicted")]
        return found if len(found) >= count else []

    found: list[str] = jobs.wait_for(f"{count} victims", look)
    return found


def switch_off(scene: Scene) -> None:
    scene.change(OWNERS, "own", active=False)


def drain_the_cluster_queue(scene: Scene) -> None:
    scene.change_queue(OWNERS, stopPolicy="HoldAndDrain")


def drain_the_local_queue(scene: Scene) -> None:
    scene.admin.merge("localqueues", LOCAL_QUEUE, {"spec": {"stopPolicy": "HoldAndDrain"}}, scene.place(OWNERS))


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        (switch_off, "Deactivated"),
        (drain_the_cluster_queue, "ClusterQueueStopped"),
        (drain_the_local_queue, "LocalQueueStopped"),
    ],
)
def test_what_people_stop(scene: Scene, ledgers: Ledgers, stop: Any, reason: str) -> None:
    scene.admit(OWNERS, "own", 4)
    ledgers.agree()
    stop(scene)
    decided, released = evict(scene, OWNERS, "own", reason)
    ledgers.agree()

    for ledger in ledgers:
        eviction = agrees(ledger, OWNERS, "own", decided, released)
        assert (eviction.reason, eviction.cause, eviction.ordinal, eviction.gpus) == (reason, "", 1, 4)
        assert (eviction.preemptor, eviction.preemptor_uid, eviction.preemption) == (None, "", "")


def test_what_ran_for_as_long_as_it_may(scene: Scene, ledgers: Ledgers) -> None:
    scene.admit(OWNERS, "own", 4, maximumExecutionTimeSeconds=3)
    ledgers.agree()
    decided, released = evict(scene, OWNERS, "own")
    ledgers.agree()

    for ledger in ledgers:
        eviction = agrees(ledger, OWNERS, "own", decided, released)
        assert (eviction.reason, eviction.cause, eviction.ordinal) == ("Deactivated", "MaximumExecutionTimeExceeded", 1)
        assert eviction.lost_high >= 4 * 3


def test_a_check_that_takes_its_consent_back(scene: Scene, ledgers: Ledgers) -> None:
    place = scene.place(OWNERS)
    check = {"apiVersion": objects.API_VERSION, "kind": "AdmissionCheck", "metadata": {"name": scene.name}}
    scene.admin.create("admissionchecks", {**check, "spec": {"controllerName": "tests/check"}})
    now = timezone.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    active = {"type": "Active", "status": "True", "reason": "Active", "message": "", "lastTransitionTime": now}
    scene.admin.merge("admissionchecks", scene.name, {"status": {"conditions": [active]}}, part="status")
    scene.change_queue(OWNERS, admissionChecksStrategy={"admissionChecks": [{"name": scene.name}]})
    scene.wait_until_active()
    scene.submit(OWNERS, "own", 4)
    jobs.wait_for("the check", lambda: scene.workload(OWNERS, "own").get("status", {}).get("admissionChecks"))
    jobs.answer_check(scene.admin, place, "own", "Ready")
    scene.until(OWNERS, "own", "Admitted")
    ledgers.agree()
    jobs.answer_check(scene.admin, place, "own", "Retry")
    decided, released = evict(scene, OWNERS, "own", "AdmissionCheck")
    ledgers.agree()

    decided_at = since(decided, "Evicted")
    assert decided_at is not None
    for ledger in ledgers:
        (eviction,) = evictions(ledger, OWNERS, "own")
        assert (eviction.reason, eviction.cause, eviction.ordinal) == ("AdmissionCheck", "", 1)
        assert eviction.decided_after <= decided_at <= eviction.decided_before
    agrees(ledgers.watched, OWNERS, "own", decided, released)  # between two pulls it has its quota back


@pytest.mark.parametrize("times", [1, 2, 5])
def test_evictions_while_nobody_watched(scene: Scene, ledgers: Ledgers, times: int) -> None:
    """A watch that goes on reads every step afterwards; a pull finds counters that moved, and events that date them."""
    admitted = scene.admit(OWNERS, "own", 4)
    ledgers.agree()
    ledgers.watched.stop()
    decisions = []
    for _ in range(times):
        scene.next_second(admitted)
        scene.change(OWNERS, "own", active=False)
        decided, released = evict(scene, OWNERS, "own", "Deactivated")
        decisions.append(since(decided, "Evicted"))
        scene.next_second(released)
        scene.change(OWNERS, "own", active=True)
        admitted = scene.until(OWNERS, "own", "Admitted")
    ledgers.watched.start()
    ledgers.agree()

    watched = evictions(ledgers.watched, OWNERS, "own")
    assert [(e.ordinal, e.observed, e.decided_before) for e in watched] == [
        (number, True, at) for number, at in enumerate(decisions, 1)
    ]
    assert len({e.span for e in watched}) == times
    pulled = evictions(ledgers.pulled, OWNERS, "own")
    assert [(e.reason, e.ordinal, e.observed) for e in pulled] == [
        ("Deactivated", number, False) for number in range(1, times + 1)
    ]
    assert all(eviction.is_dated for eviction in pulled)
    assert all(is_soon_after(e.decided_before, at) for e, at in zip(pulled, decisions, strict=True))
    assert [e.span is not None for e in pulled] == [True] + [False] * (times - 1)


def test_a_preemptor_that_is_gone(scene: Scene, ledgers: Ledgers) -> None:
    """Deleted before the pull and after the watch saw it."""
    scene.admit(GUESTS, "guest", 8)
    ledgers.agree()
    scene.submit(OWNERS, "own", 6)
    decided, released = evict(scene, GUESTS, "guest", "Preempted")
    scene.until(OWNERS, "own", "Admitted")
    ledgers.watched.agree()
    scene.delete(OWNERS, "own")
    ledgers.agree()

    watched = agrees(ledgers.watched, GUESTS, "guest", decided, released)
    is_preempted_by(ledgers.watched, watched, "InCohortReclamation", OWNERS, "own")
    (pulled,) = evictions(ledgers.pulled, GUESTS, "guest")
    assert (pulled.preemptor, pulled.preemptor_uid) == (None, watched.preemptor_uid)
    assert (pulled.preemptor_team, pulled.preemptor_queue) == (ledgers.pulled.teams[OWNERS], scene.place(OWNERS))


def test_two_preemptions_in_one_second(scene: Scene, ledgers: Ledgers) -> None:
    for name in ("first", "second"):
        scene.admit(GUESTS, name, 5)
    ledgers.agree()
    scene.submit(OWNERS, "own", 6)
    told = {name: evict(scene, GUESTS, name, "Preempted") for name in ("first", "second")}
    scene.until(OWNERS, "own", "Admitted")
    ledgers.agree()

    for ledger in ledgers:
        found = [agrees(ledger, GUESTS, name, *looks) for name, looks in told.items()]
        for eviction in found:
            is_preempted_by(ledger, eviction, "InCohortReclamation", OWNERS, "own")


@pytest.mark.parametrize("kind", ["pulled", "watched"])
def test_events_tell_of_preemptions_while_nobody_looked(
    scene: Scene, ledgers: Ledgers, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A watch that was away for too long reads a list, and finds counters that moved like a pull."""
    monkeypatch.setattr("jobs.sync.watch._RESUME_WITHIN", timedelta())
    ledger: Ledger = getattr(ledgers, kind)
    admitted = scene.admit(GUESTS, "guest", 8)
    ledgers.agree()
    ledgers.watched.stop()
    decisions, preemptors = [], []
    for number in range(2):
        scene.next_second(admitted)
        scene.submit(OWNERS, f"own-{number}", 6)
        decided, released = evict(scene, GUESTS, "guest", "Preempted")
        decisions.append(since(decided, "Evicted"))
        preemptors.append(scene.until(OWNERS, f"own-{number}", "Admitted")["metadata"]["uid"])
        scene.next_second(released)
        scene.finish(OWNERS, f"own-{number}")
        admitted = scene.until(GUESTS, "guest", "Admitted")
    ledgers.watched.start()
    if kind == "watched":
        ledger.agree()
        assert not any(eviction.is_dated for eviction in evictions(ledger, GUESTS, "guest"))
        pull_events(ledger.cluster, connect(ledger.cluster.connection), ledger.clock)
    ledger.agree()
    found = evictions(ledger, GUESTS, "guest")
    assert [(e.ordinal, e.is_dated) for e in found] == [(1, True), (2, True)]
    assert all(is_soon_after(e.decided_before, at) for e, at in zip(found, decisions, strict=True))
    assert [e.preemptor_uid for e in found] == preemptors
    assert [e.preemptor_team for e in found] == [ledger.teams[OWNERS]] * 2
    assert [e.preemption for e in found] == ["InCohortReclamation"] * 2
    first = found[0]
    assert first.span is not None and first.span.admitted_at is not None
    ran = first.decided_before - first.span.admitted_at
    assert first.lost_low == first.lost_high == first.gpus * ran.total_seconds()
    now, api = ledger.clock(), connect(ledger.cluster.connection)
    pull_events(ledger.cluster, api, lambda: now)  # what other tests left in the cluster is as old the second time
    rows = list(Eviction.objects.order_by("pk").values())
    again = pull_events(ledger.cluster, api, lambda: now)
    assert (again.written, again.malformed) == (0, [])
    assert list(Eviction.objects.order_by("pk").values()) == rows


def test_events_alone_tell_of_a_job_that_came_and_went_while_nobody_looked(
    scene: Scene, ledgers: Ledgers, away: None
) -> None:
    ledgers.watched.stop()
    admitted = scene.admit(GUESTS, "quick", 8)
    uid = admitted["metadata"]["uid"]
    scene.next_second(admitted)
    scene.submit(OWNERS, "own", 6)
    decided, _ = evict(scene, GUESTS, "quick", "Preempted")
    scene.delete(GUESTS, "quick")
    scene.until(OWNERS, "own", "Admitted")
    look_again(ledgers)

    for ledger in ledgers:
        told = ToldEviction.objects.filter(cluster=ledger.cluster, workload_uid=uid)
        until_told(ledger, told)
        row = told.get()
        assert (row.namespace, row.workload_name) == (scene.place(GUESTS), "quick")
        assert (row.reason, row.cause, row.preemption) == ("Preempted", "", "InCohortReclamation")
        assert is_soon_after(row.at, since(decided, "Evicted"))
        assert not Workload.objects.filter(cluster=ledger.cluster, uid=uid).exists()
        is_told_once(ledger, uid, row.at)


def test_a_job_that_was_evicted_and_went_while_nobody_looked(scene: Scene, ledgers: Ledgers, away: None) -> None:
    admitted = scene.admit(GUESTS, "guest", 8)
    uid = admitted["metadata"]["uid"]
    ledgers.agree()
    ledgers.watched.stop()
    scene.next_second(admitted)
    scene.submit(OWNERS, "own", 6)
    decided, _ = evict(scene, GUESTS, "guest", "Preempted")
    scene.delete(GUESTS, "guest")
    scene.until(OWNERS, "own", "Admitted")
    look_again(ledgers)

    for ledger in ledgers:
        until_told(ledger, Eviction.objects.filter(cluster=ledger.cluster, workload__uid=uid))
        (eviction,) = evictions(ledger, GUESTS, "guest")
        is_preempted_by(ledger, eviction, "InCohortReclamation", OWNERS, "own")
        assert (eviction.observed, eviction.is_dated) == (False, True)
        assert is_soon_after(eviction.decided_before, since(decided, "Evicted"))
        assert eviction.span is not None and eviction.span.admitted_at == since(admitted, "Admitted")
        ran = eviction.decided_before - eviction.span.admitted_at
        assert eviction.lost_low == eviction.lost_high == 8 * ran.total_seconds()
        is_told_once(ledger, uid, eviction.decided_before)


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch) -> None:
    """A watch that was away for however short a time reads a list."""
    monkeypatch.setattr("jobs.sync.watch._RESUME_WITHIN", timedelta())


def look_again(ledgers: Ledgers) -> None:
    """Lists are read, and then so much time goes by that none can still hold what events tell."""
    ledgers.watched.start()
    ledgers.agree()
    for ledger in ledgers:
        ledger.ahead = SETTLED + timedelta(minutes=1)


def until_told(ledger: Ledger, told: Any) -> None:
    """Kueue writes its events up to a second after the decision."""

    def look() -> bool:
        pull_events(ledger.cluster, connect(ledger.cluster.connection), ledger.clock)
        return bool(told.all().exists())

    ledger.until("what the events tell", look)


def is_soon_after(at: datetime, decision: datetime | None) -> bool:
    """As the event dates it, which Kueue writes next: the second may turn in between."""
    return decision is not None and decision <= at <= decision + EVENT_DELAY


def is_told_once(ledger: Ledger, uid: str, at: datetime) -> None:
    """The events are still there when they are read again."""
    pull_events(ledger.cluster, connect(ledger.cluster.connection), ledger.clock)
    notice = Notice.objects.get(cluster=ledger.cluster, subject=uid, kind=Kind.EVICTED)
    assert (notice.team, notice.at) == (ledger.teams[GUESTS], at)


def test_what_a_job_says_of_its_last_checkpoint(scene: Scene, ledgers: Ledgers) -> None:
    place = scene.place(GUESTS)
    template = objects.pod_set({GPU: 8})["template"]
    notes = {names.SUBMITTED_BY_ANNOTATION: "somebody"}
    meta = {"namespace": place, "name": "train", "labels": {"kueue.x-k8s.io/queue-name": LOCAL_QUEUE}}
    scene.admin.create(
        "jobs", {"metadata": {**meta, "annotations": notes}, "spec": {"suspend": True, "template": template}}
    )
    made: Json = jobs.wait_for("the Workload", lambda: next(iter(scene.admin.items("workloads", place)), None))
    name = made["metadata"]["name"]
    admitted = scene.until(GUESTS, name, "Admitted")
    ledgers.agree()
    for ledger in ledgers:
        ledger.until("who submitted it", lambda of=ledger: of.workload(GUESTS, name).submitter)  # type: ignore[misc]
        assert ledger.workload(GUESTS, name).submitter == "somebody"

    scene.next_second(admitted)
    saved = timezone.now().replace(microsecond=0)
    text = saved.strftime("%Y-%m-%dT%H:%M:%SZ")
    scene.admin.merge("jobs", "train", {"metadata": {"annotations": {names.LAST_CHECKPOINT_ANNOTATION: text}}}, place)
    time.sleep(2)
    scene.submit(OWNERS, "own", 6)
    scene.until(OWNERS, "own", "Admitted")
    ledgers.agree()
    for ledger in ledgers:
        ledger.until("its word", lambda of=ledger: evictions(of, GUESTS, name)[0].owner_told)  # type: ignore[misc]
        (eviction,) = evictions(ledger, GUESTS, name)
        assert (eviction.basis, eviction.checkpoint_at) == (Basis.EXACT, saved)
        since_then = (eviction.decided_before - saved).total_seconds()
        assert since_then >= 1
        assert eviction.lost_low == eviction.lost_high == 8 * since_then
