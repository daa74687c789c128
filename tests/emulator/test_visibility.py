import pytest

from tests.emulator import manifests
from tests.emulator.client import KUEUE, Client

VISIBILITY = "/apis/visibility.kueue.x-k8s.io/v1beta2"
QUEUE = f"{VISIBILITY}/clusterqueues/a/pendingworkloads"
LOCAL = f"{VISIBILITY}/namespaces/team/localqueues/one/pendingworkloads"


@pytest.fixture
def queue(admin: Client) -> Client:
    """One workload runs in ClusterQueue `a`; of the waiting, `low` came first, and `two` from another LocalQueue."""
    admin.create("/api/v1/namespaces", manifests.namespace("team"))
    admin.create(f"{KUEUE}/resourceflavors", manifests.flavor())
    admin.create(f"{KUEUE}/clusterqueues", manifests.cluster_queue("a", 4))
    for name in ("one", "second"):
        admin.create(f"{KUEUE}/namespaces/team/localqueues", manifests.local_queue(name, "a"))
    for name, local, cpus, priority in (
        ("running", "one", 4, 9),
        ("low", "one", 3, 0),
        ("two", "second", 2, 5),
        ("high", "one", 1, 5),
    ):
        admin.create(f"{KUEUE}/namespaces/team/workloads", manifests.workload(name, local, cpus, priority))
        admin.step(1)
    return admin


def lines(client: Client, path: str) -> list[tuple[str, str, int, int, int]]:
    return [
        (
            item["metadata"]["name"],
            item["localQueueName"],
            item["priority"],
            item["positionInClusterQueue"],
            item["positionInLocalQueue"],
        )
        for item in client.get(path)["items"]
    ]


def test_the_order_of_a_cluster_queue(queue: Client, reader: Client) -> None:
    expected = [("two", "second", 5, 0, 0), ("high", "one", 5, 1, 0), ("low", "one", 0, 2, 1)]
    assert lines(reader, QUEUE) == expected
    summary = reader.get(QUEUE)
    assert (summary["kind"], summary["apiVersion"]) == ("PendingWorkloadsSummary", VISIBILITY.removeprefix("/apis/"))
    meta = summary["items"][0]["metadata"]
    assert meta["namespace"] == "team" and meta["creationTimestamp"]


def test_a_local_queue_shows_its_own_with_their_place_among_all(queue: Client, reader: Client) -> None:
    assert lines(reader, LOCAL) == [("high", "one", 5, 1, 0), ("low", "one", 0, 2, 1)]


def test_limit_and_offset(queue: Client) -> None:
    assert [line[0] for line in lines(queue, f"{QUEUE}?limit=1&offset=1")] == ["high"]
    assert [line[0] for line in lines(queue, f"{QUEUE}?offset=2")] == ["low"]
    assert lines(queue, f"{QUEUE}?offset=9") == []
    assert queue.refused("GET", f"{QUEUE}?limit=x")[:2] == (400, "BadRequest")


def test_the_older_version_is_served_too(queue: Client) -> None:
    older = VISIBILITY.replace("v1beta2", "v1beta1")
    assert len(queue.get(f"{older}/clusterqueues/a/pendingworkloads")["items"]) == 3


@pytest.mark.parametrize(
    ("path", "kind", "name"),
    [
        ("clusterqueues/none/pendingworkloads", "clusterqueue", "none"),
        ("namespaces/team/localqueues/none/pendingworkloads", "localqueue", "none"),
        ("namespaces/other/localqueues/one/pendingworkloads", "localqueue", "one"),
    ],
)
def test_queues_that_are_not_there(queue: Client, path: str, kind: str, name: str) -> None:
    refused = queue.refused("GET", f"{VISIBILITY}/{path}")
    assert refused == (404, "NotFound", f'{kind}.visibility.kueue.x-k8s.io "{name}" not found')


@pytest.mark.parametrize("path", ["clusterqueues", "clusterqueues/a", "workloads/a/pendingworkloads"])
def test_there_is_nothing_else(admin: Client, path: str) -> None:
    assert admin.call("GET", f"{VISIBILITY}/{path}").status_code == 404


def test_it_is_read_only(queue: Client) -> None:
    assert queue.refused("PUT", QUEUE, {})[0] == 405
