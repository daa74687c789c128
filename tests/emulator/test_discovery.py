from collections.abc import Iterator

import pytest

from emulator.embedded import running
from emulator.server import Options
from tests.emulator.client import Client

GROUP = "/apis/kueue.x-k8s.io"


def test_groups_and_versions(reader: Client) -> None:
    groups = {g["name"]: [v["version"] for v in g["versions"]] for g in reader.get("/apis")["groups"]}
    assert groups == {
        "kueue.x-k8s.io": ["v1beta2", "v1beta1"],
        "visibility.kueue.x-k8s.io": ["v1beta2", "v1beta1"],
        "events.k8s.io": ["v1"],
        "sagemaker.amazonaws.com": ["v1"],
    }
    assert reader.get("/api")["versions"] == ["v1"]
    assert reader.get(GROUP)["preferredVersion"] == {"groupVersion": "kueue.x-k8s.io/v1beta2", "version": "v1beta2"}


def test_the_kinds_of_a_version(reader: Client) -> None:
    kinds = {r["name"]: r for r in reader.get(f"{GROUP}/v1beta2")["resources"]}
    workloads = kinds["workloads"]
    assert (workloads["kind"], workloads["namespaced"]) == ("Workload", True)
    assert {"get", "list", "watch", "create", "patch"} <= set(workloads["verbs"])
    assert kinds["clusterqueues"]["namespaced"] is False
    assert "workloads/status" in kinds and "resourceflavors/status" not in kinds
    core = {r["name"] for r in reader.get("/api/v1")["resources"]}
    assert {"namespaces", "nodes", "pods", "events"} <= core


def test_the_visibility_group(reader: Client) -> None:
    resources = reader.get("/apis/visibility.kueue.x-k8s.io/v1beta2")["resources"]
    assert [r["name"] for r in resources] == ["clusterqueues/pendingworkloads", "localqueues/pendingworkloads"]


@pytest.mark.parametrize(
    "path", ["/apis/batch", "/apis/batch/v1", f"{GROUP}/v1", f"{GROUP}/v1beta2/nothings", "/nothing"]
)
def test_what_is_not_installed_is_a_plain_404(admin: Client, path: str) -> None:
    answer = admin.call("GET", path)
    assert (answer.status_code, answer.text) == (404, "404 page not found\n")


@pytest.fixture
def old() -> Iterator[Client]:
    """A Kueue from before v1beta2."""
    with running(Options(kueue_version="v1beta1", paused=True, world="none")) as started:
        yield Client(started.url, started.tokens.portal)


def test_an_old_kueue_serves_the_old_version_alone(old: Client) -> None:
    assert [v["version"] for v in old.get(GROUP)["versions"]] == ["v1beta1"]
    assert old.get(f"{GROUP}/v1beta1/workloads")["apiVersion"] == "kueue.x-k8s.io/v1beta1"
    assert old.call("GET", f"{GROUP}/v1beta2/workloads").status_code == 404


def test_the_old_version_of_a_new_kueue_comes_with_a_warning(admin: Client) -> None:
    answer = admin.call("GET", f"{GROUP}/v1beta1/workloads")
    assert answer.headers["Warning"] == '299 - "This version is deprecated. Use v1beta2 instead."'
    assert "Warning" not in admin.call("GET", f"{GROUP}/v1beta2/workloads").headers
    refused = admin.refused("GET", f"{GROUP}/v1beta1/workloads?fieldSelector=status.admission.clusterQueue%3Da")
    assert refused[2] == "field label not supported: status.admission.clusterQueue"
