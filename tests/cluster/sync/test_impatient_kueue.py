"""A real Kueue that waits seconds for pods and deletes at once what is over."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from jobs.models import Eviction, Workload
from jobs.states import JobState
from jobs.sync.eviction_notes import SETTLED
from tests.cluster import jobs, objects
from tests.cluster.client import path
from tests.cluster.fixtures import require_binaries
from tests.cluster.objects import GPU
from tests.cluster.plane import ControlPlane
from tests.cluster.sync.facts import EVENT_DELAY, since
from tests.cluster.sync.ledgers import Ledger, Ledgers
from tests.cluster.sync.scene import LOCAL_QUEUE, OWNERS, Scene
from tests.cluster.sync.test_evictions import evict, evictions

Json = dict[str, Any]

SLOW = timedelta(seconds=30)

pytestmark = [pytest.mark.cluster, pytest.mark.slow]


@pytest.fixture(scope="module")
def impatient_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    require_binaries()
    with ControlPlane(tmp_path_factory.mktemp("impatient"), impatient=True) as plane:
        yield plane


@pytest.fixture
def plane(impatient_plane: ControlPlane) -> ControlPlane:
    return impatient_plane


def test_what_has_no_pods_in_time(scene: Scene, ledgers: Ledgers) -> None:
    scene.admit(OWNERS, "own", 4)
    ledgers.agree()
    scene.until(OWNERS, "own", "Evicted", reason="PodsReadyTimeout")
    scene.change_queue(OWNERS, stopPolicy="Hold")  # else it is soon admitted again
    decided, released = evict(scene, OWNERS, "own", "PodsReadyTimeout")
    ledgers.agree()
    for ledger in ledgers:
        (first, *_) = evictions(ledger, OWNERS, "own")
        assert (first.reason, first.cause, first.ordinal) == ("PodsReadyTimeout", "WaitForStart", 1)
        assert first.observed
        assert first.decided_before == since(decided, "Evicted")
        assert first.span is not None
        assert first.span.released_before == since(released, "QuotaReserved", "False")


def test_what_ended_is_deleted_at_once(scene: Scene, ledgers: Ledgers) -> None:
    """The watch sees both; a pull finds nothing and says between which moments it was gone."""
    scene.change_queue(OWNERS, stopPolicy="Hold")
    scene.submit(OWNERS, "own", 4)
    jobs.start(scene.admin, scene.place(OWNERS), "own")  # its pods are not waited for
    scene.change_queue(OWNERS, stopPolicy="None")
    admitted = scene.until(OWNERS, "own", "Admitted")
    ledgers.agree()
    scene.finish(OWNERS, "own")
    address = path("workloads", scene.place(OWNERS), "own")
    jobs.wait_for("its deletion", lambda: scene.admin.ask("GET", address).status_code == 404)
    ledgers.agree()
    for ledger in ledgers:
        workload = Workload.objects.get(cluster=ledger.cluster, namespace=scene.place(OWNERS), name="own")
        assert workload.gone_before is not None
        (span,) = ledger.spans(OWNERS, "own")
        assert span.reserved_at == since(admitted, "QuotaReserved")
        assert span.released_before is not None
        assert evictions(ledger, OWNERS, "own") == []
        assert ledger.queue(OWNERS).reservation == 0
    assert ledgers.watched.state(OWNERS, "own") == JobState.FINISHED
    assert ledgers.watched.spans(OWNERS, "own")[0].end == "finished"


def submit_job(scene: Scene, **labels: str) -> Json:
    """A Job of one pod; returns its Workload once it was admitted."""
    place = scene.place(OWNERS)
    metadata = {"namespace": place, "name": "own", "labels": {"kueue.x-k8s.io/queue-name": LOCAL_QUEUE, **labels}}
    template = objects.pod_set({GPU: 4})["template"]
    scene.admin.create("jobs", {"metadata": metadata, "spec": {"suspend": True, "template": template}})
    found: Json = jobs.wait_for("the Workload", lambda: next(iter(scene.admin.items("workloads", place)), None))
    return scene.until(OWNERS, found["metadata"]["name"], "Admitted")


def wait_until_gone(scene: Scene) -> None:
    """Kueue deletes the Job as soon as it has switched it off, and with it the Workload."""
    jobs.wait_for("its end", lambda: not scene.admin.items("workloads", scene.place(OWNERS)))


def test_what_ran_too_long_is_deleted_at_once(scene: Scene, ledgers: Ledgers) -> None:
    admitted = submit_job(scene, **{"kueue.x-k8s.io/max-exec-time-seconds": "4"})
    ledgers.agree()
    wait_until_gone(scene)
    ledgers.agree()
    (eviction,) = told(ledgers.watched, admitted)
    assert as_counted(eviction) == ("Deactivated", "MaximumExecutionTimeExceeded", 1)
    assert timedelta(seconds=4) <= ran(eviction, admitted) < SLOW
    assert eviction.lost_high == eviction.gpus * ran(eviction, admitted).total_seconds()
    for ledger in ledgers:
        is_over(ledger, admitted)
    (by_event,) = told_by_events(ledgers.pulled, admitted, 1)
    assert as_counted(by_event) == as_counted(eviction)
    assert eviction.decided_before <= by_event.decided_before <= eviction.decided_before + EVENT_DELAY


def test_what_never_had_its_pods_is_deleted_at_once(scene: Scene, ledgers: Ledgers) -> None:
    """It is put back once, and switched off the second time."""
    admitted = submit_job(scene)
    ledgers.agree()
    wait_until_gone(scene)
    ledgers.agree()
    first, last = told(ledgers.watched, admitted)
    assert as_counted(first) == ("PodsReadyTimeout", "WaitForStart", 1)
    assert as_counted(last) == ("Deactivated", "RequeuingLimitExceeded", 1)
    assert timedelta() < ran(first, admitted) < SLOW
    assert first.span != last.span and first.decided_before < last.decided_before
    for ledger in ledgers:
        is_over(ledger, admitted)
    by_events = told_by_events(ledgers.pulled, admitted, 2)
    assert [each.reason for each in by_events] == ["PodsReadyTimeout", "Deactivated"]
    for by_event, seen in zip(by_events, (first, last), strict=True):
        assert seen.decided_before <= by_event.decided_before <= seen.decided_before + EVENT_DELAY


def stored(ledger: Ledger, looked_at: Json) -> Workload:
    return Workload.objects.get(cluster=ledger.cluster, uid=looked_at["metadata"]["uid"])


def told(ledger: Ledger, looked_at: Json) -> list[Eviction]:
    """Those that were seen, each with the hold that it ended."""
    found = list(stored(ledger, looked_at).evictions.select_related("span").order_by("decided_before"))
    assert all(eviction.observed and eviction.span for eviction in found)
    return found


def told_by_events(ledger: Ledger, looked_at: Json, count: int) -> list[Eviction]:
    """A pull never saw them: once no list can hold them any more, events do, each with its time."""
    ledger.ahead = SETTLED + timedelta(minutes=1)
    ledger.until("what events tell", lambda: stored(ledger, looked_at).evictions.count() >= count)
    found = list(stored(ledger, looked_at).evictions.order_by("decided_before"))
    assert all(eviction.is_dated for eviction in found)
    return found


def as_counted(eviction: Eviction) -> tuple[str, str, int]:
    return eviction.reason, eviction.cause, eviction.ordinal


def ran(eviction: Eviction, admitted: Json) -> timedelta:
    """From the admission that the test saw to the decision that the ledger holds."""
    began = since(admitted, "Admitted")
    assert began is not None and eviction.span is not None and eviction.span.admitted_at == began
    return eviction.decided_before - began


def is_over(ledger: Ledger, looked_at: Json) -> None:
    """Nothing is held any more, and the last hold lasted at most until it was gone."""
    workload = stored(ledger, looked_at)
    span = workload.spans.latest("reserved_at")
    assert workload.gone_before is not None and span.released_before is not None
    assert span.reserved_at <= span.released_before <= workload.gone_before
    assert ledger.queue(OWNERS).reservation == 0
