from typing import Any

import pytest

from emulator.writing import merged
from tests.emulator import manifests
from tests.emulator.client import KUEUE, MERGE, Client

WORKLOADS = f"{KUEUE}/namespaces/team/workloads"


@pytest.fixture
def team(admin: Client) -> Client:
    admin.create("/api/v1/namespaces", manifests.namespace("team"))
    return admin


@pytest.fixture
def stored(team: Client) -> dict[str, Any]:
    return dict(team.create(WORKLOADS, manifests.workload("w", "queue", 1)))


def test_creating_answers_the_stored_object_with_kueues_defaults(stored: dict[str, Any]) -> None:
    assert stored["metadata"]["namespace"] == "team"
    assert stored["metadata"]["uid"] and stored["metadata"]["resourceVersion"]
    assert stored["spec"]["active"] is True


def test_a_cluster_queue_gets_its_defaults_beside_what_was_given(team: Client) -> None:
    spec = team.create(f"{KUEUE}/clusterqueues", manifests.cluster_queue("a", 4, queueingStrategy="StrictFIFO"))["spec"]
    assert spec["queueingStrategy"] == "StrictFIFO"
    assert spec["stopPolicy"] == "None"
    assert spec["preemption"] == {
        "reclaimWithinCohort": "Any",
        "withinClusterQueue": "LowerPriority",
        "borrowWithinCohort": {"policy": "Never"},
    }


def test_a_name_is_taken_once(team: Client, stored: dict[str, Any]) -> None:
    refused = team.refused("POST", WORKLOADS, manifests.workload("w", "queue", 1))
    assert refused == (409, "AlreadyExists", 'workloads.kueue.x-k8s.io "w" already exists')


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"metadata": {}}, 422, "name or generateName is required"),
        ({"metadata": {"name": "Not_a_name"}}, 422, "RFC 1123"),
        ({"metadata": {"name": "a" * 254}}, 422, "RFC 1123"),
        ({"metadata": {"name": "x", "namespace": "other"}}, 400, "does not match the namespace"),
        ({"metadata": {"name": "x", "resourceVersion": "3"}}, 400, "should not be set"),
        ({"kind": "Other"}, 422, "must be Workload"),
        ({"apiVersion": "kueue.x-k8s.io/v1beta1"}, 422, "must be kueue.x-k8s.io/v1beta2"),
        ({"kind": None}, 400, "'kind' is missing"),
    ],
)
def test_objects_that_are_refused(team: Client, change: dict[str, Any], code: int, message: str) -> None:
    refused = team.refused("POST", WORKLOADS, {**manifests.workload("x", "queue", 1), **change})
    assert refused[0] == code
    assert message in refused[2]


@pytest.mark.parametrize("body", [b"{nope", b"[]", b""])
def test_bodies_that_are_no_objects(team: Client, body: bytes) -> None:
    assert team.refused("POST", WORKLOADS, body)[:2] == (400, "BadRequest")


def test_a_namespace_must_be_there(admin: Client) -> None:
    refused = admin.refused("POST", WORKLOADS, manifests.workload("w", "queue", 1))
    assert refused == (404, "NotFound", 'namespaces "team" not found')


def test_status_is_not_created_with_the_object(team: Client) -> None:
    obj = {**manifests.workload("w", "queue", 1), "status": {"conditions": []}}
    assert "status" not in team.create(WORKLOADS, obj)


def test_a_merge_patch_changes_what_it_names(team: Client, stored: dict[str, Any]) -> None:
    new = team.patch(f"{WORKLOADS}/w", {"spec": {"priority": 5, "active": None}, "metadata": {"labels": {"a": "b"}}})
    assert (new["spec"]["priority"], new["metadata"]["labels"]) == (5, {"a": "b"})
    assert "active" not in new["spec"]
    assert new["spec"]["podSets"] == stored["spec"]["podSets"]
    assert new["metadata"]["generation"] == 2


def test_a_patch_that_changes_nothing_keeps_the_version(team: Client, stored: dict[str, Any]) -> None:
    again = team.patch(f"{WORKLOADS}/w", {"spec": {"priority": 0}})
    assert again["metadata"]["resourceVersion"] == stored["metadata"]["resourceVersion"]


def test_spec_and_status_are_written_apart(team: Client, stored: dict[str, Any]) -> None:
    team.patch(f"{WORKLOADS}/w/status", {"status": {"note": 1}, "spec": {"priority": 9}, "metadata": {"labels": {}}})
    after = team.patch(f"{WORKLOADS}/w", {"status": {"note": 2}})
    assert after["status"] == {"note": 1}
    assert after["spec"]["priority"] == 0
    assert team.get(f"{WORKLOADS}/w/status") == after


