"""What the workload page reads live: pods of a job, events of both kinds of writers, one object as it is."""

from datetime import UTC, datetime
from typing import Any

import pytest

from gateways.errors import NotFound
from gateways.events import events_about
from gateways.http import Api
from gateways.kueue import Kueue
from gateways.pods import JobName, pods_of
from tests.cluster import objects
from tests.cluster.objects import GPU
from tests.contract.clusters import Cluster, api_of, fresh, wait_for
from tests.contract.scene import GUESTS, OWNERS, Scene

Json = dict[str, Any]
JOB_UID = "8f1f9a52-6a4e-4a86-9d53-3a8d9f1c5a10"


@pytest.fixture
def api(cluster: Cluster) -> Api:
    return api_of(cluster.portal)


@pytest.fixture
def namespace(cluster: Cluster) -> str:
    name = fresh("live")
    cluster.admin.create("namespaces", objects.namespace(name))
    return name


def pod(namespace: str, name: str, kind: str = "Job", job: str = "train", uid: str = JOB_UID, **labels: str) -> Json:
    owner = {"apiVersion": "batch/v1", "kind": kind, "name": job, "uid": uid, "controller": True}
    meta = {"namespace": namespace, "name": name, "labels": labels, "ownerReferences": [owner]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "spec": objects.pod_set({"cpu": 1})["template"]["spec"],
    }


def job(namespace: str, kind: str = "Job", uid: str = JOB_UID) -> JobName:
    return JobName(namespace, "workload-of-train", kind, "train", uid)


def found(api: Api, wanted: JobName) -> list[str]:
    return sorted(each.name for each in pods_of(api, wanted).pods)


def test_the_pods_of_a_job_by_label_owner_name_and_what_kueue_noted(cluster: Cluster, api: Api, namespace: str) -> None:
    label = {"batch.kubernetes.io/job-name": "train"}
    noted = pod(namespace, "noted", "Helper", "helper", uid="8f1f9a52-6a4e-4a86-9d53-3a8d9f1c5a11")
    noted["metadata"]["annotations"] = {"kueue.x-k8s.io/workload": "workload-of-train"}
    for each in (
        pod(namespace, "labelled", **label),
        pod(namespace, "before", uid="8f1f9a52-6a4e-4a86-9d53-3a8d9f1c5a12", **label),
        pod(namespace, "owned", "LevitatingJob"),
        pod(namespace, "other", job="other", uid="8f1f9a52-6a4e-4a86-9d53-3a8d9f1c5a13"),
        noted,
    ):
        cluster.admin.create("pods", each)

    assert found(api, job(namespace)) == ["labelled"]
    assert found(api, job(namespace, "LevitatingJob")) == ["labelled", "noted", "owned"]
    assert found(api, JobName(namespace, "w", "Pod", "owned", _uid(cluster, namespace, "owned"))) == ["owned"]
    assert found(api, JobName(namespace, "w", "Pod", "owned", JOB_UID.replace("10", "14"))) == []


def _uid(cluster: Cluster, namespace: str, name: str) -> str:
    uid: str = cluster.portal.read("pods", name, namespace)["metadata"]["uid"]
    return uid


def test_how_a_pod_fares(cluster: Cluster, api: Api, namespace: str) -> None:
    cluster.admin.create("pods", pod(namespace, "crashing"))
    container = {
        "name": "main", "image": "pause", "imageID": "", "ready": False, "restartCount": 7,
        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}},
        "lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137}},
    }  # fmt: skip
    status = {"phase": "Running", "containerStatuses": [container]}
    cluster.admin.merge("pods", "crashing", {"status": status}, namespace, "status")

    (read,) = pods_of(api, job(namespace, "LevitatingJob")).pods

    (main,) = read.containers
    assert (read.phase, read.node, read.is_stopping) == ("Running", "", False)
    assert (main.state, main.reason, main.message, main.restarts) == ("waiting", "CrashLoopBackOff", "back-off 5m0s", 7)
    assert (main.last_reason, main.last_exit_code, main.is_ready) == ("OOMKilled", 137, False)
    assert read.created_at is not None and abs((cluster.now() - read.created_at).total_seconds()) < 60


def test_a_namespace_without_pods_or_without_itself(api: Api, namespace: str) -> None:
    for name in (namespace, "nobody"):
        assert pods_of(api, job(name)).pods == ()
        assert events_about(api, name, JOB_UID) == ()


def test_events_of_older_writers_are_counted(cluster: Cluster, api: Api, namespace: str) -> None:
    about = {"apiVersion": "v1", "kind": "Pod", "namespace": namespace, "name": "crashing", "uid": JOB_UID}
    told = {
        "metadata": {"namespace": namespace, "name": "crashing.1"}, "involvedObject": about, "type": "Warning",
        "reason": "BackOff", "message": "Back-off restarting failed container", "count": 12,
        "firstTimestamp": "2026-10-08T12:00:00Z", "lastTimestamp": "2026-10-08T12:30:00Z",
        "source": {"component": "kubelet", "host": "node-1"},
    }  # fmt: skip
    cluster.admin.create("events", told)
    about_another = {**told, "metadata": {"namespace": namespace, "name": "other.1"}}
    about_another["involvedObject"] = {**about, "uid": "another"}
    cluster.admin.create("events", about_another)

    (event,) = events_about(api, namespace, JOB_UID)

    assert (event.reason, event.count, event.is_warning, event.reporter) == ("BackOff", 12, True, "kubelet")
    assert event.first_at == datetime(2026, 10, 8, 12, tzinfo=UTC)
    assert event.last_at == datetime(2026, 10, 8, 12, 30, tzinfo=UTC)


def test_kueues_own_events_carry_micro_time(cluster: Cluster, api: Api) -> None:
    scene = Scene(cluster)
    scene.submit("runs", GUESTS, 8)
    scene.until("runs", "Admitted", "True")
    scene.submit("waits", OWNERS, 7)
    scene.until("waits", "QuotaReserved", "False")

    def events(name: str) -> list[Any]:
        return list(events_about(api, scene.name, scene.workload(name)["metadata"]["uid"]))

    told = wait_for(cluster, "events", lambda: len(events("runs")) > 1 and events("runs"))
    assert {event.reason for event in told} == {"QuotaReserved", "Admitted"}
    assert all(event.kind == "Workload" and event.reporter == "kueue-admission" for event in told)
    assert all(event.first_at == event.last_at and not event.is_warning for event in told)
    (pending,) = wait_for(cluster, "an event", lambda: events("waits"))
    assert (pending.reason, pending.is_warning) == ("Pending", True)
    assert pending.message.startswith("couldn't assign flavors to pod set main: ")


def test_one_workload_as_it_is(cluster: Cluster, api: Api, namespace: str) -> None:
    created = cluster.admin.create(
        "workloads", objects.workload(namespace, "one", "nowhere", objects.pod_set({GPU: 1}))
    )

    read = Kueue(api).workload_object(namespace, "one")

    assert (read["kind"], read["metadata"]["uid"]) == ("Workload", created["metadata"]["uid"])
    assert read["spec"]["podSets"] == created["spec"]["podSets"]
    with pytest.raises(NotFound):
        Kueue(api).workload_object(namespace, "gone")
