"""Who may what, asked beforehand: SelfSubjectAccessReview."""

from typing import Any

import pytest

from gateways.rights import RIGHTS, Right
from tests.cluster.client import Client
from tests.contract.clusters import Cluster

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def review(right: Right) -> dict[str, Any]:
    resource, _, subresource = right.resource.partition("/")
    wanted = {"verb": right.verb, "group": right.group, "resource": resource, "subresource": subresource}
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": wanted},
    }


def is_allowed(client: Client, right: Right) -> bool:
    allowed: bool = client.call("POST", REVIEWS, json=review(right))["status"]["allowed"]
    return allowed


def test_the_portal_has_every_right_it_needs(cluster: Cluster) -> None:
    assert [str(right) for right in RIGHTS if not is_allowed(cluster.portal, right)] == []


@pytest.mark.parametrize(
    ("verb", "group", "resource"),
    [
        ("list", "", "secrets"),
        ("create", "", "pods/exec"),
        ("get", "", "pods/log"),
        ("delete", "kueue.x-k8s.io", "workloads"),
        ("update", "kueue.x-k8s.io", "clusterqueues"),
        ("patch", "kueue.x-k8s.io", "workloads/status"),
        ("list", "apps", "deployments"),
    ],
)
def test_the_portal_lacks_every_other_right(cluster: Cluster, verb: str, group: str, resource: str) -> None:
    right = Right(verb, group, resource, "none")

    assert not is_allowed(cluster.portal, right)
    assert is_allowed(cluster.admin, right)


def test_a_review_is_answered_as_created(cluster: Cluster) -> None:
    right = Right("list", "kueue.x-k8s.io", "workloads", "none")

    answer = cluster.portal.ask("POST", REVIEWS, json=review(right))

    assert answer.status_code == 201
    assert (answer.json()["kind"], answer.json()["apiVersion"]) == (
        "SelfSubjectAccessReview",
        "authorization.k8s.io/v1",
    )
    assert answer.json()["spec"]["resourceAttributes"]["resource"] == "workloads"


def test_who_is_unknown_may_not_even_ask(cluster: Cluster) -> None:
    right = Right("list", "kueue.x-k8s.io", "workloads", "none")

    assert cluster.anonymous.ask("POST", REVIEWS, json=review(right)).status_code == 403
    assert cluster.impostor.ask("POST", REVIEWS, json=review(right)).status_code == 401
