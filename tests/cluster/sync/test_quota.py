"""Borrowing, reclaim and preemption, and quota that changes under use."""

import pytest

from jobs.models import QueueNow
from jobs.queues.limits import limits_of
from jobs.states import JobState
from jobs.words.reasons import waiting_reason
from scheduling.messages import is_pending_preemption
from tests.cluster import jobs, objects
from tests.cluster.objects import GPU
from tests.cluster.sync.facts import since
from tests.cluster.sync.ledgers import Ledgers
from tests.cluster.sync.scene import GUESTS, OWNERS, Scene

pytestmark = [pytest.mark.cluster, pytest.mark.slow]


def test_a_borrower_and_its_lender(scene: Scene, ledgers: Ledgers) -> None:
    scene.admit(GUESTS, "wide", 7)

    ledgers.agree()

    for ledger in ledgers:
        assert ledger.state(GUESTS, "wide") == JobState.RUNNING
        borrower, lender = ledger.queue(GUESTS), ledger.queue(OWNERS)
        assert (borrower.nominal, borrower.usage, borrower.own, borrower.borrowed) == (4, 7, 4, 3)
        assert (lender.lent_low, lender.lent_high, lender.lendable) == (3, 3, 6)
        assert (ledger.team(GUESTS), ledger.team(OWNERS)) == ((4, 3), (0, 0))
    scene.finish(GUESTS, "wide")
    ledgers.agree()
    for ledger in ledgers:
        assert ledger.queue(OWNERS).lent_high == 0
        assert ledger.team(GUESTS) == (0, 0)


def test_a_lender_takes_its_quota_back(scene: Scene, ledgers: Ledgers) -> None:
    scene.admit(GUESTS, "wide", 7)
    ledgers.agree()
    scene.submit(OWNERS, "own", 6)
    evicted = scene.until(GUESTS, "wide", "Evicted")
    jobs.wait_for("word of the preemption", lambda: waits_for_victims(scene, "own"))
    ledgers.agree()
    for ledger in ledgers:
        assert ledger.state(GUESTS, "wide") == JobState.GIVING_BACK
        assert ledger.workload(OWNERS, "own").is_preempting

    released = scene.release(GUESTS, "wide")
    scene.until(OWNERS, "own", "Admitted")
    ledgers.agree()

    for ledger in ledgers:
        assert ledger.state(OWNERS, "own") == JobState.RUNNING
        assert ledger.state(GUESTS, "wide") == JobState.INTERRUPTED
        (span,) = ledger.spans(GUESTS, "wide")
        assert (span.end, span.evicted_at) == ("evicted", since(evicted, "Evicted"))
        assert span.released_after == span.released_before == since(released, "QuotaReserved", "False")
        assert (ledger.team(GUESTS), ledger.team(OWNERS)) == ((0, 0), (6, 0))


def waits_for_victims(scene: Scene, name: str) -> bool:
    """Kueue says so after it has evicted them."""
    reserved = jobs.condition(scene.workload(OWNERS, name), "QuotaReserved")
    return reserved is not None and is_pending_preemption(reserved["message"])


def test_priority_decides_within_a_queue(scene: Scene, ledgers: Ledgers) -> None:
    scene.change_queue(OWNERS, cohortName=None)  # nobody to borrow from
    scene.admit(OWNERS, "humble", 4, priority=-1)
    scene.admit(OWNERS, "steady", 2, priority=1)
    scene.submit(OWNERS, "urgent", 3, priority=100)
    evicted = scene.until(OWNERS, "humble", "Preempted", reason="InClusterQueue")
    ledgers.agree()

    scene.release(OWNERS, "humble")
    scene.until(OWNERS, "urgent", "Admitted")
    ledgers.agree()

    for ledger in ledgers:
        assert [ledger.state(OWNERS, name) for name in ("urgent", "steady", "humble")] == [
            JobState.RUNNING,
            JobState.RUNNING,
            JobState.INTERRUPTED,
        ]
        assert ledger.workload(OWNERS, "urgent").priority == 100
        assert [span.evicted_at for span in ledger.spans(OWNERS, "humble")] == [since(evicted, "Evicted")]
        assert (ledger.queue(OWNERS).usage, ledger.queue(OWNERS).borrowed) == (5, 0)


def test_a_quota_is_cut_under_use(scene: Scene, ledgers: Ledgers) -> None:
    scene.admit(OWNERS, "own", 6)
    ledgers.agree()

    scene.set_quota(OWNERS, (scene.flavor, {GPU: 2}))
    ledgers.agree()

    for ledger in ledgers:
        line = ledger.queue(OWNERS)
        assert (line.nominal, line.usage, line.borrowed) == (2, 6, 4)
        assert ledger.team(OWNERS) == (2, 4)
        assert ledger.nominals(OWNERS) == [6, 2]
        assert len(ledger.spans(OWNERS, "own")) == 1
    scene.change_queue(OWNERS, cohortName=None)
    ledgers.agree()
    for ledger in ledgers:
        line = ledger.queue(OWNERS)
        assert (line.usage, line.borrowed) == (6, 0), "nobody lends to a queue without a cohort"


