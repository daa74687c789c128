"""How soon a change in a real Kueue is on an open page; part of the cluster tier."""

from collections.abc import Iterator

import pytest

from tests.browser.cluster import MORE_THAN_THERE_ARE
from tests.browser.conftest import Visit, knows_all
from tests.browser.open_page import check_freshness
from tests.cluster import objects
from tests.cluster.client import Client
from tests.cluster.plane import ControlPlane
from tests.cluster.world import World, now
from tests.services.portal import RunningPortal, wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

NAMESPACE = "hyperpod-ns-research"


@pytest.fixture(scope="module")
def kueue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane of its own: the demo's teams take up all of it."""
    with ControlPlane(tmp_path_factory.mktemp("plane")) as plane:
        World(plane.admin, now()).set_up()
        yield plane


@pytest.fixture(scope="module")
def portal(kueue: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningPortal]:
    folder = tmp_path_factory.mktemp("portal")
    running = RunningPortal(folder, f"sqlite:///{folder}/portal.sqlite3", "filesystem://localhost")
    running.kubeconfig.write_text(kueue.portal_kubeconfig.read_text())
    try:
        running.prepare()
        for name in ("watcher", "worker", "web"):
            running.start(name)
        wait_until(lambda: knows_all(running), "the first facts", 90)
        yield running
    finally:
        running.stop_all()


def test_a_change_is_on_the_open_page_within_three_seconds(kueue: ControlPlane, visit: Visit) -> None:
    check_freshness(visit("data-scientist"), lambda name: submit(kueue.admin, name))


def submit(client: Client, name: str) -> None:
    """A job that waits for ever."""
    pods = objects.pod_set({objects.GPU: MORE_THAN_THERE_ARE})
    client.create("workloads", objects.workload(NAMESPACE, name, f"{NAMESPACE}-localqueue", pods))
