"""Queues that are stopped, and Workloads that are switched off."""

import pytest

from jobs.states import JobState
from jobs.words.reasons import waiting_reason
from scheduling.names import EVICTED
from tests.cluster.sync.facts import since
from tests.cluster.sync.ledgers import Ledger, Ledgers
from tests.cluster.sync.scene import LOCAL_QUEUE, OWNERS, Scene

pytestmark = [pytest.mark.cluster, pytest.mark.slow]


def test_a_queue_on_hold_keeps_what_runs(scene: Scene, ledgers: Ledgers) -> None:
    scene.admit(OWNERS, "own", 4)
    scene.change_queue(OWNERS, stopPolicy="Hold")
    scene.submit(OWNERS, "late", 2)
    scene.until(OWNERS, "late", "QuotaReserved", "False", reason="Inadmissible")
    ledgers.agree()

    for ledger in ledgers:
        assert [ledger.state(OWNERS, name) for name in ("own", "late")] == [JobState.RUNNING, JobState.INADMISSIBLE]
        assert "stopped" in waiting_reason(ledger.workload(OWNERS, "late")).sentences[0]
        ledger.until("the queue's condition", lambda ledger=ledger: is_stopped(ledger))
        assert [v.spec.get("stopPolicy", "None") for v in ledger.versions(OWNERS)] == ["None", "Hold"]
    scene.change_queue(OWNERS, stopPolicy="None")
    scene.until(OWNERS, "late", "Admitted")
    ledgers.agree()
    for ledger in ledgers:
        assert ledger.queue(OWNERS).usage == 6


def is_stopped(ledger: Ledger) -> bool:
    active = ledger.versions(OWNERS)[-1].status["conditions"]["Active"]
    return (active["status"], active["reason"]) == (False, "Stopped")


def test_a_queue_that_is_drained_evicts_and_takes_back(scene: Scene, ledgers: Ledgers) -> None:
    first = scene.admit(OWNERS, "own", 4)
    ledgers.agree()
    scene.change_queue(OWNERS, stopPolicy="HoldAndDrain")
    evicted = scene.until(OWNERS, "own", EVICTED, reason="ClusterQueueStopped")
    ledgers.agree()
    for ledger in ledgers:
        assert ledger.state(OWNERS, "own") == JobState.GIVING_BACK
    released = scene.release(OWNERS, "own")
    ledgers.agree()
    for ledger in ledgers:
        assert ledger.state(OWNERS, "own") == JobState.PAUSED

    scene.next_second(first)
    scene.change_queue(OWNERS, stopPolicy="None")
    second = scene.until(OWNERS, "own", "Admitted")
    ledgers.agree()

    for ledger in ledgers:
        assert ledger.state(OWNERS, "own") == JobState.RUNNING
        before, after = ledger.spans(OWNERS, "own")
        assert (before.reserved_at, before.admitted_at) == (since(first, "QuotaReserved"), since(first, "Admitted"))
        assert (before.end, before.evicted_at) == ("evicted", since(evicted, EVICTED))
        assert before.released_after == before.released_before == since(released, "QuotaReserved", "False")
        assert (after.reserved_at, after.admitted_at) == (since(second, "QuotaReserved"), since(second, "Admitted"))
        assert (after.end, after.evicted_at, after.released_before) == ("", None, None)
        assert [span.usages.get().amount for span in (before, after)] == [4, 4]


def test_a_local_queue_that_is_drained(scene: Scene, ledgers: Ledgers) -> None:
    scene.admit(OWNERS, "own", 4)
    ledgers.agree()
    stop = {"spec": {"stopPolicy": "HoldAndDrain"}}
    scene.admin.merge("localqueues", LOCAL_QUEUE, stop, scene.place(OWNERS))
    evicted = scene.until(OWNERS, "own", EVICTED, reason="LocalQueueStopped")
    scene.release(OWNERS, "own")
    ledgers.agree()

    for ledger in ledgers:
        assert ledger.state(OWNERS, "own") == JobState.PAUSED
        (span,) = ledger.spans(OWNERS, "own")
        assert (span.end, span.evicted_at) == ("evicted", since(evicted, EVICTED))
        assert ledger.queue(OWNERS).reservation == 0


def test_a_workload_is_switched_off_and_on(scene: Scene, ledgers: Ledgers) -> None:
    first = scene.admit(OWNERS, "own", 4)
    ledgers.agree()
    scene.change(OWNERS, "own", active=False)
    evicted = scene.until(OWNERS, "own", EVICTED, reason="Deactivated")
    ledgers.agree()
    scene.release(OWNERS, "own")
    ledgers.agree()
    for ledger in ledgers:
        assert ledger.state(OWNERS, "own") == JobState.PAUSED
        (span,) = ledger.spans(OWNERS, "own")
        assert (span.end, span.evicted_at) == ("evicted", since(evicted, EVICTED))

    scene.next_second(first)
    scene.change(OWNERS, "own", active=True)
    second = scene.until(OWNERS, "own", "Admitted")
    ledgers.agree()

    for ledger in ledgers:
        assert ledger.state(OWNERS, "own") == JobState.RUNNING
        assert [span.reserved_at for span in ledger.spans(OWNERS, "own")] == [
            since(first, "QuotaReserved"),
            since(second, "QuotaReserved"),
        ]
