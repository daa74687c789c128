import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
import yaml
from kubernetes import client, config

from emulator.embedded import running
from emulator.kubeconfig import tokens_of
from emulator.server import Emulator, Options
from tests.emulator import manifests
from tests.emulator.client import KUEUE, Client, names

WORKLOADS = f"{KUEUE}/namespaces/team/workloads"


def held(path: Path, **options: object) -> Options:
    return Options(store=path / "store.json", kubeconfig=path / "kubeconfig", world="none", paused=True, **options)  # type: ignore[arg-type]


def set_up(admin: Client) -> None:
    admin.create("/api/v1/namespaces", manifests.namespace("team"))
    admin.create(f"{KUEUE}/resourceflavors", manifests.flavor())
    admin.create(f"{KUEUE}/clusterqueues", manifests.cluster_queue("a", 4))
    admin.create(f"{KUEUE}/namespaces/team/localqueues", manifests.local_queue("a", "a"))


def test_a_restart_brings_everything_back_and_forgets_the_past(tmp_path: Path) -> None:
    with running(held(tmp_path)) as first:
        admin = Client(first.url, first.tokens.admin)
        set_up(admin)
        admin.create(WORKLOADS, manifests.job("job", "a", 1, start=0, run=100))
        admin.step(1)
        before = admin.get(f"{KUEUE}/workloads")
    with running(held(tmp_path)) as second:
        assert second.tokens == first.tokens
        admin = Client(second.url, second.tokens.admin)
        after = admin.get(f"{KUEUE}/workloads")
        assert after["items"] == before["items"]
        assert int(after["metadata"]["resourceVersion"]) >= int(before["metadata"]["resourceVersion"])
        (event,) = admin.watched(f"{KUEUE}/workloads?watch=1&resourceVersion=3")
        assert event["object"]["code"] == 410


def test_the_time_between_two_starts_is_a_standstill(tmp_path: Path) -> None:
    with running(held(tmp_path)) as first:
        admin = Client(first.url, first.tokens.admin)
        set_up(admin)
        admin.create(WORKLOADS, manifests.job("job", "a", 1, start=0, run=100))
        admin.step(60)
    store = tmp_path / "store.json"
    saved = json.loads(store.read_text())
    a_day_before = re.sub(r"^(....)", lambda year: str(int(year[1]) - 1), saved["stopped"])
    store.write_text(json.dumps({**saved, "stopped": a_day_before}))
    with running(held(tmp_path)) as second:
        admin = Client(second.url, second.tokens.admin)
        admin.step(1)
        assert admin.get(f"{WORKLOADS}/job")["status"]["conditions"][-1]["type"] != "Finished"
        assert orjson.loads(store.read_bytes())["stopped"] == a_day_before


def test_the_clock_does_not_run_backwards_over_a_restart(tmp_path: Path) -> None:
    with running(held(tmp_path)) as first:
        ahead = Client(first.url, first.tokens.admin).step(7200)["now"]
    with running(held(tmp_path)) as second:
        assert Client(second.url, second.tokens.admin).get("/emulator/clock")["now"] >= ahead


def test_a_store_that_cannot_be_read_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "store.json").write_text("{nope")
    with pytest.raises(ValueError, match=r"store\.json"), running(held(tmp_path)):
        pass


def test_a_taken_port_stops_the_start(tmp_path: Path) -> None:
    with running(held(tmp_path)) as first:
        port = int(first.url.rsplit(":", 1)[1])
        with pytest.raises(OSError), running(Options(port=port, world="none")):
            pass


def test_it_saves_now_and_then_and_only_what_changed(tmp_path: Path) -> None:
    async def play() -> list[int]:
        emulator = Emulator(held(tmp_path), save_seconds=0.01)
        await emulator.start()
        await asyncio.sleep(0.05)
        first = (tmp_path / "store.json").stat().st_mtime_ns
        await asyncio.sleep(0.05)
        second = (tmp_path / "store.json").stat().st_mtime_ns
        emulator.cluster.store.create("things", {"metadata": {"name": "x"}}, emulator.cluster.clock.now())
        await asyncio.sleep(0.05)
        third = (tmp_path / "store.json").stat().st_mtime_ns
        await emulator.stop()
        return [first, second, third]

    first, second, third = asyncio.run(play())
    assert first == second < third