def test_limits_come_and_go(scene: Scene, ledgers: Ledgers) -> None:
    scene.set_quota(OWNERS, (scene.flavor, {GPU: (6, None, 1)}))
    scene.set_quota(GUESTS, (scene.flavor, {GPU: (4, 0, None)}))
    scene.submit(GUESTS, "wide", 5)
    scene.until(GUESTS, "wide", "QuotaReserved", "False")
    ledgers.agree()
    for ledger in ledgers:
        assert ledger.state(GUESTS, "wide") == JobState.INADMISSIBLE
        assert (ledger.queue(GUESTS).borrowing_limit, ledger.queue(GUESTS).potential) == (0, 4)
        assert (ledger.queue(OWNERS).lending_limit, ledger.queue(OWNERS).lendable) == (1, 1)

    scene.set_quota(GUESTS, (scene.flavor, {GPU: 4}))
    scene.until(GUESTS, "wide", "Admitted")
    ledgers.agree()

    for ledger in ledgers:
        assert ledger.state(GUESTS, "wide") == JobState.RUNNING
        assert (ledger.queue(GUESTS).borrowing_limit, ledger.queue(GUESTS).borrowed) == (None, 1)
        assert (ledger.queue(OWNERS).lent_low, ledger.queue(OWNERS).lent_high) == (1, 1)


def test_a_flavor_leaves_the_spec_under_use(scene: Scene, ledgers: Ledgers) -> None:
    other = f"{scene.name}-other"
    scene.admin.create("resourceflavors", objects.flavor(other))
    scene.set_quota(OWNERS, (scene.flavor, {GPU: 6}), (other, {GPU: 3}))
    scene.admit(OWNERS, "own", 6)
    ledgers.agree()

    scene.set_quota(OWNERS, (other, {GPU: 3}))
    ledgers.agree()  # Kueue's status tells nothing of what is held in a flavor that left

    for ledger in ledgers:
        former, listed = ledger.queue(OWNERS), ledger.queue(OWNERS, other)
        assert (former.listed, former.nominal, former.reservation, former.usage) == (False, 0, 6, 6)
        assert (listed.listed, listed.nominal, listed.usage) == (True, 3, 0)
        assert ledger.team(OWNERS) != (0, 0)
    scene.finish(OWNERS, "own")
    ledgers.agree()
    for ledger in ledgers:
        assert not QueueNow.objects.filter(cluster=ledger.cluster, flavor=scene.flavor, reservation__gt=0).exists()
        assert ledger.state(OWNERS, "own") == JobState.FINISHED


def test_pods_that_are_done_give_their_quota_back(scene: Scene, ledgers: Ledgers) -> None:
    scene.admit(OWNERS, "own", 2, pods=3)
    ledgers.agree()

    jobs.give_back_pods(scene.admin, scene.place(OWNERS), "own", 2)
    jobs.wait_for(
        "a smaller reservation", lambda: ledgers.pulled.told.amounts[scene.place(OWNERS), scene.flavor][0] == 2
    )
    ledgers.pulled.look()

    for ledger in ledgers:
        ledger.until("the rest", lambda ledger=ledger: ledger.queue(OWNERS).usage == 2)
        (span,) = ledger.spans(OWNERS, "own")
        first, second = span.usages.order_by("valid_from")
        assert [(u.amount, u.valid_to is None) for u in (first, second)] == [(6, False), (2, True)]
        assert first.valid_to == second.valid_from


def test_teams_that_share_a_queue_are_served_own_quota_first_come(scene: Scene, ledgers: Ledgers) -> None:
    place = scene.place(GUESTS)
    scene.admin.create("localqueues", objects.local_queue(place, "second", scene.place(OWNERS)))
    scene.next_second(scene.admit(OWNERS, "early", 5))
    scene.admin.create("workloads", objects.workload(place, "late", "second", objects.pod_set({GPU: 3})))
    scene.until(GUESTS, "late", "Admitted")
    ledgers.agree()

    for ledger in ledgers:
        assert (ledger.queue(OWNERS).own, ledger.queue(OWNERS).borrowed) == (6, 2)
        assert (ledger.team(OWNERS), ledger.team(GUESTS, OWNERS)) == ((5, 0), (1, 2))
    scene.finish(OWNERS, "early")
    ledgers.agree()
    for ledger in ledgers:
        assert (ledger.team(OWNERS), ledger.team(GUESTS, OWNERS)) == ((0, 0), (3, 0))


def test_a_queue_that_may_borrow_no_more_says_so(scene: Scene, ledgers: Ledgers) -> None:
    scene.set_quota(OWNERS, (scene.flavor, {GPU: (6, 2, None)}))
    scene.admit(OWNERS, "own", 7)
    scene.submit(OWNERS, "waits", 2)
    scene.until(OWNERS, "waits", "QuotaReserved", "False")
    ledgers.agree()

    for ledger in ledgers:
        workload = ledger.workload(OWNERS, "waits")
        limits = limits_of([workload])
        short, named = waiting_reason(workload, limits[workload.pk]).sentences
        assert (short, limits[workload.pk][scene.flavor, GPU].left_by_limit) == (
            f"Not enough is free in {scene.flavor}: 1 GPU more needed.", 1
        )  # fmt: skip
        assert "it may hold at most 8 GPUs; left of that: 1 GPU." in named
