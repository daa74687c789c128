from typing import Any

import pytest

from gateways.errors import BadReply
from gateways.http import Api
from gateways.kubernetes import Kubernetes, parse_namespace, parse_node
from gateways.records import NamespaceRecord, NodeRecord
from scheduling.parsing import MalformedObject
from tests.gateways.objects import metadata
from tests.gateways.scripted import ScriptedServer, listing, reply

HEALTH = "sagemaker.amazonaws.com/node-health-status"


@pytest.fixture
def kubernetes(api: Api) -> Kubernetes:
    return Kubernetes(api)


def node(ready: str = "True", labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    conditions = [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": ready}]
    all_labels = {"node.kubernetes.io/instance-type": "ml.g5.12xlarge", **(labels or {})}
    return {
        "metadata": {**metadata("hyperpod-i-1", 5), "labels": all_labels},
        "spec": spec,
        "status": {"conditions": conditions, "allocatable": {"cpu": "47800m", "nvidia.com/gpu": "4", "memory": "1Ki"}},
    }


def test_a_node_is_read(server: ScriptedServer, kubernetes: Kubernetes) -> None:
    server.on("/api/v1/nodes", listing([node()]))
    (page,) = kubernetes.list_nodes()
    allocatable = {"cpu": 47800, "nvidia.com/gpu": 4, "memory": 1024}
    assert page.records == (NodeRecord("hyperpod-i-1", "ml.g5.12xlarge", True, allocatable),)


@pytest.mark.parametrize(
    ("obj", "healthy"),
    [
        (node(labels={HEALTH: "Schedulable"}), True),
        (node(labels={HEALTH: "Unschedulable"}), False),
        (node(labels={HEALTH: "UnschedulablePendingReplacement"}), False),
        (node(labels={HEALTH: ""}), False),
        (node(ready="False"), False),
        (node(ready="Unknown"), False),
        (node(unschedulable=True), False),
        ({"metadata": metadata("new", 1)}, False),
    ],
)
def test_a_node_is_healthy_when_ready_schedulable_and_not_marked(obj: dict[str, Any], healthy: bool) -> None:
    assert parse_node(obj).healthy is healthy


@pytest.mark.parametrize(
    "obj",
    [
        None,
        {},
        {"metadata": {}},
        {"metadata": metadata("n", 1), "status": ["Ready"]},
        {"metadata": metadata("n", 1), "status": {"allocatable": {"cpu": "many"}}},
        {"metadata": metadata("n", 1), "status": {"conditions": ["Ready"]}},
    ],
)
def test_a_node_that_cannot_be_read_is_malformed(obj: Any) -> None:
    with pytest.raises(MalformedObject, match="^Node "):
        parse_node(obj)


def test_namespaces_are_listed(server: ScriptedServer, kubernetes: Kubernetes) -> None:
    labelled = {**metadata("team", 3), "labels": {"owner": "me"}}
    server.on("/api/v1/namespaces", listing([{"metadata": labelled}, {"metadata": {"name": "no-uid"}}]))
    (page,) = kubernetes.list_namespaces()
    assert page.records == (NamespaceRecord("team", "uid-team", {"owner": "me"}),)
    assert page.malformed == ("Namespace no-uid: a field is missing or unexpected ('uid')",)


def test_a_namespace_that_is_no_object_is_malformed() -> None:
    with pytest.raises(MalformedObject):
        parse_namespace(None)  # type: ignore[arg-type]


def test_the_identity_is_the_uid_of_kube_system(server: ScriptedServer, kubernetes: Kubernetes) -> None:
    server.on("/api/v1/namespaces/kube-system", reply({"metadata": {"uid": "one-cluster"}}))
    assert kubernetes.identity() == "one-cluster"


@pytest.mark.parametrize(
    "answer", [{}, {"metadata": None}, {"metadata": ["uid"]}, {"metadata": {"uid": ""}}, {"metadata": {"uid": 5}}]
)
def test_no_uid_is_a_bad_reply(server: ScriptedServer, kubernetes: Kubernetes, answer: Any) -> None:
    server.on("/api/v1/namespaces/kube-system", reply(answer))
    with pytest.raises(BadReply):
        kubernetes.identity()


def test_the_server_tells_its_version(server: ScriptedServer, kubernetes: Kubernetes) -> None:
    server.on("/version", reply({"gitVersion": "v1.36.3"}), reply({"version": 1}))
    assert kubernetes.server_version() == "v1.36.3"
    with pytest.raises(BadReply):
        kubernetes.server_version()
