from typing import Any

import pytest

from tests.emulator import manifests
from tests.emulator.client import KUEUE, METADATA, Client, names

NODES = "/api/v1/nodes"
LABEL = "kind"


def node(name: str, **labels: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


@pytest.fixture
def nodes(admin: Client) -> Client:
    for name, kind in (("a", "gpu"), ("b", "cpu"), ("c", "gpu"), ("d", "gpu"), ("e", "cpu")):
        admin.create(NODES, node(name, kind=kind))
    return admin


def test_a_list_has_a_version_and_complete_objects(nodes: Client) -> None:
    listed = nodes.get(NODES)
    assert (listed["kind"], listed["apiVersion"]) == ("NodeList", "v1")
    assert names(listed) == ["a", "b", "c", "d", "e"]
    assert int(listed["metadata"]["resourceVersion"]) >= int(listed["items"][-1]["metadata"]["resourceVersion"])
    assert "continue" not in listed["metadata"]


def test_items_of_custom_resources_name_their_kind_core_ones_do_not(nodes: Client) -> None:
    nodes.create(f"{KUEUE}/resourceflavors", manifests.flavor())
    assert "kind" not in nodes.get(NODES)["items"][0]
    flavor = nodes.get(f"{KUEUE}/resourceflavors")["items"][0]
    assert (flavor["kind"], flavor["apiVersion"]) == ("ResourceFlavor", "kueue.x-k8s.io/v1beta2")


def test_selectors_narrow_a_list(nodes: Client) -> None:
    assert names(nodes.get(f"{NODES}?labelSelector=kind%20in%20(gpu)")) == ["a", "c", "d"]
    assert names(nodes.get(f"{NODES}?labelSelector=kind!%3Dgpu&fieldSelector=metadata.name%3Db")) == ["b"]


def test_one_namespace_or_all_in_the_order_of_keys(admin: Client) -> None:
    for name in ("team", "team-a"):
        admin.create("/api/v1/namespaces", manifests.namespace(name))
        admin.create(f"{KUEUE}/namespaces/{name}/localqueues", manifests.local_queue(f"of-{name}", "queue"))
    assert names(admin.get(f"{KUEUE}/namespaces/team/localqueues")) == ["of-team"]
    # "team-a/" sorts before "team/": a real server's keys are one text.
    assert names(admin.get(f"{KUEUE}/localqueues")) == ["of-team-a", "of-team"]
    assert names(admin.get(f"{KUEUE}/namespaces/none/localqueues")) == []


def pages(client: Client, path: str) -> list[dict[str, Any]]:
    found = [client.get(path)]
    while token := found[-1]["metadata"].get("continue"):
        found.append(client.get(f"{path}&continue={token}"))
    return found


def test_pages_hold_everything_once(nodes: Client) -> None:
    found = pages(nodes, f"{NODES}?limit=2")
    assert [names(page) for page in found] == [["a", "b"], ["c", "d"], ["e"]]
    assert [page["metadata"].get("remainingItemCount") for page in found] == [3, 1, None]
    assert len({page["metadata"]["resourceVersion"] for page in found}) == 1


def test_selected_pages_do_not_count_the_rest(nodes: Client) -> None:
    found = pages(nodes, f"{NODES}?limit=2&labelSelector=kind%3Dgpu")
    assert [names(page) for page in found] == [["a", "c"], ["d"]]
    assert "remainingItemCount" not in found[0]["metadata"]


def test_pages_show_one_instant_whatever_happens_meanwhile(nodes: Client) -> None:
    first = nodes.get(f"{NODES}?limit=2")
    nodes.call("DELETE", f"{NODES}/d")
    nodes.create(NODES, node("cc"))
    rest = nodes.get(f"{NODES}?limit=9&continue={first['metadata']['continue']}")
    assert names(rest) == ["c", "d", "e"]
    assert rest["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


def test_a_forgotten_page_is_gone_and_offers_a_token_to_go_on_with_now(nodes: Client) -> None:
    first = nodes.get(f"{NODES}?limit=2")
    nodes.create(NODES, node("cc"))
    nodes.call("POST", "/emulator/compact")
    answer = nodes.call("GET", f"{NODES}?limit=9&continue={first['metadata']['continue']}")
    assert (answer.status_code, answer.json()["reason"]) == (410, "Expired")
    fresh = answer.json()["metadata"]["continue"]
    assert names(nodes.get(f"{NODES}?limit=9&continue={fresh}")) == ["c", "cc", "d", "e"]


def test_versions_in_the_query(nodes: Client) -> None:
    then = nodes.get(NODES)["metadata"]["resourceVersion"]
    nodes.create(NODES, node("f"))
    assert len(nodes.get(f"{NODES}?resourceVersion={then}")["items"]) == 6
    assert len(nodes.get(f"{NODES}?resourceVersion=0")["items"]) == 6
    exact = nodes.get(f"{NODES}?resourceVersion={then}&resourceVersionMatch=Exact")
    assert (len(exact["items"]), exact["metadata"]["resourceVersion"]) == (5, then)
    assert len(nodes.get(f"{NODES}?resourceVersion={then}&limit=9")["items"]) == 5


def test_versions_that_cannot_be_answered(nodes: Client) -> None:
    assert nodes.refused("GET", f"{NODES}?resourceVersion=999999")[:2] == (504, "Timeout")
    nodes.call("POST", "/emulator/compact")
    refused = nodes.refused("GET", f"{NODES}?resourceVersion=2&resourceVersionMatch=Exact")
    assert refused == (410, "Expired", "The resourceVersion for the provided list is too old.")


@pytest.mark.parametrize(
    "query",
    ["resourceVersion=abc", "limit=x", "continue=abc", "labelSelector=a%20in%20(", "fieldSelector=spec.x%3D1"],
)
def test_queries_that_cannot_be_read(admin: Client, query: str) -> None:
    assert admin.refused("GET", f"{NODES}?{query}")[:2] == (400, "BadRequest")


def test_a_version_beside_a_continue_token_is_refused(nodes: Client) -> None:
    first = nodes.get(f"{NODES}?limit=2")
    path = f"{NODES}?limit=2&resourceVersion=3&continue={first['metadata']['continue']}"
    assert nodes.refused("GET", path)[0] == 400


def test_metadata_alone(nodes: Client) -> None:
    listed = nodes.get(f"{NODES}?limit=2", accept=METADATA)
    assert (listed["kind"], listed["apiVersion"]) == ("PartialObjectMetadataList", "meta.k8s.io/v1")
    item = listed["items"][0]
    assert set(item) == {"kind", "apiVersion", "metadata"}
    assert item["kind"] == "PartialObjectMetadata"
    assert item["metadata"]["labels"] == {"kind": "gpu"}
    assert listed["metadata"]["continue"]


def test_the_first_acceptable_form_counts(nodes: Client) -> None:
    assert nodes.get(NODES, accept=f"application/json,{METADATA}")["kind"] == "NodeList"
