from datetime import UTC, datetime
from typing import Any

import pytest

from gateways.connections import Connection
from gateways.errors import BadReply, Denied, Unavailable
from gateways.http import IMPATIENT, Api, connect
from gateways.pods import JobName, is_of, parse_pod, pods_of
from gateways.records import ContainerRecord
from scheduling.parsing import MalformedObject
from tests.gateways.objects import Json, pod
from tests.gateways.scripted import ScriptedServer, listing, reply, status

PODS = "/api/v1/namespaces/team/pods"
JOB = JobName("team", "job-train-1a2b3", "Job", "train", "uid-of-train")
HYPERPOD = JobName("team", "hyperpodpytorchjob-train-1a2b3", "HyperPodPyTorchJob", "train", "uid-of-train")
STRANGE = JobName("team", "levitatingjob-train-1a2b3", "LevitatingJob", "train", "uid-of-train")
GROUP = JobName("team", "group-of-pods", "", "", "")


def owned(name: str, uid: str = "uid-of-train", kind: str = "Job", **rest: Any) -> Json:
    return pod(name, ownerReferences=[{"kind": kind, "name": "train", "uid": uid, "controller": True}], **rest)


def names(api: Api, job: JobName) -> list[str]:
    return [found.name for found in pods_of(api, job).pods]


def test_pods_are_asked_for_by_the_label_of_the_jobs_kind(server: ScriptedServer, api: Api) -> None:
    server.on(PODS, listing([owned("train-0"), owned("train-1")]))
    assert names(api, JOB) == ["train-0", "train-1"]
    assert [asked.query["labelSelector"] for asked in server.asked] == ["batch.kubernetes.io/job-name=train"]


@pytest.mark.parametrize(
    ("job", "query"),
    [
        (HYPERPOD, {"labelSelector": "HPJob=train"}),
        (JobName("team", "w", "PyTorchJob", "train", "u"), {"labelSelector": "training.kubeflow.org/job-name=train"}),
        (JobName("team", "w", "Pod", "train", "u"), {"fieldSelector": "metadata.name=train"}),
        (GROUP, {"labelSelector": "kueue.x-k8s.io/pod-group-name=group-of-pods"}),
        (STRANGE, {}),
        (JobName("team", "w", "Job", "t" * 64, "u"), {}),
    ],
)
def test_what_the_server_is_asked(server: ScriptedServer, api: Api, job: JobName, query: dict[str, str]) -> None:
    server.on(PODS, listing([]))
    pods_of(api, job)
    assert server.asked[0].query == {**query, "limit": "500"}


def test_where_no_pod_carries_the_label_the_namespace_is_looked_through(server: ScriptedServer, api: Api) -> None:
    server.on(PODS, listing([]), listing([owned("a", kind="HyperPodPyTorchJob"), pod("other")]))
    assert names(api, HYPERPOD) == ["a"]
    assert [set(asked.query) for asked in server.asked] == [{"labelSelector", "limit"}, {"limit"}]


def test_no_further_page_is_asked_for_when_the_time_is_over(server: ScriptedServer, api: Api) -> None:
    pages = [listing([owned(f"p-{n}")], following=f"page-{n}") for n in range(6)]
    server.on(PODS, *pages)
    found = pods_of(api, JOB, seconds=0)
    assert ([pod.name for pod in found.pods], found.is_complete) == (["p-0"], False)


def test_a_namespace_with_more_pods_than_are_looked_at(server: ScriptedServer, api: Api) -> None:
    pages = [listing([owned(f"p-{n}", kind="LevitatingJob")], following=f"page-{n}") for n in range(6)]
    server.on(PODS, *pages)
    found = pods_of(api, STRANGE)
    assert len(found.pods) == 4
    assert not found.is_complete


def test_a_list_that_starts_again_counts_no_pod_twice(server: ScriptedServer, api: Api) -> None:
    server.on(PODS, listing([owned("a")], following="x"), status(410, "too old"), listing([owned("a"), owned("b")]))
    found = pods_of(api, JOB)
    assert [each.name for each in found.pods] == ["a", "b"]
    assert found.is_complete


def test_pods_that_cannot_be_read_are_counted(server: ScriptedServer, api: Api) -> None:
    server.on(PODS, listing([owned("a"), {"metadata": {}}, None, {"metadata": {"name": 5, "uid": "u"}}]))
    found = pods_of(api, JOB)
    assert ([each.name for each in found.pods], found.unread) == (["a"], 3)


def test_an_impatient_reader_asks_once(server: ScriptedServer, connection: Connection) -> None:
    server.on(PODS, status(503, "overloaded"))
    with pytest.raises(Unavailable):
        pods_of(connect(connection, IMPATIENT), JOB)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (status(403, "pods is forbidden"), Denied),
        (reply(b"<html>"), BadReply),
        (reply({"kind": "Status"}), BadReply),
        (reply({"metadata": {}, "items": {}}), BadReply),
    ],
)
def test_a_refusal_or_garbage_is_told(server: ScriptedServer, api: Api, answer: Any, error: type[Exception]) -> None:
    server.on(PODS, answer)
    with pytest.raises(error):
        pods_of(api, JOB)


