"""How Workloads end: finished, failed, deleted in sight and out of sight."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.models import Workload
from jobs.states import JobState
from tests.cluster.sync.facts import since
from tests.cluster.sync.ledgers import Ledgers
from tests.cluster.sync.scene import OWNERS, Scene

pytestmark = [pytest.mark.cluster, pytest.mark.slow]


@pytest.mark.parametrize(("reason", "state"), [("Succeeded", JobState.FINISHED), ("Failed", JobState.FAILED)])
def test_a_workload_ends(scene: Scene, ledgers: Ledgers, reason: str, state: JobState) -> None:
    scene.admit(OWNERS, "own", 4)
    ledgers.agree()

    ended = scene.finish(OWNERS, "own", reason)
    ledgers.agree()

    for ledger in ledgers:
        workload, (span,) = ledger.workload(OWNERS, "own"), ledger.spans(OWNERS, "own")
        assert (workload.state, workload.finished_at) == (state, since(ended, "Finished"))
        assert span.released_after == span.released_before == since(ended, "Finished")
        assert (span.end, ledger.queue(OWNERS).reservation) == ("finished", 0)


def test_a_workload_that_was_over_before_anybody_looked(scene: Scene, ledgers: Ledgers) -> None:
    ledgers.watched.stop()
    begun = scene.admit(OWNERS, "own", 4)
    ended = scene.finish(OWNERS, "own")
    ledgers.watched.start()
    ledgers.agree()

    for ledger in ledgers:
        (span,) = ledger.spans(OWNERS, "own")
        assert (span.reserved_at, span.admitted_at) == (since(begun, "QuotaReserved"), since(begun, "Admitted"))
        assert (span.released_after, span.released_before) == (since(ended, "Finished"),) * 2
        assert (span.usages.get().amount, span.end) == (4, "finished")


def test_a_deletion_in_sight_is_dated_by_it(scene: Scene, ledgers: Ledgers) -> None:
    scene.admit(OWNERS, "own", 4)
    scene.submit(OWNERS, "waiting", 6)
    ledgers.agree()
    listed = ledgers.watched.last_list

    deleted_at = timezone.now()
    for name in ("own", "waiting"):
        scene.delete(OWNERS, name)
    ledgers.watched.agree()
    known_at = timezone.now()

    for name in ("own", "waiting"):
        workload = ledgers.watched.workload(OWNERS, name)
        assert workload.state == JobState.CANCELLED
        assert workload.gone_after == workload.gone_before
        assert deleted_at < workload.gone_before < known_at
    assert ledgers.watched.last_list == listed, "nothing but the watch told of it"
    (span,) = ledgers.watched.spans(OWNERS, "own")
    assert span.released_after == span.released_before == ledgers.watched.workload(OWNERS, "own").gone_before
    assert span.end == "deleted"


def test_a_deletion_between_two_pulls_lies_between_them(scene: Scene, ledgers: Ledgers) -> None:
    scene.admit(OWNERS, "own", 4)
    ledgers.pulled.agree()

    looked_at = timezone.now()
    deleted_at = delete(scene)
    ledgers.pulled.agree()

    workload, (span,) = ledgers.pulled.workload(OWNERS, "own"), ledgers.pulled.spans(OWNERS, "own")
    assert workload.state == JobState.ENDED
    assert workload.gone_after < looked_at < deleted_at < workload.gone_before
    assert (span.released_after, span.released_before) == (workload.gone_after, workload.gone_before)
    assert (span.end, ledgers.pulled.queue(OWNERS).reservation) == ("deleted", 0)


def test_a_deletion_while_the_watch_is_down_lies_in_that_time(scene: Scene, ledgers: Ledgers) -> None:
    scene.admit(OWNERS, "own", 4)
    ledgers.watched.agree()
    ledgers.watched.stop()

    stopped_at = timezone.now()
    deleted_at = delete(scene)
    ledgers.watched.start()
    ledgers.watched.agree()

    workload, (span,) = ledgers.watched.workload(OWNERS, "own"), ledgers.watched.spans(OWNERS, "own")
    assert workload.gone_after < stopped_at < deleted_at < workload.gone_before
    assert (span.released_after, span.released_before) == (workload.gone_after, workload.gone_before)


def test_a_name_that_recurs_is_another_workload(scene: Scene, ledgers: Ledgers) -> None:
    scene.admit(OWNERS, "own", 4)
    ledgers.agree()

    scene.delete(OWNERS, "own")
    scene.admit(OWNERS, "own", 2)
    ledgers.agree()

    for ledger in ledgers:
        mine = Workload.objects.filter(cluster=ledger.cluster, namespace=scene.place(OWNERS), name="own")
        assert sorted(workload.spans.get().usages.get().amount for workload in mine) == [2, 4]
        assert ledger.queue(OWNERS).reservation == 2


@pytest.mark.parametrize("minutes", [5, -5])
def test_a_portal_whose_clock_is_off(scene: Scene, ledgers: Ledgers, minutes: int) -> None:
    for ledger in ledgers:
        ledger.ahead = timedelta(minutes=minutes)
    begun = scene.admit(OWNERS, "finished", 2)
    scene.admit(OWNERS, "evicted", 2, priority=-1)
    scene.admit(OWNERS, "deleted", 2)
    ledgers.agree()

    ended = scene.finish(OWNERS, "finished")
    scene.change(OWNERS, "evicted", active=False)
    # Switched off it counts no more: a watch may see that before its quota is given back, and a list does not.
    released = scene.release(OWNERS, "evicted", at_once=True)
    scene.delete(OWNERS, "deleted")
    ledgers.agree()

    for ledger in ledgers:
        (finished,), (evicted,), (deleted,) = (
            ledger.spans(OWNERS, name) for name in ("finished", "evicted", "deleted")
        )
        assert finished.reserved_at == since(begun, "QuotaReserved")
        assert (finished.end, finished.released_before) == ("finished", since(ended, "Finished"))
        assert (evicted.end, evicted.released_before) == ("evicted", since(released, "QuotaReserved", "False"))
        assert (deleted.end, deleted.released_before >= deleted.reserved_at) == ("deleted", True)
        assert ledger.queue(OWNERS).reservation == 0


def delete(scene: Scene) -> object:
    """When the API server had done it."""
    scene.delete(OWNERS, "own")
    return timezone.now()
