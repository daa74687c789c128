"""The chart in Helm's own hands, and on a real API server that enforces the restricted pod security standard."""

from collections.abc import Iterator

import pytest

from tests.cluster import jobs, objects
from tests.cluster.fixtures import require_binaries
from tests.cluster.plane import ControlPlane
from tests.compose import PORTAL
from tests.deploy.chart import CHART, RENDERED, VALUES, helm, pod, render

pytestmark = [pytest.mark.cluster, pytest.mark.slow]
NAMESPACE = "chart"
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}


@pytest.fixture(autouse=True)
def _built() -> None:
    require_binaries()


def test_what_is_kept_is_what_helm_renders() -> None:
    assert render() == RENDERED.read_text(), "python -m tests.deploy.chart renders it anew"


def test_helm_finds_no_fault() -> None:
    assert "0 chart(s) failed" in helm("lint", "--strict", str(CHART), "--values", str(VALUES)).stdout


def test_without_a_host_name_helm_says_what_is_missing() -> None:
    refused = helm("template", "portal", str(CHART), "--kube-version", "1.33.0", check=False)
    assert refused.returncode != 0
    assert "hosts: at least one host name is needed" in refused.stderr


@pytest.fixture
def installed(plane: ControlPlane) -> Iterator[str]:
    """What Helm says of an installation. Without the hook, which waits for a pod that nobody runs here."""
    namespace = objects.namespace(NAMESPACE)
    namespace["metadata"].setdefault("labels", {}).update(RESTRICTED)
    plane.admin.create("namespaces", namespace)
    place = {"KUBECONFIG": str(plane.kubeconfig), "HELM_NAMESPACE": NAMESPACE}
    done = helm("install", "portal", str(CHART), "--no-hooks", "--values", str(VALUES), **place)
    yield done.stdout + done.stderr
    helm("uninstall", "portal", "--no-hooks", **place)


def test_an_api_server_takes_it_and_its_account_only_reads(plane: ControlPlane, installed: str) -> None:
    assert "STATUS: deployed" in installed
    deployments = plane.admin.call("GET", f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments")["items"]
    assert [each["metadata"]["name"] for each in deployments] == [
        "portal-beat",
        "portal-watcher",
        "portal-web",
        "portal-worker",
    ]
    assert [pod_status(plane, process) for process in PORTAL] == [201] * len(PORTAL)
    jobs.wait_for("the right to watch", lambda: may(plane, "watch", "kueue.x-k8s.io", "workloads"))
    jobs.wait_for("the right to list", lambda: may(plane, "list", "", "nodes"))
    assert not may(plane, "delete", "kueue.x-k8s.io", "workloads")
    assert not may(plane, "get", "", "secrets")


def pod_status(plane: ControlPlane, process: str) -> int:
    """What the API server answers to a pod of that process: a Deployment's pods are judged when they are made."""
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": process}, "spec": pod(process)}
    address = f"/api/v1/namespaces/{NAMESPACE}/pods?dryRun=All"
    return plane.admin.ask("POST", address, json=made).status_code


def may(plane: ControlPlane, verb: str, group: str, resource: str) -> bool:
    """Whether the chart's service account has that right."""
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": f"system:serviceaccount:{NAMESPACE}:portal",
            "resourceAttributes": {"verb": verb, "group": group, "resource": resource},
        },
    }
    answer = plane.admin.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", json=review)
    return bool(answer["status"]["allowed"])


def test_the_standard_is_enforced_at_all(plane: ControlPlane) -> None:
    """Else that the pods above are taken would mean nothing."""
    namespace = objects.namespace("chart-strict")
    namespace["metadata"].setdefault("labels", {}).update(RESTRICTED)
    plane.admin.create("namespaces", namespace)
    container = {"name": "web", "image": "hyperpod-portal", "securityContext": {"privileged": True}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bad"}, "spec": {"containers": [container]}}
    refused = plane.admin.ask("POST", "/api/v1/namespaces/chart-strict/pods", json=pod)
    assert refused.status_code == 403
    assert "PodSecurity" in refused.text
