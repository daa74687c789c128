import pytest

from emulator.embedded import Running
from tests.emulator import manifests
from tests.emulator.client import KUEUE, Client

QUEUES = f"{KUEUE}/clusterqueues"


@pytest.fixture
def nobody(emulator: Running) -> Client:
    return Client(emulator.url, None)


@pytest.mark.parametrize("token", ["nope", ""])
def test_a_wrong_token_is_not_accepted(emulator: Running, token: str) -> None:
    assert Client(emulator.url, token).refused("GET", QUEUES) == (401, "Unauthorized", "Unauthorized")


def test_only_bearer_tokens_are_accepted(emulator: Running) -> None:
    answer = Client(emulator.url, None).call("GET", QUEUES, Authorization=f"Basic {emulator.tokens.admin}")
    assert answer.status_code == 401


def test_without_a_token_one_may_ask_for_version_and_health_alone(nobody: Client) -> None:
    assert nobody.get("/version")["major"] == "1"
    assert nobody.call("GET", "/readyz").text == "ok"
    assert nobody.refused("GET", "/apis")[0] == 403
    assert nobody.refused("GET", QUEUES) == (
        403,
        "Forbidden",
        'clusterqueues.kueue.x-k8s.io is forbidden: User "system:anonymous" cannot list resource "clusterqueues" '
        'in API group "kueue.x-k8s.io" at the cluster scope',
    )


READABLE = [
    *(
        f"{KUEUE}/{plural}"
        for plural in (
            "clusterqueues",
            "cohorts",
            "localqueues",
            "workloads",
            "resourceflavors",
            "workloadpriorityclasses",
        )
    ),
    "/api/v1/nodes",
    "/api/v1/namespaces",
    "/api/v1/pods",
    "/api/v1/events",
    "/apis/events.k8s.io/v1/events",
]


@pytest.mark.parametrize("path", READABLE)
def test_the_portal_reads_what_it_needs(reader: Client, path: str) -> None:
    assert "items" in reader.get(path)
    assert reader.watched(f"{path}?watch=1&timeoutSeconds=0&fieldSelector=metadata.name%3Dnone") == []


@pytest.mark.parametrize(
    "path",
    [f"{KUEUE}/topologies", "/api/v1/secrets", "/apis/batch/v1/jobs", "/api/v1/namespaces/kube-system/secrets"],
)
def test_the_portal_reads_nothing_else(reader: Client, path: str) -> None:
    assert reader.refused("GET", path)[:2] == (403, "Forbidden")


def test_the_portal_writes_nothing_and_the_refusal_comes_first(reader: Client, admin: Client) -> None:
    admin.create(f"{KUEUE}/resourceflavors", manifests.flavor())
    for method, path in (
        ("POST", f"{KUEUE}/resourceflavors"),
        ("PUT", f"{KUEUE}/resourceflavors/default"),
        ("PATCH", f"{KUEUE}/resourceflavors/default"),
        ("DELETE", f"{KUEUE}/resourceflavors/default"),
        ("DELETE", f"{KUEUE}/resourceflavors"),
        ("PATCH", f"{KUEUE}/namespaces/none/workloads/none/status"),
        ("POST", "/emulator/clock/step"),
        ("POST", "/emulator/compact"),
        ("GET", "/emulator/clock"),
    ):
        assert reader.refused(method, path, {"metadata": {"labels": {"a": "b"}}})[0] == 403, path
    assert "labels" not in admin.get(f"{KUEUE}/resourceflavors/default")["metadata"]


def test_the_refusal_names_object_and_namespace(reader: Client) -> None:
    assert reader.refused("DELETE", f"{KUEUE}/namespaces/team/workloads/w")[2] == (
        'workloads.kueue.x-k8s.io "w" is forbidden: User "hyperpod-portal" cannot delete resource "workloads" '
        'in API group "kueue.x-k8s.io" in the namespace "team"'
    )


def test_the_portal_may_discover(reader: Client) -> None:
    for path in ("/api", "/apis", "/apis/kueue.x-k8s.io", "/version", "/version/"):
        assert reader.call("GET", path).ok, path


@pytest.mark.parametrize(
    ("verb", "resource", "subresource", "allowed"),
    [
        ("list", "workloads", "", True),
        ("create", "workloads", "", False),
        ("get", "workloads", "status", False),
        ("list", "topologies", "", False),
    ],
)
def test_whoever_asks_is_told_what_he_may(
    reader: Client, admin: Client, verb: str, resource: str, subresource: str, allowed: bool
) -> None:
    attributes = {"verb": verb, "group": "kueue.x-k8s.io", "resource": resource, "subresource": subresource}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    asked = {**review, "spec": {"resourceAttributes": attributes}}
    assert reader.create(path, asked)["status"]["allowed"] is allowed
    assert admin.create(path, asked)["status"]["allowed"] is True
    assert reader.refused("POST", path, review)[0] == 400
