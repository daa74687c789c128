import threading
from typing import Any

import pytest

from gateways.errors import BadReply, Denied, NotFound, Unavailable
from gateways.http import Api
from gateways.kueue import CLUSTER_QUEUES, COHORTS, WORKLOADS, Kueue
from gateways.records import Batch, ObjectVersion, QueuePosition
from gateways.watching import follow
from tests.gateways.objects import (
    cluster_queue,
    event,
    malformed_workload,
    metadata,
    workload,
)
from tests.gateways.scripted import Answer, ScriptedServer, events, listing, reply, status

NEW, OLD = "/apis/kueue.x-k8s.io/v1beta2", "/apis/kueue.x-k8s.io/v1beta1"
VISIBLE_NEW, VISIBLE_OLD = (f"/apis/visibility.kueue.x-k8s.io/{version}" for version in ("v1beta2", "v1beta1"))
PLURALS = (
    "workloads",
    "clusterqueues",
    "cohorts",
    "localqueues",
    "resourceflavors",
    "workloadpriorityclasses",
    "admissionchecks",
)


def resources(*plurals: str) -> Answer:
    return reply({"kind": "APIResourceList", "resources": [{"name": plural} for plural in plurals]})


@pytest.fixture
def kueue(api: Api) -> Kueue:
    return Kueue(api)


@pytest.fixture
def current(server: ScriptedServer) -> None:
    """A cluster that serves both versions."""
    server.on(NEW, resources(*PLURALS))
    server.on(OLD, resources(*PLURALS))


def read_names(pages: Any) -> list[str]:
    return [record.name for page in pages for record in page.records]


@pytest.mark.usefixtures("current")
def test_the_newest_version_is_read_where_both_are_served(server: ScriptedServer, kueue: Kueue) -> None:
    server.on(f"{NEW}/workloads", listing([workload("a")]))
    assert read_names(kueue.list_workloads()) == ["a"]
    assert server.asked_of(OLD) == []


def test_an_older_kueue_is_read_in_its_own_spelling(server: ScriptedServer, kueue: Kueue) -> None:
    server.on(OLD, resources(*PLURALS))
    server.on(f"{OLD}/clusterqueues", listing([cluster_queue("queue", cohort="pool")]))
    server.on(f"{OLD}/workloads", listing([workload("a", priorityClassName="urgent")]))
    (queue,) = next(kueue.list_cluster_queues()).records
    assert queue.cohort == "pool"
    assert next(kueue.list_workloads()).records[0].priority_class == "urgent"


@pytest.mark.usefixtures("current")
@pytest.mark.parametrize(
    ("method", "plural", "obj"),
    [
        ("list_cluster_queues", "clusterqueues", cluster_queue("x")),
        ("list_cohorts", "cohorts", {"metadata": metadata("x", 1), "spec": {"parentName": "root"}}),
        ("list_local_queues", "localqueues", {"metadata": metadata("x", 1, "team"), "spec": {"clusterQueue": "q"}}),
        ("list_resource_flavors", "resourceflavors", {"metadata": metadata("x", 1), "spec": {}}),
        ("list_priority_classes", "workloadpriorityclasses", {"metadata": metadata("x", 1), "value": 5}),
        ("list_admission_checks", "admissionchecks", {"metadata": metadata("x", 1), "spec": {"controllerName": "c"}}),
    ],
)
def test_every_kind_is_listed(server: ScriptedServer, kueue: Kueue, method: str, plural: str, obj: Any) -> None:
    server.on(f"{NEW}/{plural}", listing([obj]))
    assert read_names(getattr(kueue, method)()) == ["x"]


@pytest.mark.usefixtures("current")
def test_one_malformed_workload_does_not_hide_the_others(server: ScriptedServer, kueue: Kueue) -> None:
    server.on(f"{NEW}/workloads", listing([workload("a"), malformed_workload("b"), workload("c")]))
    (page,) = kueue.list_workloads()
    assert [record.name for record in page.records] == ["a", "c"]
    assert "team/b" in page.malformed[0]


def test_a_kueue_without_cohorts_has_none(server: ScriptedServer, kueue: Kueue) -> None:
    server.on(OLD, resources("workloads", "clusterqueues"))
    (page,) = kueue.list_cohorts()
    assert (page.records, page.is_last) == ((), True)
    assert list(kueue.watch(COHORTS, 0)) == []


