"""How soon a change in the cluster is in the ledger: 50 status changes a second for a minute through the watcher.

    python -m bench.freshness [SECONDS]

A real API server, the watcher as its own process, PostgreSQL. Workloads go round: reserved and admitted, evicted,
quota released, and again, each state standing for 2 s. Measured from the API server's answer to the row being there.
At the end every object and every span must be in the ledger as the bench made them.
"""

import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import django

from bench.cluster import FLAVORS, REQUESTS, api_server, cluster_queue, local_queue
from tests.cluster.plane import ControlPlane
from tests.servers import postgresql

WORKLOADS, CHANGES_PER_SECOND = 100, 50
QUEUE = "queue-0"

Json = dict[str, Any]


def main(seconds: int) -> None:
    with api_server() as plane, postgresql() as url:
        use_portal(url, plane.portal_kubeconfig)
        plane.admin.create("clusterqueues", cluster_queue(0))
        plane.admin.create("namespaces", {"metadata": {"name": "ns-0"}})
        plane.admin.create("localqueues", local_queue(0))
        rounds = [Round(plane, number) for number in range(WORKLOADS)]
        with watcher(url):
            wait_until(lambda: len(stored_versions()) == WORKLOADS)
            with Observer() as observer:
                written = change(rounds, seconds)
                wait_until(lambda: all(stored_versions().get(r.uid) == r.version for r in rounds))
            waits = observer.waits(written)
        check(rounds)
    p95 = statistics.quantiles(waits, n=100)[94]
    print(f"{len(waits)} changes in {seconds} s; to the row: median {statistics.median(waits) * 1000:.0f} ms")
    print(
        f"freshness: p95 {p95 * 1000:.0f} ms, ratio {p95:.2f} of a second (must reach 1.00); all states and spans equal"
    )


def use_portal(url: str, kubeconfig: Path) -> None:
    os.environ.update(
        PORTAL_MODE="demo",
        PORTAL_SECRET_KEY="bench",
        PORTAL_LOG_LEVEL="WARNING",
        PORTAL_DATABASE_URL=url,
        DJANGO_SETTINGS_MODULE="portal.settings",
    )
    django.setup()
    from django.core.management import call_command

    from teams.models import Cluster

    call_command("migrate", verbosity=0)
    Cluster.objects.create(slug="bench", name="bench", access="kubeconfig", kubeconfig_path=str(kubeconfig))


@contextmanager
def watcher(url: str) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "manage.py", "watch_clusters"])
    try:
        yield
        assert process.poll() is None, "the watcher ended"
    finally:
        process.terminate()
        process.wait(30)


class Round:
    """One workload on its way round the states, and the spans it should leave."""

    def __init__(self, plane: ControlPlane, number: int) -> None:
        self.plane, self.name = plane, f"job-{number}"
        container = {"name": "c", "image": "x", "resources": {"requests": REQUESTS}}
        pod_set = {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}
        created = plane.admin.create(
            "workloads",
            {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "kind": "Workload",
                "metadata": {"name": self.name, "namespace": "ns-0"},
                "spec": {"queueName": "local", "podSets": [pod_set]},
            },
        )
        self.uid: str = created["metadata"]["uid"]
        self.version = int(created["metadata"]["resourceVersion"])
        self.step, self.spans = 0, 0
        self.conditions: dict[str, Json] = {}

    def advance(self) -> tuple[str, int, float]:
        """(uid, resourceVersion, when the API server had answered)."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        admission = [self._admit, self._evict, self._release][self.step % 3](now)
        self.step += 1
        status = {"conditions": list(self.conditions.values()), "admission": admission}
        answer = self.plane.admin.merge("workloads", self.name, {"status": status}, "ns-0", "status")
        self.version = int(answer["metadata"]["resourceVersion"])
        return self.uid, self.version, time.monotonic()

    def _set(self, kind: str, status: str, reason: str, now: str) -> None:
        self.conditions[kind] = {
            "type": kind, "status": status, "reason": reason, "message": "bench", "lastTransitionTime": now,
        }  # fmt: skip

    def _admit(self, now: str) -> Json:
        self.spans += 1
        self._set("QuotaReserved", "True", "QuotaReserved", now)
        self._set("Admitted", "True", "Admitted", now)
        self._set("Evicted", "False", "QuotaReserved", now)
        return self._admission()

    def _evict(self, now: str) -> Json:
        self._set("Evicted", "True", "Preempted", now)
        return self._admission()

    def _release(self, now: str) -> None:
        self._set("QuotaReserved", "False", "Pending", now)
        self._set("Admitted", "False", "NoReservation", now)

    def _admission(self) -> Json:
        assignment = {
            "name": "main", "count": 1, "flavors": dict.fromkeys(REQUESTS, FLAVORS[0]), "resourceUsage": REQUESTS,
        }  # fmt: skip
        return {"clusterQueue": QUEUE, "podSetAssignments": [assignment]}


class Observer:
    """Looks at the ledger every 20 ms and notes when each resourceVersion was first there."""

    def __init__(self) -> None:
        self.seen: dict[tuple[str, int], float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> "Observer":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stop.wait(0.02):
            now = time.monotonic()
            for key in stored_versions().items():
                self.seen.setdefault(key, now)

    def waits(self, written: list[tuple[str, int, float]]) -> list[float]:
        """Seconds until each written version, or a newer one of the same object, was in the ledger."""
        by_uid: dict[str, list[tuple[int, float]]] = {}
        for (uid, version), seen in self.seen.items():
            by_uid.setdefault(uid, []).append((version, seen))
        return [
            max(0.0, min(seen for version, seen in by_uid[uid] if version >= wanted) - at)
            for uid, wanted, at in written
        ]


def stored_versions() -> dict[str, int]:
    from jobs.models import Workload

    return dict(Workload.objects.values_list("uid", "resource_version"))


def change(rounds: list[Round], seconds: int) -> list[tuple[str, int, float]]:
    begun = time.monotonic()
    with ThreadPoolExecutor(8) as writers:  # an object's turn comes every other second, so never twice at once
        writing = []
        for number in range(seconds * CHANGES_PER_SECOND):
            time.sleep(max(0.0, begun + number / CHANGES_PER_SECOND - time.monotonic()))
            writing.append(writers.submit(rounds[number % WORKLOADS].advance))
        written = [each.result() for each in writing]
    late = time.monotonic() - begun - seconds
    assert late < seconds / 10, f"the API server took the changes {late:.1f} s late"
    return written


def check(rounds: list[Round]) -> None:
    """Every object's final state and every span that stood is in the ledger."""
    from jobs.models import Span, Workload

    for each in rounds:
        row = Workload.objects.get(uid=each.uid)
        assert {k: c["status"] for k, c in row.conditions.items()} == {
            k: c["status"] == "True" for k, c in each.conditions.items()
        }, each.name
        spans = Span.objects.filter(workload=row)
        assert spans.count() == each.spans, (each.name, spans.count(), each.spans)
        evicted = spans.filter(evicted_at__isnull=False).count()
        assert evicted == (each.step + 1) // 3, (each.name, evicted, each.step)


def wait_until(is_true: Any, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
