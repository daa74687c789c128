"""Queue objects that come, change, go and come back."""

import pytest

from jobs.models import QueueNow
from jobs.states import JobState
from teams.models import QuotaLine, SpecVersion
from tests.cluster import jobs, objects
from tests.cluster.objects import GPU
from tests.cluster.sync.ledgers import Ledgers
from tests.cluster.sync.scene import GUESTS, LOCAL_QUEUE, OWNERS, Scene

pytestmark = [pytest.mark.cluster, pytest.mark.slow]


def test_a_queue_that_is_deleted_and_created_again_goes_on_as_one_line(scene: Scene, ledgers: Ledgers) -> None:
    scene.submit(OWNERS, "large", 11)
    scene.until(OWNERS, "large", "QuotaReserved", "False")
    first = scene.queue(OWNERS)["metadata"]["uid"]
    ledgers.agree()

    scene.delete_queue(OWNERS)
    ledgers.watched.agree()  # the other one does not look in between
    assert not QueueNow.objects.filter(cluster=ledgers.watched.cluster, cluster_queue=scene.place(OWNERS)).exists()
    scene.create_queue(OWNERS, 11)
    scene.until(OWNERS, "large", "Admitted")
    ledgers.agree()

    second = scene.queue(OWNERS)["metadata"]["uid"]
    assert [(v.uid, v.deleted) for v in ledgers.pulled.versions(OWNERS)] == [(first, False), (second, False)]
    assert [(v.uid, v.deleted) for v in ledgers.watched.versions(OWNERS)] == [
        (first, False),
        (first, True),
        (second, False),
    ]
    for ledger in ledgers:
        versions = ledger.versions(OWNERS)
        assert [v.valid_to for v in versions] == [*(v.valid_from for v in versions[1:]), None]
        assert ledger.state(OWNERS, "large") == JobState.RUNNING
        assert (ledger.queue(OWNERS).nominal, ledger.queue(OWNERS).usage) == (11, 11)
        lines = QuotaLine.objects.filter(cluster=ledger.cluster, owner=scene.place(OWNERS))
        assert list(lines.order_by("valid_from").values_list("nominal", flat=True)) == [6, 11]


def test_a_queue_that_is_being_deleted_stays_until_its_last_workload_ends(scene: Scene, ledgers: Ledgers) -> None:
    scene.admit(OWNERS, "own", 6)
    scene.admin.delete("clusterqueues", scene.place(OWNERS))
    jobs.wait_for("the mark", lambda: "deletionTimestamp" in scene.queue(OWNERS)["metadata"])
    ledgers.agree()
    for ledger in ledgers:
        assert (ledger.queue(OWNERS).usage, ledger.state(OWNERS, "own")) == (6, JobState.RUNNING)

    scene.finish(OWNERS, "own")
    scene.wait_for_the_end_of_the_queue(OWNERS)
    ledgers.agree()

    for ledger in ledgers:
        assert ledger.versions(OWNERS)[-1].deleted
        assert not QueueNow.objects.filter(cluster=ledger.cluster, cluster_queue=scene.place(OWNERS)).exists()


def test_a_cohort_of_its_own_lends_and_goes(scene: Scene, ledgers: Ledgers) -> None:
    scene.admin.create("cohorts", objects.cohort(scene.name, objects.group((scene.flavor, {GPU: 5}))))
    scene.admit(GUESTS, "wide", 15)
    ledgers.agree()
    for ledger in ledgers:
        assert (ledger.queue(GUESTS).usage, ledger.queue(GUESTS).borrowed) == (15, 11)
        owners = ledger.queue(OWNERS)
        assert (owners.lent_low, owners.lent_high, owners.over_committed) == (6, 6, False)

    scene.admin.delete("cohorts", scene.name)
    for ledger in ledgers:
        ledger.until("the cohort's end", lambda ledger=ledger: ledger.queue(OWNERS).over_committed)
    ledgers.agree()

    for ledger in ledgers:
        line = SpecVersion.objects.filter(cluster=ledger.cluster, kind="Cohort", name=scene.name)
        assert [v.deleted for v in line.order_by("valid_from")] == [False, True]
        lines = QuotaLine.objects.filter(cluster=ledger.cluster, owner_kind="Cohort", owner=scene.name)
        assert [(o.nominal, o.valid_to is None) for o in lines] == [(5, False)]


def test_a_local_queue_that_goes_leaves_its_workloads_where_they_are(scene: Scene, ledgers: Ledgers) -> None:
    scene.admit(OWNERS, "own", 6)
    ledgers.agree()

    scene.admin.delete("localqueues", LOCAL_QUEUE, scene.place(OWNERS))
    ledgers.agree()

    for ledger in ledgers:
        assert ledger.queue(OWNERS).usage == 6
        assert ledger.team(OWNERS) == (6, 0)