def test_no_kueue_is_not_found_in_words(server: ScriptedServer, kueue: Kueue) -> None:
    with pytest.raises(NotFound, match=r"does not serve kueue\.x-k8s\.io in any of the versions v1beta2, v1beta1"):
        list(kueue.list_workloads())


def test_a_kind_that_is_missing_is_named(server: ScriptedServer, kueue: Kueue) -> None:
    server.on(NEW, resources("workloads"))
    with pytest.raises(NotFound, match="without clusterqueues"):
        list(kueue.list_cluster_queues())


@pytest.mark.parametrize("listed", [{}, {"resources": 5}, {"resources": [None]}, {"resources": [{}]}])
def test_a_discovery_that_cannot_be_read_is_a_bad_reply(server: ScriptedServer, kueue: Kueue, listed: Any) -> None:
    server.on(NEW, reply(listed))
    with pytest.raises(BadReply):
        list(kueue.list_workloads())


def test_discovery_is_asked_once(server: ScriptedServer, kueue: Kueue) -> None:
    server.on(NEW, resources(*PLURALS))
    server.on(f"{NEW}/workloads", listing([]))
    for _ in range(3):
        list(kueue.list_workloads())
    assert len(server.asked_of(NEW)) == 1


def test_an_upgrade_under_way_heals(server: ScriptedServer, kueue: Kueue) -> None:
    server.on(OLD, resources(*PLURALS))
    server.on(f"{OLD}/workloads", listing([workload("a")]), status(404))
    assert read_names(kueue.list_workloads()) == ["a"]
    server.on(NEW, resources(*PLURALS))
    server.on(f"{NEW}/workloads", listing([workload("a")]))
    with pytest.raises(NotFound):
        list(kueue.list_workloads())
    assert read_names(kueue.list_workloads()) == ["a"]


@pytest.mark.usefixtures("current")
def test_definitions_that_vanish_are_told_in_words(server: ScriptedServer, kueue: Kueue) -> None:
    server.on(f"{NEW}/workloads", listing([]))
    list(kueue.list_workloads())
    for path in (NEW, OLD, f"{NEW}/workloads"):
        server.on(path, status(404))
    with pytest.raises(NotFound, match=r"does not serve kueue\.x-k8s\.io"):
        list(kueue.watch(WORKLOADS, 5))


def test_a_discovery_that_is_denied_is_denied(server: ScriptedServer, kueue: Kueue) -> None:
    server.on(NEW, status(403))
    with pytest.raises(Denied):
        list(kueue.list_workloads())


@pytest.mark.usefixtures("current")
def test_versions_of_workloads_are_listed_alone(server: ScriptedServer, kueue: Kueue) -> None:
    server.on(f"{NEW}/workloads", listing([{"metadata": metadata("a", 5, "team")}]))
    (page,) = kueue.list_workload_versions()
    assert page.records == (ObjectVersion("uid-a", "team", "a", 5),)


@pytest.mark.usefixtures("current")
def test_one_workload_is_read_by_name(server: ScriptedServer, kueue: Kueue) -> None:
    server.on(f"{NEW}/namespaces/team/workloads/a", reply(workload("a", 9)))
    server.on(f"{NEW}/namespaces/team/workloads/broken", reply(malformed_workload("broken")))
    assert kueue.get_workload("team", "a").resource_version == 9
    with pytest.raises(NotFound):
        kueue.get_workload("team", "gone")
    with pytest.raises(BadReply, match="team/broken"):
        kueue.get_workload("team", "broken")


@pytest.mark.usefixtures("current")
def test_one_workload_is_read_as_the_server_shows_it(server: ScriptedServer, kueue: Kueue) -> None:
    odd = {**workload("a", 9), "spec": "of another time"}
    server.on(f"{NEW}/namespaces/team/workloads/a", reply(odd))
    assert kueue.workload_object("team", "a") == odd
    with pytest.raises(NotFound):
        kueue.workload_object("team", "gone")


@pytest.mark.usefixtures("current")
def test_names_cannot_leave_their_place_in_the_path(server: ScriptedServer, kueue: Kueue) -> None:
    with pytest.raises(NotFound):
        kueue.get_workload("../../x", "a/b?c")
    assert server.asked[-1].path == f"{NEW}/namespaces/..%2F..%2Fx/workloads/a%2Fb%3Fc"


