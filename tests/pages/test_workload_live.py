"""Pods, events and the manifest, read from an API server on loopback that answers as told."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from jobs.live import reads as live_reads
from tests.gateways.scripted import ScriptedServer, chunks, hang, listing, reply, status, write_kubeconfig
from tests.pages.conftest import PREEMPTED, THEIR_UID, UNKNOWN_UID
from tests.pages.reading import visit, words
from tests.people import People
from tests.stories import Job
from tests.worlds import World

pytestmark = pytest.mark.django_db

NAMESPACE = "/api/v1/namespaces/hyperpod-ns-research"
WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/namespaces/hyperpod-ns-research/workloads"
SECRET = "s3cr3t-v4lue"
PARTS = ("pods", "events", "manifest")
Json = dict[str, Any]


@pytest.fixture
def server(zoo: World, tmp_path: Path) -> Iterator[ScriptedServer]:
    scripted = ScriptedServer()
    zoo.cluster.kubeconfig_path = str(write_kubeconfig(tmp_path / "kubeconfig", scripted.url))
    zoo.cluster.save()
    scripted.on(
        "/apis/kueue.x-k8s.io", reply({"versions": [{"groupVersion": "kueue.x-k8s.io/v1beta2", "version": "v1beta2"}]})
    )
    scripted.on("/apis/kueue.x-k8s.io/v1beta2", reply({"resources": [{"name": "workloads"}]}))
    for path in ("/pods", "/events"):
        scripted.on(NAMESPACE + path, listing([]))
    yield scripted
    scripted.close()


@pytest.fixture
def job(zoo: World) -> Job:
    job = Job("train", created=-60).admit(-50)
    zoo.see(job)
    return job


def url(job: Job, part: str) -> str:
    return f"/clusters/gpu-one/workloads/{job.uid}/{part}/"


def part(user: User, job: Job, name: str) -> HttpResponse:
    client = Client(headers={"HX-Request": "true"})
    client.force_login(user)
    return client.get(url(job, name))  # type: ignore[return-value]


def pod(name: str = "train-0", **status_: Any) -> Json:
    owner = {"kind": "PyTorchJob", "name": "train", "uid": "job-uid-hyperpod-ns-research-train", "controller": True}
    meta = {"name": name, "uid": f"uid-of-{name}", "creationTimestamp": "2026-10-08T11:50:00Z"}
    return {
        "metadata": {**meta, "ownerReferences": [owner]},
        "spec": {"nodeName": "ip-10-0-0-7", "containers": [{"name": "main", "image": "train"}]},
        "status": {"phase": "Running", **status_},
    }  # fmt: skip


def container(state: Json, **rest: Any) -> Json:
    return {"name": "main", "ready": False, "restartCount": 3, "state": state, **rest}


def event(message: str, reason: str = "Noted", by: str = "kueue-admission", **rest: Any) -> Json:
    about = {"kind": "Workload", "name": "w", "uid": "u"}
    times = {"firstTimestamp": "2026-10-08T11:50:00Z", "lastTimestamp": "2026-10-08T11:58:00Z"}
    source = {"reportingComponent": by, "type": "Normal"}
    return (
        {"metadata": {"name": "e"}, "involvedObject": about, "reason": reason, "message": message}
        | times
        | source
        | rest
    )


def manifest(job: Job, server: ScriptedServer, **changes: Any) -> Json:
    obj = {**job.json, **changes}
    server.on(f"{WORKLOADS}/pytorchjob-train", reply(obj))
    return obj


def test_the_page_itself_asks_no_cluster(server: ScriptedServer, job: Job, people: People) -> None:
    text = visit(people.member, f"/clusters/gpu-one/workloads/{job.uid}/").text
    assert server.asked == []
    for name in PARTS:
        assert f'hx-get="{url(job, name)}"' in text


def test_pods_with_what_is_amiss(server: ScriptedServer, job: Job, people: People) -> None:
    waiting = container({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}})
    waiting["lastState"] = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}
    fine = {"name": "main", "ready": True, "restartCount": 0, "state": {"running": {}}}
    server.on(
        f"{NAMESPACE}/pods",
        listing([pod("train-0", containerStatuses=[fine]), pod("train-1", containerStatuses=[waiting])]),
    )
    text = words(part(people.member, job, "pods"))
    assert (
        "train-1 events train-1 Running 0 of 1 3 main: CrashLoopBackOff: back-off 5m0s; the run before: OOMKilled, "
        "exit code 137 ip-10-0-0-7 10 min ago train-0 events train-0 Running 1 of 1 0 – ip-10-0-0-7 10 min ago "
        "Read from the cluster just now"
    ) in text


def test_no_pods_and_no_events(server: ScriptedServer, job: Job, people: People) -> None:
    assert "No pod of this job is there" in words(part(people.member, job, "pods"))
    assert "No event is there" in words(part(people.member, job, "events"))


def test_events_newest_first_of_the_workload_and_its_job(server: ScriptedServer, job: Job, people: People) -> None:
    older = event("older", lastTimestamp="2026-10-08T11:55:00Z", count=12, type="Warning")
    server.on(f"{NAMESPACE}/events", listing([older]), listing([event("newer", by="job-controller")]))
    text = words(part(people.member, job, "events"))
    assert (
        "2 min ago Noted newer 1 job-controller about the Workload 5 min ago first 10 min ago Warning Noted older 12"
        in text
    )
    asked = [asked.query["fieldSelector"] for asked in server.asked_of(f"{NAMESPACE}/events")]
    assert asked == [f"involvedObject.uid={job.uid}", f"involvedObject.uid=job-{job.uid}"]


def test_events_of_one_pod_on_a_page_of_their_own(server: ScriptedServer, job: Job, people: People) -> None:
    server.on(f"{NAMESPACE}/pods", listing([pod("train-1")]))
    address = f"{url(job, 'events')}?pod=uid-of-train-1"
    assert f'href="{address}"' in part(people.member, job, "pods").text
    told = event("no such volume", "FailedMount", "kubelet", involvedObject={"kind": "Pod", "name": "train-1"})
    server.on(f"{NAMESPACE}/events", listing([told]))
    response = visit(people.member, address)
    assert "Events · train-1 When" in words(response)
    assert "FailedMount no such volume 1 kubelet about the Pod" in words(response)
    assert f'hx-get="{address}"' in response.text
    asked = [asked.query["fieldSelector"] for asked in server.asked_of(f"{NAMESPACE}/events")]
    assert asked == ["involvedObject.uid=uid-of-train-1"]
    assert visit(people.neighbour, address).status_code == 404


@pytest.mark.parametrize("odd", ["a,involvedObject.kind=Pod", "x" * 65, "a b", "a&limit=0", "<b>", "\u202e", "é"])
def test_odd_pods_are_not_asked_for(server: ScriptedServer, job: Job, people: People, odd: str) -> None:
    assert visit(people.member, f"{url(job, 'events')}?{urlencode({'pod': odd})}").status_code == 404
    assert server.asked == []


def test_the_manifest_without_values(server: ScriptedServer, job: Job, people: People) -> None:
    spec = job.obj["spec"]["podSets"][0]["template"]["spec"]
    env = {"name": "HF_TOKEN", "value": SECRET}
    spec["containers"][0] |= {"env": [env], "args": ["--api-key", SECRET, f"--token={SECRET}", "--lr", "1e-4"]}
    spec["initContainers"] = [{"name": "init", "env": [env], "command": ["sh", "-c", f"export A_TOKEN={SECRET}; go"]}]
    spec["ephemeralContainers"] = [{"name": "debug", "env": [env]}]
    job.obj["metadata"]["annotations"] = {
        "kubectl.kubernetes.io/last-applied-configuration": f'{{"env": "{SECRET}"}}',
        "my.io/api-token": SECRET,
        "note": f"password={SECRET}",
    }
    job.obj["metadata"]["managedFields"] = [{"manager": SECRET}]
    manifest(job, server)
    response = part(people.member, job, "manifest")
    assert SECRET not in response.text
    assert SECRET not in str(response.headers)
    assert "- name: HF_TOKEN" in response.text
    assert "- --lr" in response.text
    assert "- 1e-4" in response.text


def test_no_log_line_holds_what_is_masked(
    server: ScriptedServer,
    job: Job,
    people: People,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    server.on(f"{WORKLOADS}/pytorchjob-train", status(500, f"{SECRET} of zebra-cq"))
    part(people.member, job, "manifest")
    told = caplog.text + "".join(capfd.readouterr())
    assert "live read failed" in told
    assert SECRET not in told
    assert "zebra" not in told


def test_other_teams_are_not_named(server: ScriptedServer, zoo: World, people: People) -> None:
    theirs = Job("zebra-llm", "hyperpod-ns-zebra", queue="zebra-cq", uid=THEIR_UID).admit(-30)
    job = Job("train").admit(-40).evict(-20, message=PREEMPTED)
    zoo.see(job, theirs)
    manifest(job, server)
    notes = [
        event(PREEMPTED), event("Preempted workload hyperpod-ns-zebra/zebra-job-7"),
        event("Preempted by hyperpod-ns-zebra/zebra-llm-0 on node n", by="default-scheduler"),
        event("0/16 nodes are available: image repo.example/train:1", by="default-scheduler"),
    ]  # fmt: skip
    server.on(f"{NAMESPACE}/events", listing(notes))
    server.on(f"{NAMESPACE}/pods", listing([pod(message="evicted for zebra-llm", reason="Evicted")]))
    for name in PARTS:
        text = part(people.member, job, name).text
        for other in ("zebra", THEIR_UID, UNKNOWN_UID):
            assert other not in text.lower(), name
        assert "[another team]" in text
        assert "zebra" in part(people.platform_admin, job, name).text
    assert "0/16 nodes are available: image repo.example/train:1" in part(people.member, job, "events").text


def test_where_names_are_switched_on_members_read_them(
    server: ScriptedServer, zoo: World, job: Job, people: People
) -> None:
    zoo.cluster.names_across_teams = True
    zoo.cluster.save()
    server.on(f"{NAMESPACE}/events", listing([event("Preempted workload hyperpod-ns-zebra/zebra-job-7")]))
    assert "hyperpod-ns-zebra/zebra-job-7" in part(people.member, job, "events").text
    assert part(people.neighbour, job, "events").status_code == 404


def test_our_own_words_stay_though_they_are_called_like_a_team(
    server: ScriptedServer, job: Job, people: People
) -> None:
    job.obj["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["args"] = ["--dataset", "vision"]
    manifest(job, server)
    assert "- vision" in part(people.member, job, "manifest").text


@pytest.mark.parametrize("name", PARTS)
def test_nothing_is_kept(server: ScriptedServer, job: Job, people: People, name: str) -> None:
    manifest(job, server)
    for response in (part(people.member, job, name), visit(people.member, url(job, name))):
        assert response.status_code == 200
        assert response.headers["Cache-Control"] == "no-store"
        assert "ETag" not in response.headers
        assert "HX-Request" in response.headers["Vary"]


@pytest.mark.parametrize("name", PARTS)
def test_each_part_is_a_page_of_its_own(server: ScriptedServer, job: Job, people: People, name: str) -> None:
    manifest(job, server)
    assert "<html" in visit(people.member, url(job, name)).text
    assert "<html" not in part(people.member, job, name).text


@pytest.mark.parametrize("name", PARTS)
def test_strangers_and_those_without_the_right_get_no_word(
    server: ScriptedServer, job: Job, people: People, name: str
) -> None:
    for user in (people.neighbour, people.stranger, people.finops):
        assert part(user, job, name).status_code == 404
    assert server.asked == []


def test_as_many_queries_for_many_pods_and_events_as_for_few(server: ScriptedServer, job: Job, people: People) -> None:
    client = Client(headers={"HX-Request": "true"})
    client.force_login(people.member)
    for name, many in (("pods", [pod(f"p-{n}", message=f"m-{n}") for n in range(50)]), ("events", [event("m")] * 50)):
        counts = []
        for items in (many[:1], many):
            server.on(f"{NAMESPACE}/{name}", listing(items))
            with CaptureQueriesContext(connection) as queries:
                assert client.get(url(job, name)).status_code == 200
            counts.append(len(queries))
        assert counts[0] == counts[1] <= 12


@pytest.mark.parametrize("odd", ["no-such-uid", "a%20b", "%F0%9F%98%80", "x" * 500, "..%2f..", "%3Cscript%3E"])
def test_an_odd_uid_is_not_found(server: ScriptedServer, people: People, odd: str) -> None:
    for name in PARTS:
        assert visit(people.platform_admin, f"/clusters/gpu-one/workloads/{odd}/{name}/").status_code == 404
    assert server.asked == []


TROUBLES = {
    "it is busy": (status(503), "The cluster does not answer now"),
    "it refuses": (status(403, "user portal may not"), "The cluster does not let the portal read this"),
    "it answers nonsense": (reply(b"<html>"), "The cluster's answer cannot be read"),
    "it answers a wrong kind": (reply({"kind": "Odd", "items": 7, "metadata": 7}), "The cluster"),
    "it breaks off": (chunks(b'{"items": ['), "The cluster"),
}


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("trouble", TROUBLES)
def test_trouble_with_the_cluster_is_a_sentence(
    server: ScriptedServer, job: Job, people: People, name: str, trouble: str
) -> None:
    answer, sentence = TROUBLES[trouble]
    for path in (f"{NAMESPACE}/pods", f"{NAMESPACE}/events", f"{WORKLOADS}/pytorchjob-train"):
        server.on(path, answer)
    response = part(people.member, job, name)
    assert response.status_code == 200
    assert sentence in words(response)
    assert "Read again" in words(response)
    assert "user portal" not in response.text


def test_what_the_cluster_said_is_for_platform_roles(server: ScriptedServer, job: Job, people: People) -> None:
    server.on(f"{NAMESPACE}/pods", status(403, "user portal may not"))
    assert "user portal may not" in words(part(people.platform_admin, job, "pods"))


def test_a_cluster_that_is_not_there(server: ScriptedServer, job: Job, people: People) -> None:
    server.close()
    assert "The cluster does not answer now" in words(part(people.member, job, "pods"))


def test_a_cluster_without_a_readable_kubeconfig(server: ScriptedServer, zoo: World, job: Job, people: People) -> None:
    zoo.cluster.kubeconfig_path = "/nowhere"
    zoo.cluster.save()
    assert "The portal cannot reach the cluster" in words(part(people.member, job, "pods"))


def test_a_silent_cluster_is_given_up_after_seconds(
    server: ScriptedServer, job: Job, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (live_reads.IMPATIENT.connect, live_reads.IMPATIENT.read, live_reads.IMPATIENT.again) == (2, 3, 0)
    monkeypatch.setattr(live_reads, "IMPATIENT", live_reads.IMPATIENT.__class__(0.2, 0.1, 0.3, 0))
    live_reads._client.cache_clear()
    server.on(f"{NAMESPACE}/pods", hang(server))
    assert "The cluster does not answer now" in words(part(people.member, job, "pods"))
    live_reads._client.cache_clear()


def test_no_transaction_is_open_while_the_cluster_is_asked(
    server: ScriptedServer, job: Job, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def look(*_: object) -> tuple[()]:
        seen.append((len(connection.savepoint_ids), connection.in_atomic_block))
        return ()

    outside = (len(connection.savepoint_ids), connection.in_atomic_block)  # the test's own
    monkeypatch.setattr(live_reads, "events_about", look)
    part(people.member, job, "events")
    assert seen == [outside] * 2


def test_so_many_wait_at_a_time(
    server: ScriptedServer, job: Job, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_reads, "_WAIT_SECONDS", 0.01)
    for _ in range(live_reads._AT_ONCE):
        live_reads._places.acquire()
    try:
        assert "The cluster does not answer now" in words(part(people.member, job, "pods"))
        assert server.asked == []
    finally:
        live_reads._places.release(live_reads._AT_ONCE)
    assert "No pod of this job is there" in words(part(people.member, job, "pods"))


def test_a_cluster_that_moved_is_found_again(server: ScriptedServer, zoo: World, job: Job, people: People) -> None:
    empty = {"metadata": {"resourceVersion": "1"}, "items": []}
    server.on(f"{NAMESPACE}/pods", reply(empty, Connection="close"))
    assert "No pod of this job is there" in words(part(people.member, job, "pods"))
    server.close()
    moved = ScriptedServer()
    moved.on(f"{NAMESPACE}/pods", listing([pod()]))
    write_kubeconfig(Path(zoo.cluster.kubeconfig_path), moved.url)
    assert "The cluster does not answer now" in words(part(people.member, job, "pods"))
    assert "train-0" in words(part(people.member, job, "pods"))
    moved.close()


def test_one_that_the_cluster_has_no_more(server: ScriptedServer, job: Job, people: People) -> None:
    server.on(f"{WORKLOADS}/pytorchjob-train", status(404))
    assert "The cluster has it no more" in words(part(people.member, job, "manifest"))


def test_a_namesake_is_not_shown_in_its_place(server: ScriptedServer, job: Job, people: People) -> None:
    for metadata in ({"name": "pytorchjob-train", "uid": "another"}, {}, None, 7):
        manifest(job, server, metadata=metadata, spec={"secret": SECRET})
        response = part(people.member, job, "manifest")
        assert "The cluster has it no more" in words(response)
        assert SECRET not in response.text


def test_malformed_objects_do_not_break_the_part(server: ScriptedServer, job: Job, people: People) -> None:
    odd = [{}, {"metadata": None}, {"metadata": {"name": 1, "uid": 2}}, 7, None, pod("good")]
    server.on(f"{NAMESPACE}/pods", listing(odd))
    text = words(part(people.member, job, "pods"))
    assert "good" in text
    assert "pods cannot be read and are left out" in text
    server.on(f"{NAMESPACE}/events", listing([{}, 7, None, {"involvedObject": 3}, event("good")]))
    assert "good" in words(part(people.member, job, "events"))
    manifest(job, server, spec=[None, {"env": 7, "args": "x", "annotations": ["y"]}], status={"message": {"a": 1}})
    assert part(people.member, job, "manifest").status_code == 200


def test_odd_names_and_texts_are_text(server: ScriptedServer, zoo: World, people: People) -> None:
    for name in ("\u202egnp.exe", "שלום", "x" * 253, "<script>alert(1)</script>"):
        job = Job("train", uid=f"uid-{len(name)}").admit(-5).condition("Odd", True, -1, name, name)
        job.obj["metadata"]["ownerReferences"][0] |= {"name": name, "uid": "job-uid-hyperpod-ns-research-train"}
        zoo.see(job)
        server.on(f"{NAMESPACE}/pods", listing([pod(name, reason=name, message=name)]))
        server.on(f"{NAMESPACE}/events", listing([event(name, name, name)]))
        manifest(job, server)
        for each in PARTS:
            text = part(people.member, job, each).text
            assert "<script>alert" not in text
            assert each != "manifest" or "\u202e" not in text


def test_many_pods_those_in_trouble_first(server: ScriptedServer, job: Job, people: People) -> None:
    pods = [pod(f"train-{n}", phase="Failed" if n == 250 else "Running") for n in range(300)]
    server.on(f"{NAMESPACE}/pods", listing(pods))
    text = words(part(people.member, job, "pods"))
    assert text.index("train-250 Failed") < text.index("train-0 Running") < text.index("train-2 Running")
    assert "train-10 Running" in text
    assert "The first 100 of 300 pods, those in trouble first." in text


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_parts_are_read_only(server: ScriptedServer, job: Job, people: People, method: str) -> None:
    client = Client()
    client.force_login(people.platform_admin)
    assert getattr(client, method)(url(job, "pods")).status_code == 405