def test_stale_writes_are_refused(team: Client, stored: dict[str, Any]) -> None:
    team.patch(f"{WORKLOADS}/w", {"spec": {"priority": 1}})
    patch = {"metadata": {"resourceVersion": stored["metadata"]["resourceVersion"]}}
    for method, path, body in (
        ("PUT", f"{WORKLOADS}/w", stored),
        ("PUT", f"{WORKLOADS}/w/status", stored),
        ("PATCH", f"{WORKLOADS}/w", patch),
    ):
        refused = team.refused(method, path, body, **{"Content-Type": MERGE})
        assert refused[:2] == (409, "Conflict")
        assert "the object has been modified" in refused[2]


def test_replacing(team: Client, stored: dict[str, Any]) -> None:
    stored["spec"]["priority"] = 3
    answer = team.call("PUT", f"{WORKLOADS}/w", stored)
    assert answer.json()["spec"]["priority"] == 3
    assert team.get(f"{WORKLOADS}/w") == answer.json()


@pytest.mark.parametrize(
    ("meta", "code"), [({"resourceVersion": None}, 422), ({"name": "other"}, 400), ({"uid": "another"}, 409)]
)
def test_replacements_that_are_refused(team: Client, stored: dict[str, Any], meta: dict[str, Any], code: int) -> None:
    assert team.refused("PUT", f"{WORKLOADS}/w", {**stored, "metadata": {**stored["metadata"], **meta}})[0] == code


@pytest.mark.parametrize("content_type", ["application/strategic-merge-patch+json", "application/json", "text/plain"])
def test_other_patches_are_not_understood(team: Client, stored: dict[str, Any], content_type: str) -> None:
    refused = team.refused("PATCH", f"{WORKLOADS}/w", {}, **{"Content-Type": content_type})
    assert refused[:2] == (415, "UnsupportedMediaType")


def test_deleting(team: Client, stored: dict[str, Any]) -> None:
    answer = team.call("DELETE", f"{WORKLOADS}/w")
    assert answer.json()["status"] == "Success"
    assert answer.json()["details"]["uid"] == stored["metadata"]["uid"]
    for method in ("GET", "DELETE"):
        refused = team.refused(method, f"{WORKLOADS}/w")
        assert refused == (404, "NotFound", 'workloads.kueue.x-k8s.io "w" not found')
    again = team.create(WORKLOADS, manifests.workload("w", "queue", 1))
    assert again["metadata"]["uid"] != stored["metadata"]["uid"]


def test_what_is_not_there_cannot_be_written(team: Client) -> None:
    for method in ("PUT", "PATCH"):
        assert team.refused(method, f"{WORKLOADS}/none", {}, **{"Content-Type": MERGE})[0] == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", f"{WORKLOADS}/w"),
        ("DELETE", WORKLOADS),
        ("PUT", f"{KUEUE}/clusterqueues/x/unknown"),
        ("POST", "/apis/kueue.x-k8s.io/v1beta1/clusterqueues"),
        ("DELETE", "/version"),
        ("DELETE", "/apis/events.k8s.io/v1/namespaces/team/events/x"),
    ],
)
def test_methods_that_are_not_allowed(team: Client, method: str, path: str) -> None:
    answer = team.call(method, path, {})
    assert answer.status_code in (404, 405)
    if "unknown" not in path:
        assert answer.json()["reason"] == "MethodNotAllowed"


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_collection_is_not_written(team: Client, method: str) -> None:
    assert team.refused(method, WORKLOADS, {}, **{"Content-Type": MERGE})[0] in (400, 405)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, {"a": {"b": 1, "c": [1]}}),
        ({"a": {"b": 2}}, {"a": {"b": 2, "c": [1]}}),
        ({"a": {"b": None}}, {"a": {"c": [1]}}),
        ({"a": {"c": []}}, {"a": {"b": 1, "c": []}}),
        ({"a": None}, {}),
        ({"a": 1}, {"a": 1}),
        ({"d": {"e": None, "f": 1}}, {"a": {"b": 1, "c": [1]}, "d": {"f": 1}}),
    ],
)
def test_merging(change: dict[str, Any], expected: dict[str, Any]) -> None:
    old = {"a": {"b": 1, "c": [1]}}
    assert merged(old, change) == expected
    assert old == {"a": {"b": 1, "c": [1]}}
