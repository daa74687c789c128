"""Kueue's visibility API: who waits in a queue, in order."""

from typing import Any

import pytest

from tests.cluster import objects
from tests.cluster.client import VISIBILITY
from tests.cluster.objects import GPU
from tests.contract.clusters import Cluster, fresh, wait_for


@pytest.fixture
def queue(cluster: Cluster) -> str:
    """A full ClusterQueue with two LocalQueues, in which five wait, told apart by their priorities."""
    name = fresh("visible")
    admin = cluster.admin
    admin.create("namespaces", objects.namespace(name))
    admin.create("resourceflavors", objects.flavor(name))
    admin.create("clusterqueues", objects.cluster_queue(name, objects.group((name, {GPU: 1}))))
    for local in ("x", "y"):
        admin.create("localqueues", objects.local_queue(name, local, name))
    for workload, local, priority in (("a", "x", 1), ("b", "y", 5), ("c", "x", 3), ("d", "y", 4), ("e", "x", 2)):
        pods = objects.pod_set({GPU: 2})
        admin.create("workloads", objects.workload(name, workload, local, pods, priority=priority))
    wait_for(cluster, "five waiting", lambda: len(cluster.portal.pending(name)) == 5)
    return name


def pending(cluster: Cluster, address: str, line: str, **query: str) -> list[dict[str, Any]]:
    """Once those are listed, each with its place in `line`: Kueue leaves out whom it tries at that moment."""
    expected = [(name, place) for place, name in enumerate(line) if name != " "]

    def look() -> dict[str, Any] | None:
        answer = cluster.portal.call("GET", f"{VISIBILITY}/{address}/pendingworkloads", params=query)
        told = [(item["metadata"]["name"], item["positionInClusterQueue"]) for item in answer["items"]]
        return answer if told == expected else None

    answer = wait_for(cluster, f"{line} in {address}", look)
    assert (answer["kind"], answer["apiVersion"]) == ("PendingWorkloadsSummary", "visibility.kueue.x-k8s.io/v1beta2")
    items: list[dict[str, Any]] = answer["items"]
    return items


def test_higher_priority_waits_in_front(cluster: Cluster, queue: str) -> None:
    found = pending(cluster, f"clusterqueues/{queue}", "bdcea")

    assert [i["priority"] for i in found] == [5, 4, 3, 2, 1]
    assert [(i["localQueueName"], i["positionInLocalQueue"]) for i in found] == [
        ("y", 0),
        ("y", 1),
        ("x", 0),
        ("x", 1),
        ("x", 2),
    ]
    assert {i["metadata"]["namespace"] for i in found} == {queue}
    assert all(i["metadata"]["creationTimestamp"] for i in found)


def test_a_local_queue_shows_its_own_with_both_positions(cluster: Cluster, queue: str) -> None:
    found = pending(cluster, f"namespaces/{queue}/localqueues/x", "  cea")

    assert [i["positionInLocalQueue"] for i in found] == [0, 1, 2]


def test_limit_and_offset_cut_the_list(cluster: Cluster, queue: str) -> None:
    assert len(pending(cluster, f"clusterqueues/{queue}", " dc", limit="2", offset="1")) == 2


def test_an_empty_queue_shows_an_empty_list(cluster: Cluster) -> None:
    name = fresh("visible")
    cluster.admin.create("clusterqueues", objects.cluster_queue(name))

    wait_for(
        cluster,
        "the queue",
        lambda: cluster.portal.ask("GET", f"{VISIBILITY}/clusterqueues/{name}/pendingworkloads").ok,
    )

    assert pending(cluster, f"clusterqueues/{name}", "") == []