GROUPED = {"labels": {"kueue.x-k8s.io/pod-group-name": "group-of-pods"}}
NOTED = {"annotations": {"kueue.x-k8s.io/workload": "job-train-1a2b3"}}
LABELLED = {"labels": {"batch.kubernetes.io/job-name": "train"}}
BELONGING = {
    "owned by it": (owned("p"), JOB, True),
    "the job itself": (pod("train", uid="uid-of-train"), JobName("team", "w", "Pod", "train", "uid-of-train"), True),
    "another pod of its name": (pod("train"), JobName("team", "w", "Pod", "train", "uid-of-train"), False),
    "a label with its uid": (pod("p", labels={"any/controller-uid": "uid-of-train"}), STRANGE, True),
    "noted by Kueue": (pod("p", **NOTED), JOB, True),
    "noted for another workload": (pod("p", **NOTED), HYPERPOD, False),
    "noted for another, labelled alike": (pod("p", **NOTED, **LABELLED), STRANGE, False),
    "in its group": (pod("p", **GROUPED), GROUP, True),
    "in another group": (pod("p", **GROUPED), JOB, False),
    "a label with its name": (pod("p", **LABELLED), JOB, True),
    "a label with its name, of another kind": (pod("p", **LABELLED), HYPERPOD, False),
    "of a former job of its name": (owned("p", uid="uid-before", **LABELLED), JOB, False),
    "a child of its child": (owned("p", uid="uid-x", kind="Helper", **LABELLED), JOB, True),
    "anybody's": (pod("p"), JOB, False),
    "anybody's, where nothing is known": (pod("p"), GROUP, False),
}


@pytest.mark.parametrize(("obj", "job", "is_its"), BELONGING.values(), ids=BELONGING)
def test_whose_pod_it_is(obj: Json, job: JobName, is_its: bool) -> None:
    assert is_of(parse_pod(obj), job) is is_its


def test_a_pod_is_read() -> None:
    containers = [{"name": "main", "image": "pytorch:2.9"}, {"name": "late", "image": "late"}]
    crash = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}}
    told = {"name": "main", "ready": False, "restartCount": 7, "state": crash}
    told["lastState"] = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}
    fetch = {"name": "fetch", "ready": True, "state": {"terminated": {"reason": "Completed", "exitCode": 0}}}
    obj = pod(
        "train-0",
        creationTimestamp="2026-10-08T12:00:00Z",
        deletionTimestamp="2026-10-08T12:30:00Z",
        spec={
            "nodeName": "node-1",
            "containers": containers,
            "initContainers": [{"name": "fetch", "image": "fetch"}],
            "ephemeralContainers": [{"name": "debug", "image": "debug"}],
        },
        status={"phase": "Running", "containerStatuses": [told], "initContainerStatuses": [fetch]},
    )
    found = parse_pod(obj)
    assert (found.phase, found.node, found.is_stopping) == ("Running", "node-1", True)
    assert found.created_at == datetime(2026, 10, 8, 12, tzinfo=UTC)
    crashed = ("CrashLoopBackOff", "back-off 5m0s", None, "OOMKilled", 137)
    assert found.containers == (
        ContainerRecord("fetch", "fetch", True, True, 0, "terminated", "Completed", "", 0),
        ContainerRecord("main", "pytorch:2.9", False, False, 7, "waiting", *crashed),
        ContainerRecord("late", "late", False, False, 0),
        ContainerRecord("debug", "debug", False, False, 0),
    )


def test_why_a_pod_has_no_node_or_was_ended() -> None:
    unscheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}
    pending = parse_pod(pod("p", status={"phase": "Pending", "conditions": [{"type": "Ready"}, unscheduled]}))
    assert (pending.reason, pending.message, pending.node) == ("Unschedulable", "0/3 nodes", "")
    evicted = parse_pod(pod("p", status={"phase": "Failed", "reason": "Evicted", "conditions": [unscheduled]}))
    assert (evicted.reason, evicted.message) == ("Evicted", "")
    assert parse_pod(pod("p", status=None)).phase == ""


@pytest.mark.parametrize(
    "obj",
    [
        None,
        [],
        {},
        {"metadata": None},
        pod("p", uid=None, labels={"a": 1}),
        pod("p", labels="a=b"),
        pod("p", ownerReferences=[{"kind": "Job"}]),
        pod("p", creationTimestamp="yesterday"),
        pod("p", spec=[1]),
        pod("p", spec={"containers": [{}]}),
        pod("p", spec={"containers": [{"name": "a"}]}, status={"containerStatuses": [{"name": "a", "state": 3}]}),
        pod("p", spec={"containers": [{"name": "a"}]}, status={"containerStatuses": "none"}),
        pod("p", status={"phase": {"of": "moon"}}),
    ],
)
def test_a_pod_that_cannot_be_read_is_malformed(obj: Any) -> None:
    with pytest.raises(MalformedObject):
        parse_pod(obj)
