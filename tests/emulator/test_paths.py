import pytest

from emulator.paths import Target, target_of, verb_of

PREFIX = "/apis/kueue.x-k8s.io/v1beta2"
KUEUE = ("kueue.x-k8s.io", "v1beta2")


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/api/v1/nodes", ("", "v1", "", "nodes", "", "")),
        ("/api/v1/nodes/n/status", ("", "v1", "", "nodes", "n", "status")),
        ("/api/v1/namespaces", ("", "v1", "", "namespaces", "", "")),
        ("/api/v1/namespaces/team", ("", "v1", "", "namespaces", "team", "")),
        ("/api/v1/namespaces/team/status", ("", "v1", "", "namespaces", "team", "status")),
        ("/api/v1/namespaces/team/pods", ("", "v1", "team", "pods", "", "")),
        ("/apis/kueue.x-k8s.io/v1beta2/workloads", (*KUEUE, "", "workloads", "", "")),
        ("/apis/kueue.x-k8s.io/v1beta2/namespaces/team/workloads/w", (*KUEUE, "team", "workloads", "w", "")),
        (
            "/apis/kueue.x-k8s.io/v1beta2/namespaces/team/workloads/w/status",
            (*KUEUE, "team", "workloads", "w", "status"),
        ),
    ],
)
def test_objects_and_collections(path: str, target: tuple[str, ...]) -> None:
    assert target_of(path) == Target(*target)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api",
        "/api/v1",
        "/apis",
        "/apis/kueue.x-k8s.io",
        "/apis/kueue.x-k8s.io/v1beta2",
        "/version",
        "/api/v1/a/b/c/d",
    ],
)
def test_what_names_no_object(path: str) -> None:
    assert target_of(path) is None


@pytest.mark.parametrize(
    ("method", "name", "query", "verb"),
    [
        ("GET", "", {}, "list"),
        ("GET", "", {"watch": "1"}, "watch"),
        ("GET", "", {"watch": "true"}, "watch"),
        ("GET", "", {"watch": "false"}, "list"),
        ("GET", "w", {"watch": "1"}, "get"),
        ("POST", "", {}, "create"),
        ("PUT", "w", {}, "update"),
        ("PATCH", "w", {}, "patch"),
        ("DELETE", "w", {}, "delete"),
        ("DELETE", "", {}, "deletecollection"),
        ("OPTIONS", "w", {}, "options"),
    ],
)
def test_verbs(method: str, name: str, query: dict[str, str], verb: str) -> None:
    assert verb_of(method, Target(*KUEUE, "team", "workloads", name, ""), query) == verb