@pytest.fixture
def live() -> Iterator[Client]:
    """An empty one whose time runs."""
    with running(Options(world="none")) as started:
        yield Client(started.url, started.tokens.admin)


def test_a_running_cluster_reacts_to_a_write_at_once(live: Client) -> None:
    set_up(live)
    version = live.get(f"{KUEUE}/workloads")["metadata"]["resourceVersion"]
    told: list[dict[str, object]] = []
    path = f"{WORKLOADS}?watch=1&timeoutSeconds=1&resourceVersion={version}"
    thread = threading.Thread(target=lambda: told.extend(Client.watched(live, path)))
    thread.start()
    live.create(WORKLOADS, manifests.workload("w", "a", 1))
    deadline = time.monotonic() + 5
    while "admission" not in live.get(f"{WORKLOADS}/w").get("status", {}):
        assert time.monotonic() < deadline
    thread.join()
    assert [event["type"] for event in told] == ["ADDED", "MODIFIED"]


def test_a_stop_ends_open_watches(tmp_path: Path) -> None:
    ended = threading.Event()
    with running(held(tmp_path)) as started:
        reader = Client(started.url, started.tokens.portal)

        def read() -> None:
            reader.watched("/api/v1/nodes?watch=1&timeoutSeconds=60")
            ended.set()

        thread = threading.Thread(target=read)
        thread.start()
        time.sleep(0.1)
        began = time.monotonic()
    assert time.monotonic() - began < 5
    thread.join(5)
    assert ended.is_set()


def test_the_official_client_reads_it(tmp_path: Path) -> None:
    with running(held(tmp_path)) as started:
        set_up(Client(started.url, started.tokens.admin))
        api = config.new_client_from_config(str(tmp_path / "kubeconfig"))
        assert "team" in [n.metadata.name for n in client.CoreV1Api(api).list_namespace().items]
        queues = client.CustomObjectsApi(api).list_cluster_custom_object("kueue.x-k8s.io", "v1beta2", "clusterqueues")
        assert names(queues) == ["a"]
        with pytest.raises(client.ApiException) as refused:
            client.CoreV1Api(api).delete_node("none")
        assert refused.value.status == 403


def test_the_command_runs_until_it_is_told_to_stop(tmp_path: Path) -> None:
    options = ["--world", "none", "--paused", "--store", str(tmp_path / "store.json")]
    command = [sys.executable, "-m", "emulator", "--kubeconfig", str(tmp_path / "kubeconfig"), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
    assert process.stdout is not None
    ready = re.fullmatch(r"emulator ready: (http://127\.0\.0\.1:\d+)\n", process.stdout.readline())
    assert ready
    kubeconfig = yaml.safe_load((tmp_path / "kubeconfig").read_text())
    assert kubeconfig["clusters"][0]["cluster"]["server"] == ready[1]
    token = kubeconfig["users"][0]["user"]["token"]
    assert "kube-system" in names(Client(ready[1], token).get("/api/v1/namespaces"))
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=10)
    assert (process.returncode, errors) == (0, "")
    assert (tmp_path / "store.json").exists()


def test_an_attended_command_ends_with_its_parent_and_begins_when_it_is_told_to(tmp_path: Path) -> None:
    options = ["--world", "none", "--paused", "--attended", "--begin", "2026-01-02T03:04:05+00:00"]
    command = [sys.executable, "-m", "emulator", "--kubeconfig", str(tmp_path / "kubeconfig"), *options]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    url = process.stdout.readline().split()[-1]
    token = tokens_of(tmp_path / "kubeconfig").admin
    assert Client(url, token).get("/emulator/clock")["now"] == "2026-01-02T03:04:05.000000Z"
    process.stdin.close()
    assert process.wait(10) == 0
    process.stdout.close()
