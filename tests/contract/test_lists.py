"""Lists: pages of one state, selectors, metadata alone, and what resourceVersion means."""

import pytest

from tests.cluster import objects
from tests.cluster.client import Client, path
from tests.cluster.objects import GPU
from tests.contract.clusters import Cluster, fresh, wait_for

METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"


@pytest.fixture
def namespace(cluster: Cluster) -> str:
    """With Workloads a to e of the teams red, blue, blue, green and none."""
    name = fresh("lists")
    cluster.admin.create("namespaces", objects.namespace(name))
    for workload, team in zip("abcde", ("red", "blue", "blue", "green", None), strict=True):
        manifest = objects.workload(name, workload, "nowhere", objects.pod_set({GPU: 1}))
        manifest["metadata"]["labels"] = {"team": team} if team else {}
        cluster.admin.create("workloads", manifest)
    return name


def names(client: Client, namespace: str, **parameters: str) -> str:
    return "".join(item["metadata"]["name"] for item in client.items("workloads", namespace, **parameters))


def test_list_holds_every_object_under_one_version(cluster: Cluster, namespace: str) -> None:
    answer = cluster.portal.call("GET", path("workloads", namespace))

    assert (answer["kind"], answer["apiVersion"]) == ("WorkloadList", "kueue.x-k8s.io/v1beta2")
    assert [item["metadata"]["name"] for item in answer["items"]] == list("abcde")
    assert {item["kind"] for item in answer["items"]} == {"Workload"}
    assert int(answer["metadata"]["resourceVersion"]) >= max(
        int(item["metadata"]["resourceVersion"]) for item in answer["items"]
    )
    assert not answer["metadata"].get("continue")


def test_items_of_a_core_list_leave_out_their_kind(cluster: Cluster) -> None:
    answer = cluster.portal.call("GET", path("namespaces"))

    assert (answer["kind"], answer["apiVersion"]) == ("NamespaceList", "v1")
    assert not any("kind" in item or "apiVersion" in item for item in answer["items"])


def test_pages_show_the_state_of_the_first_one(cluster: Cluster, namespace: str) -> None:
    address, seen, versions = path("workloads", namespace), [], set()
    page = cluster.portal.call("GET", address, params={"limit": "2"})
    assert page["metadata"]["remainingItemCount"] == 3
    cluster.admin.delete("workloads", "e", namespace)
    cluster.admin.create("workloads", objects.workload(namespace, "f", "nowhere", objects.pod_set({GPU: 1})))

    while True:
        seen += [item["metadata"]["name"] for item in page["items"]]
        versions.add(page["metadata"]["resourceVersion"])
        token = page["metadata"].get("continue")
        if not token:
            break
        page = cluster.portal.call("GET", address, params={"limit": "2", "continue": token})

    assert seen == list("abcde")
    assert len(versions) == 1


def test_a_page_with_a_selector_tells_no_remaining_count(cluster: Cluster, namespace: str) -> None:
    query = {"limit": "1", "labelSelector": "team"}

    page = cluster.portal.call("GET", path("workloads", namespace), params=query)

    assert page["metadata"]["continue"]
    assert "remainingItemCount" not in page["metadata"]


def test_all_namespaces_are_listed_in_order_of_namespace_and_name(cluster: Cluster, namespace: str) -> None:
    second = fresh("lists")
    cluster.admin.create("namespaces", objects.namespace(second))
    cluster.admin.create("workloads", objects.workload(second, "a", "nowhere", objects.pod_set({GPU: 1})))

    items = cluster.portal.items("workloads")

    places = [f"{item['metadata']['namespace']}/{item['metadata']['name']}" for item in items]
    assert places == sorted(places)
    assert {f"{namespace}/e", f"{second}/a"} <= set(places)


def test_metadata_alone_is_listed_when_asked_for(cluster: Cluster, namespace: str) -> None:
    address = path("workloads", namespace)

    answer = cluster.portal.call("GET", address, headers={"Accept": METADATA_ONLY}, params={"limit": "2"})

    assert (answer["kind"], answer["apiVersion"]) == ("PartialObjectMetadataList", "meta.k8s.io/v1")
    assert answer["metadata"]["continue"]
    for item in answer["items"]:
        assert set(item) == {"kind", "apiVersion", "metadata"}
        assert item["kind"] == "PartialObjectMetadata"
        assert {"name", "namespace", "uid", "resourceVersion"} <= set(item["metadata"])


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ("team=blue", "bc"),
        ("team==blue", "bc"),
        ("team!=blue", "ade"),
        ("team in (red,green)", "ad"),
        ("team notin (red, green)", "bce"),
        ("team", "abcd"),
        ("!team", "e"),
        ("team,team!=red", "bcd"),
        ("team in (blue),team notin (red)", "bc"),
        ("team=none", ""),
    ],
)
def test_label_selectors_select(cluster: Cluster, namespace: str, selector: str, selected: str) -> None:
    assert names(cluster.portal, namespace, labelSelector=selector) == selected


@pytest.mark.parametrize(
    ("selector", "selected"),
    [("metadata.name=b", "b"), ("metadata.name!=b", "acde"), ("status.admission.clusterQueue=", "abcde")],
)
def test_field_selectors_select(cluster: Cluster, namespace: str, selector: str, selected: str) -> None:
    assert names(cluster.portal, namespace, fieldSelector=selector) == selected


def test_workloads_are_selected_by_the_queue_that_admitted_them(cluster: Cluster) -> None:
    name = fresh("lists")
    admin = cluster.admin
    admin.create("namespaces", objects.namespace(name))
    admin.create("resourceflavors", objects.flavor(name))
    admin.create("clusterqueues", objects.cluster_queue(name, objects.group((name, {GPU: 1}))))
    admin.create("localqueues", objects.local_queue(name, "queue", name))
    for workload, priority in (("a", 1), ("b", 0)):
        pods = objects.pod_set({GPU: 1})
        admin.create("workloads", objects.workload(name, workload, "queue", pods, priority=priority))

    selector = f"status.admission.clusterQueue={name}"
    admitted = wait_for(cluster, "admission", lambda: names(cluster.portal, "", fieldSelector=selector))

    assert admitted == "a"


def test_resource_versions_grow_with_each_write(cluster: Cluster, namespace: str) -> None:
    before = cluster.portal.call("GET", path("workloads", namespace))["metadata"]["resourceVersion"]

    changed = cluster.admin.merge("workloads", "a", {"metadata": {"labels": {"team": "blue"}}}, namespace)

    after = cluster.portal.call("GET", path("workloads", namespace))["metadata"]["resourceVersion"]
    assert int(before) < int(changed["metadata"]["resourceVersion"]) <= int(after)


@pytest.mark.parametrize("version", ["", "0"])
def test_a_list_of_any_version_is_a_list_of_what_is_there(cluster: Cluster, namespace: str, version: str) -> None:
    assert names(cluster.portal, namespace, resourceVersion=version) == "abcde"


def test_a_list_not_older_than_a_version_shows_at_least_that(cluster: Cluster, namespace: str) -> None:
    created = cluster.admin.create("workloads", objects.workload(namespace, "f", "nowhere", objects.pod_set({GPU: 1})))

    assert names(cluster.portal, namespace, resourceVersion=created["metadata"]["resourceVersion"]) == "abcdef"
