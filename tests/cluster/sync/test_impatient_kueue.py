"""A real Kueue that waits seconds for pods and deletes at once what is over."""

from collections.abc import Iterator

import pytest

from jobs.models import Workload
from jobs.states import JobState
from tests.cluster import jobs
from tests.cluster.client import path
from tests.cluster.fixtures import require_binaries
from tests.cluster.plane import ControlPlane
from tests.cluster.sync.facts import since
from tests.cluster.sync.ledgers import Ledgers
from tests.cluster.sync.scene import OWNERS, Scene
from tests.cluster.sync.test_evictions import evict, evictions

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
    admitted = scene.admit(OWNERS, "own", 4)
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
