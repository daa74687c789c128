"""`python -m tests.cluster`, as `make cluster` and `make run CLUSTER=kueue` call it."""

import base64
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import requests
import yaml

from tests.cluster import jobs
from tests.cluster.client import Client
from tests.cluster.fixtures import require_binaries

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

START_SECONDS = 120
END_SECONDS = 30


def client_of(kubeconfig: Path) -> Client:
    """Who the kubeconfig names, reading what it carries alone."""
    read = yaml.safe_load(kubeconfig.read_text())
    cluster, user = read["clusters"][0]["cluster"], read["users"][0]["user"]
    authority = kubeconfig.with_suffix(".crt")
    authority.write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
    return Client(cluster["server"], user["token"], str(authority))


def borrowed(queue: dict[str, dict[str, list[dict[str, list[dict[str, str]]]]]]) -> bool:
    reserved = queue["status"]["flavorsReservation"]
    return any(line["borrowed"] != "0" for flavor in reserved for line in flavor["resources"])


def test_a_world_stands_moves_and_ends_on_interrupt(tmp_path: Path) -> None:
    require_binaries()
    kubeconfig = tmp_path / "kueue.kubeconfig"
    command = [sys.executable, "-m", "tests.cluster", "--moving", "--kubeconfig", str(kubeconfig)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        jobs.wait_for("the kubeconfig", lambda: kubeconfig.exists() or process.poll() is not None, START_SECONDS)
        portal = client_of(kubeconfig)
        queues = {queue["metadata"]["name"] for queue in portal.items("clusterqueues")}
        workloads = portal.items("workloads")

        assert {f"hyperpod-ns-{team}-clusterqueue" for team in ("research", "vision", "language", "serving")} <= queues
        assert any(jobs.is_true(w, "Admitted") for w in workloads)
        assert any(not jobs.is_true(w, "QuotaReserved") for w in workloads)
        jobs.wait_for("word of who borrows", lambda: any(map(borrowed, portal.items("clusterqueues"))))
        jobs.wait_for("pods that run", lambda: any(jobs.is_true(w, "PodsReady") for w in portal.items("workloads")))

        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=END_SECONDS)

    assert process.returncode == 0
    assert str(kubeconfig) in printed
    with pytest.raises(requests.ConnectionError):
        portal.items("clusterqueues")
