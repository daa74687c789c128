"""Refusals: the HTTP status, and a Status object that says the same with Kubernetes' reason."""

from typing import Any

import pytest

from tests.cluster import objects
from tests.cluster.client import VISIBILITY, Client, path
from tests.cluster.objects import GPU
from tests.contract.clusters import Cluster, fresh, wait_for

Json = dict[str, Any]


@pytest.fixture
def flavor(cluster: Cluster) -> Json:
    return cluster.admin.create("resourceflavors", objects.flavor(fresh("errors")))


def refusal(client: Client, method: str, address: str, **options: Any) -> tuple[int, str, str]:
    """HTTP status, reason and message of a request that must be refused with a Status object."""
    answer = client.ask(method, address, **options)
    status = answer.json()
    assert (status["kind"], status["apiVersion"], status["status"]) == ("Status", "v1", "Failure")
    assert status["code"] == answer.status_code
    return answer.status_code, status["reason"], status["message"]


def test_a_wrong_token_is_unauthorized(cluster: Cluster) -> None:
    for address in (path("workloads"), path("workloads", "any", "one"), "/version"):
        if address == "/version":
            continue
        assert refusal(cluster.impostor, "GET", address) == (401, "Unauthorized", "Unauthorized")


def test_without_a_token_everything_is_forbidden(cluster: Cluster) -> None:
    assert refusal(cluster.anonymous, "GET", path("workloads")) == (
        403,
        "Forbidden",
        'workloads.kueue.x-k8s.io is forbidden: User "system:anonymous" cannot list resource "workloads" '
        'in API group "kueue.x-k8s.io" at the cluster scope',
    )


@pytest.mark.parametrize(
    ("method", "address", "verb", "resource", "group", "scope"),
    [
        ("GET", "/api/v1/secrets", "list", "secrets", "", "at the cluster scope"),
        ("GET", "/api/v1/namespaces/a/secrets/b", "get", "secrets", "", 'in the namespace "a"'),
        ("DELETE", path("workloads", "a", "b"), "delete", "workloads", "kueue.x-k8s.io", 'in the namespace "a"'),
        ("POST", path("clusterqueues"), "create", "clusterqueues", "kueue.x-k8s.io", "at the cluster scope"),
        ("PUT", path("clusterqueues", name="q"), "update", "clusterqueues", "kueue.x-k8s.io", "at the cluster scope"),
        ("PATCH", path("cohorts", name="c"), "patch", "cohorts", "kueue.x-k8s.io", "at the cluster scope"),
    ],
)
def test_the_portal_may_not(
    cluster: Cluster, method: str, address: str, verb: str, resource: str, group: str, scope: str
) -> None:
    code, reason, message = refusal(cluster.portal, method, address, json={})

    assert (code, reason) == (403, "Forbidden")
    user = "hyperpod-portal"
    assert f'User "{user}" cannot {verb} resource "{resource}" in API group "{group}" {scope}' in message


def test_what_is_not_there_is_not_found(cluster: Cluster) -> None:
    assert refusal(cluster.portal, "GET", path("clusterqueues", name="nobody")) == (
        404,
        "NotFound",
        'clusterqueues.kueue.x-k8s.io "nobody" not found',
    )
    assert refusal(cluster.portal, "GET", path("namespaces", name="nobody"))[2] == 'namespaces "nobody" not found'
    assert refusal(cluster.portal, "GET", path("workloads", "nobody", "nothing"))[0] == 404


def test_a_namespace_that_is_not_there_lists_nothing(cluster: Cluster) -> None:
    assert cluster.portal.items("workloads", "nobody") == []


def test_a_kind_or_version_that_is_not_served_is_plainly_not_found(cluster: Cluster) -> None:
    for address in ("/apis/kueue.x-k8s.io/v1", "/apis/kueue.x-k8s.io/v1/workloads", "/apis/none.example.com/v1/things"):
        answer = cluster.admin.ask("GET", address)
        assert (answer.status_code, answer.text.strip()) == (404, "404 page not found"), address


def test_creating_twice_is_already_exists(cluster: Cluster, flavor: Json) -> None:
    name = flavor["metadata"]["name"]

    assert refusal(cluster.admin, "POST", path("resourceflavors"), json=objects.flavor(name)) == (
        409,
        "AlreadyExists",
        f'resourceflavors.kueue.x-k8s.io "{name}" already exists',
    )


def test_replacing_an_older_version_is_a_conflict(cluster: Cluster, flavor: Json) -> None:
    name = flavor["metadata"]["name"]
    cluster.admin.merge("resourceflavors", name, {"spec": {"nodeLabels": {"a": "b"}}})

    assert refusal(cluster.admin, "PUT", path("resourceflavors", name=name), json=flavor) == (
        409,
        "Conflict",
        f'Operation cannot be fulfilled on resourceflavors.kueue.x-k8s.io "{name}": the object has been modified; '
        "please apply your changes to the latest version and try again",
    )


@pytest.mark.parametrize(
    "query",
    [
        {"labelSelector": "a in"},
        {"labelSelector": "=a"},
        {"fieldSelector": "spec.queueName=a"},
        {"limit": "many"},
        {"continue": "nonsense"},
        {"resourceVersion": "yesterday"},
    ],
    ids=lambda query: next(iter(query)),
)
def test_a_query_that_cannot_be_read_is_a_bad_request(cluster: Cluster, query: dict[str, str]) -> None:
    code, reason, _ = refusal(cluster.portal, "GET", path("workloads"), params=query)

    assert (code, reason) == (400, "BadRequest")


def test_a_version_from_the_future_is_a_timeout(cluster: Cluster) -> None:
    newest = int(cluster.portal.call("GET", path("workloads"))["metadata"]["resourceVersion"])

    answer = cluster.portal.ask("GET", path("workloads"), params={"resourceVersion": str(newest + 100_000)})

    status = answer.json()
    assert (answer.status_code, status["reason"]) == (504, "Timeout")
    assert "Too large resource version" in status["message"]
    assert status["details"]["retryAfterSeconds"] == 1


def test_a_forgotten_page_is_expired_and_offers_another_start(cluster: Cluster) -> None:
    name = fresh("errors")
    cluster.admin.create("namespaces", objects.namespace(name))
    for workload in "abc":
        cluster.admin.create("workloads", objects.workload(name, workload, "nowhere", objects.pod_set({GPU: 1})))
    page = cluster.portal.call("GET", path("workloads", name), params={"limit": "1"})
    cluster.admin.delete("workloads", "c", name)
    cluster.forget()
    query = {"limit": "1", "continue": page["metadata"]["continue"]}

    def expired() -> Json | None:
        answer = cluster.portal.ask("GET", path("workloads", name), params=query)
        return answer.json() if answer.status_code == 410 else None

    status = wait_for(cluster, "410", expired)

    assert status["reason"] == "Expired"
    following = {"continue": status["metadata"]["continue"]}
    rest = cluster.portal.items("workloads", name, **following)
    assert [item["metadata"]["name"] for item in rest] == ["b"]


def test_a_queue_unknown_to_the_visibility_api_is_not_found(cluster: Cluster) -> None:
    for address in ("clusterqueues/nobody", "namespaces/nobody/localqueues/nobody"):
        code, reason, _ = refusal(cluster.portal, "GET", f"{VISIBILITY}/{address}/pendingworkloads")
        assert (code, reason) == (404, "NotFound")
