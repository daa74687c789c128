"""Pulling 50,000 workloads from a real API server into PostgreSQL, against kubectl reading the same list.

    python -m bench.pull [WORKLOADS]

pull-first: into an empty ledger. pull-again: nothing changed since. Each runs in a process of its own, as a worker
would, in turn with `kubectl get workloads -A -o json`; the ratio is that of the medians. Prints the worker's peak
memory too.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench.cluster import api_server, fill
from tests.cluster.build import component
from tests.servers import postgresql

ROUNDS = 3


def main(workloads: int) -> None:
    with api_server() as plane, postgresql() as url:
        fill(plane, workloads)
        kubectl: list[float] = []
        first: list[dict[str, float]] = []
        again: list[dict[str, float]] = []
        run_kubectl(plane.kubeconfig)  # warms the server's watch cache
        for _ in range(ROUNDS):
            kubectl.append(run_kubectl(plane.kubeconfig))
            first.append(pull(plane.portal_kubeconfig, url, "first"))
            again.append(pull(plane.portal_kubeconfig, url, "again"))
    base = statistics.median(kubectl)
    print(f"{workloads} workloads, kubectl {base:.1f} s (each of {', '.join(f'{t:.1f}' for t in kubectl)})")
    report("pull-first", first, base, 0.6)
    report("pull-again", again, base, 0.25)


def report(name: str, runs: list[dict[str, float]], base: float, bound: float) -> None:
    seconds = statistics.median(run["seconds"] for run in runs)
    memory = max(run["megabytes"] for run in runs)
    print(f"{name}: {seconds:.1f} s, ratio {seconds / base:.2f} (must reach {bound}), worker {memory:.0f} MB (300)")


def run_kubectl(kubeconfig: Path) -> float:
    command = [str(component("kubernetes").folder / "kubectl"), f"--kubeconfig={kubeconfig}"]
    begun = time.monotonic()
    subprocess.run([*command, "get", "workloads", "-A", "-o", "json"], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begun


def pull(kubeconfig: Path, url: str, which: str) -> dict[str, float]:
    environment = {
        **os.environ,
        "PORTAL_MODE": "demo",
        "PORTAL_SECRET_KEY": "bench",
        "PORTAL_LOG_LEVEL": "WARNING",
        "PORTAL_DATABASE_URL": url,
        "DJANGO_SETTINGS_MODULE": "portal.settings",
    }
    command = [sys.executable, "-m", "bench.pull_worker", str(kubeconfig), which]
    told = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True).stdout
    answer: dict[str, float] = json.loads(told.splitlines()[-1])
    return answer


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50_000)
