"""Kueue's kinds that go and come back, and a connection that leads elsewhere."""

from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.utils import timezone

from jobs.models import Workload
from jobs.states import JobState
from jobs.sync.sources import LIVE, NODES, PULLED, SOURCES
from jobs.sync.watch import ClusterWatch
from portal.models import SourceState
from portal.sync_runs import SyncRefused
from teams.models import Cluster
from tests.cluster.plane import PORTAL, ControlPlane
from tests.cluster.sync.ledgers import Ledger, Ledgers
from tests.cluster.sync.scene import OWNERS, Scene
from tests.cluster.sync.still import StillPlane

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

KUEUES = tuple(source for source in SOURCES if source != NODES)


def tables(*without: str) -> dict[str, list[dict[str, Any]]]:
    """Every row of every table but those."""
    models = [m for m in apps.get_models() if m.__name__ not in without]
    return {m.__name__: list(m._default_manager.order_by("pk").values()) for m in models}


def failing(ledger: Ledger) -> dict[str, str]:
    """The last error of each source that fails."""
    states = SourceState.objects.filter(cluster=str(ledger), failing_since__isnull=False)
    return dict(states.values_list("source", "last_error"))


def kept_of(ledger: Ledger) -> dict[str, list[dict[str, Any]]]:
    """Every row that names the ledger's cluster."""
    found = tables("SyncRun", "SourceState")
    return {name: [row for row in rows if row.get("cluster_id") == ledger.cluster.pk] for name, rows in found.items()}


def test_kinds_that_are_gone_lose_nothing_and_come_back(
    still_scene: Scene, still_ledgers: Ledgers, still_plane: StillPlane
) -> None:
    ledgers, scene = still_ledgers, still_scene
    scene.submit(OWNERS, "first", 4)
    ledgers.agree()
    first = scene.workload(OWNERS, "first")["metadata"]["uid"]
    before = kept_of(ledgers.pulled)

    still_plane.remove_kinds()
    ledgers.pulled.look()

    told = failing(ledgers.pulled)
    assert set(told) == set(KUEUES)
    assert {"the cluster does not serve kueue.x-k8s.io" in error for error in told.values()} == {True}
    ledgers.watched.until("failures", lambda: set(failing(ledgers.watched)) == set(LIVE))
    assert kept_of(ledgers.pulled) == before

    still_plane.add_kinds()
    scene.set_up()
    scene.submit(OWNERS, "second", 4)
    ledgers.agree()

    for ledger in ledgers:
        ledger.until("recoveries", lambda ledger=ledger: not failing(ledger))
        gone = Workload.objects.get(cluster=ledger.cluster, uid=first)
        assert gone.gone_before is not None
        assert gone.state in (JobState.ENDED, JobState.CANCELLED)
        assert [v.uid for v in ledger.versions(OWNERS)][-1] == scene.queue(OWNERS)["metadata"]["uid"]


def test_a_connection_that_leads_to_another_cluster_is_not_read(
    scene: Scene, ledgers: Ledgers, plane: ControlPlane, still_plane: StillPlane
) -> None:
    scene.admit(OWNERS, "own", 4)
    ledgers.agree()
    ledgers.watched.stop()
    before = tables("SyncRun", "SourceState", "Cluster")
    Cluster.objects.update(kubeconfig_path=str(still_plane.portal_kubeconfig))

    for ledger in ledgers:
        ledger.cluster.refresh_from_db()
    ledgers.pulled.look()
    with pytest.raises(SyncRefused, match="The connection of watched leads to another cluster than before"):
        ClusterWatch(ledgers.watched.cluster, timezone.now).start()

    told = failing(ledgers.pulled)
    assert set(told) == set(PULLED)
    assert {"pulled leads to another cluster than before" in error for error in told.values()} == {True}
    assert tables("SyncRun", "SourceState", "Cluster") == before

    Cluster.objects.update(kubeconfig_path=str(plane.portal_kubeconfig))
    for ledger in ledgers:
        ledger.cluster.refresh_from_db()
    ledgers.watched.start()
    ledgers.agree()
    ledgers.pulled.until("recoveries", lambda: not failing(ledgers.pulled))


def test_a_token_that_is_refused_until_the_kubeconfig_is_renewed(
    still_scene: Scene, still_ledgers: Ledgers, still_plane: StillPlane, tmp_path: Path
) -> None:
    pulled = still_ledgers.pulled
    good = still_plane.portal_kubeconfig.read_text()
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(good.replace(still_plane.tokens[PORTAL], "expired"))
    pulled.cluster.kubeconfig_path = str(kubeconfig)
    still_scene.submit(OWNERS, "unseen", 4)

    pulled.look()

    assert {error.split(": ")[1] for error in failing(pulled).values()} == {"401"}
    kubeconfig.write_text(good)
    pulled.agree()
    pulled.until("recoveries", lambda: not failing(pulled))
