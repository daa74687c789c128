"""`python -m tests.cluster`, as `make cluster` and `make run CLUSTER=kueue` call it."""

import base64
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from tests.cluster import jobs
from tests.cluster.client import Client
from tests.cluster.fixtures import require_binaries

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

Json = dict[str, Any]

TEAMS = ("research", "vision", "language", "serving")
START_SECONDS = 300
END_SECONDS = 60


def client_of(kubeconfig: Path) -> Client:
    """Who the kubeconfig names, reading what it carries alone."""
    read = yaml.safe_load(kubeconfig.read_text())
    cluster, user = read["clusters"][0]["cluster"], read["users"][0]["user"]
    authority = kubeconfig.with_suffix(".crt")
    authority.write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
    return Client(cluster["server"], user["token"], str(authority))


def borrowed(queue: Json) -> bool:
    reserved = queue["status"]["flavorsReservation"]
    return any(line["borrowed"] != "0" for flavor in reserved for line in flavor["resources"])


@contextmanager
def started(kubeconfig: Path) -> Iterator[subprocess.Popen[str]]:
    """Ended with the block, however that ends."""
    command = [sys.executable, "-m", "tests.cluster", "--moving", "--kubeconfig", str(kubeconfig)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


def test_a_world_stands_moves_and_ends_on_interrupt(tmp_path: Path) -> None:
    require_binaries()
    kubeconfig = tmp_path / "kueue.kubeconfig"
    with started(kubeconfig) as process:
        jobs.wait_for("the kubeconfig", lambda: kubeconfig.exists() or process.poll() is not None, START_SECONDS)
        portal = client_of(kubeconfig)

        def until(what: str, kind: str, is_so: Callable[[Json], bool]) -> None:
            jobs.wait_for(what, lambda: any(map(is_so, portal.items(kind))))

        queues = {queue["metadata"]["name"] for queue in portal.items("clusterqueues")}
        assert {f"hyperpod-ns-{team}-clusterqueue" for team in TEAMS} <= queues
        until("a job that runs", "workloads", lambda each: jobs.is_true(each, "Admitted"))
        until("a job that waits", "workloads", lambda each: not jobs.is_true(each, "QuotaReserved"))
        until("a queue that borrows", "clusterqueues", borrowed)
        until("pods that run", "workloads", lambda each: jobs.is_true(each, "PodsReady"))

        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=END_SECONDS)

    assert process.returncode == 0
    assert str(kubeconfig) in printed
    with pytest.raises(requests.ConnectionError):
        portal.items("clusterqueues")