@pytest.mark.usefixtures("current")
def test_a_kind_is_watched(server: ScriptedServer, kueue: Kueue) -> None:
    server.on(f"{NEW}/clusterqueues", events(event("MODIFIED", cluster_queue("queue", 12))))
    (change,) = kueue.watch(CLUSTER_QUEUES, 11)
    assert change.record and change.record.name == "queue"


@pytest.mark.usefixtures("current")
def test_a_kind_is_followed(server: ScriptedServer, kueue: Kueue) -> None:
    server.on(
        f"{NEW}/workloads", listing([workload("a")], 100), events(event("MODIFIED", workload("a", 101))), events()
    )
    stop = threading.Event()
    for told in follow(kueue.source(WORKLOADS), stop):
        if isinstance(told, Batch):
            assert [change.resource_version for change in told.changes] == [101]
            stop.set()
    assert server.asked[-1].query["resourceVersion"] in ("100", "101")


def test_only_workloads_are_relisted_by_their_versions(kueue: Kueue) -> None:
    assert kueue.source(WORKLOADS).list_versions is not None
    assert kueue.source(CLUSTER_QUEUES).list_versions is None


def pending(name: str, position: int, **more: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": "team"},
        "localQueueName": "queue",
        "priority": 7,
        "positionInClusterQueue": position,
        "positionInLocalQueue": position,
        **more,
    }


def test_positions_come_in_one_call(server: ScriptedServer, kueue: Kueue) -> None:
    server.on(VISIBLE_NEW, resources("clusterqueues/pendingworkloads"))
    server.on(
        f"{VISIBLE_NEW}/clusterqueues/queue/pendingworkloads", reply({"items": [pending("a", 0), pending("b", 1)]})
    )
    assert kueue.pending_workloads("queue") == [
        QueuePosition("team", "a", "queue", 7, 0, 0),
        QueuePosition("team", "b", "queue", 7, 1, 1),
    ]
    assert server.asked[-1].query == {"limit": "100000"}


def test_positions_of_an_older_visibility_api(server: ScriptedServer, kueue: Kueue) -> None:
    server.on(VISIBLE_OLD, resources("clusterqueues/pendingworkloads"))
    server.on(f"{VISIBLE_OLD}/clusterqueues/queue/pendingworkloads", reply({"items": None}))
    assert kueue.pending_workloads("queue") == []


def test_positions_without_a_visibility_api_are_not_found(kueue: Kueue) -> None:
    with pytest.raises(NotFound, match="visibility"):
        kueue.pending_workloads("queue")


def test_a_visibility_server_that_is_down_is_unavailable(server: ScriptedServer, kueue: Kueue) -> None:
    server.on(VISIBLE_NEW, status(503, "the server is currently unable to handle the request"))
    with pytest.raises(Unavailable):
        kueue.pending_workloads("queue")


@pytest.mark.parametrize("items", [[{}], ["a"], [pending("a", 0, priority="high")], 5])
def test_positions_that_cannot_be_read_are_a_bad_reply(server: ScriptedServer, kueue: Kueue, items: object) -> None:
    server.on(VISIBLE_NEW, resources())
    server.on(f"{VISIBLE_NEW}/clusterqueues/queue/pendingworkloads", reply({"items": items}))
    with pytest.raises(BadReply):
        kueue.pending_workloads("queue")


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("registry.k8s.io/kueue/kueue:v0.19.2", "0.19.2"),
        ("registry.example:5000/kueue:v0.19.2-build.1", "0.19.2"),
        ("registry.example:5000/kueue:main", None),
        ("registry.example/kueue@sha256:0123", None),
        (None, None),
    ],
)
def test_the_version_of_kueue_is_read_off_its_pod(
    server: ScriptedServer, kueue: Kueue, image: str | None, version: str | None
) -> None:
    server.on("/api/v1/pods", listing([None, {"spec": None}, {"spec": {"containers": [{"image": image}]}}]))
    assert kueue.kueue_version() == version
    assert server.asked[0].query["labelSelector"] == "app.kubernetes.io/name=kueue,control-plane=controller-manager"


def test_without_a_pod_the_version_of_kueue_is_unknown(server: ScriptedServer, kueue: Kueue) -> None:
    server.on("/api/v1/pods", listing([]))
    assert kueue.kueue_version() is None
