"""What a job controller does for its Workload, done for Workloads without a job; and waiting for what Kueue decides."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tests.cluster.client import CONFLICT, Client, Refused

Json = dict[str, Any]

WAIT_SECONDS = 60  # a busy machine is slow


def condition(workload: Json, kind: str) -> Json | None:
    """The condition of that type."""
    found = workload.get("status", {}).get("conditions", ())
    return next((c for c in found if c["type"] == kind), None)


def is_true(workload: Json, kind: str) -> bool:
    found = condition(workload, kind)
    return found is not None and found["status"] == "True"


def must_release(workload: Json) -> bool:
    """Whether Kueue waits for the job behind this Workload to stop."""
    return is_true(workload, "Evicted") and is_true(workload, "QuotaReserved") and not is_true(workload, "Finished")


def release(client: Client, namespace: str, name: str, now: datetime | None = None) -> Json:
    """Give the quota of an evicted Workload back, as a job controller does once the job has stopped."""
    moment = now or datetime.now(UTC)

    def change(workload: Json) -> None:
        evicted = condition(workload, "Evicted")
        assert evicted is not None, f"{namespace}/{name} is not evicted"
        status, reason, message = workload["status"], evicted["reason"], evicted["message"]
        admitted = condition(workload, "Admitted")
        if admitted and admitted["status"] == "True":
            past = status.get("accumulatedPastExecutionTimeSeconds", 0)
            status["accumulatedPastExecutionTimeSeconds"] = past + _seconds(admitted["lastTransitionTime"], moment)
            _set(workload, "Admitted", "False", "NoReservation", "The workload has no reservation", moment)
        _set(
            workload,
            "Requeued",
            "True" if reason in ("Preempted", "NodeFailures") else "False",
            reason,
            message,
            moment,
        )
        _set(workload, "QuotaReserved", "False", "Pending", message, moment)
        status.pop("admission", None)

    return _change_status(client, namespace, name, change)


def start(client: Client, namespace: str, name: str) -> Json:
    """All pods of an admitted Workload run."""

    def change(workload: Json) -> None:
        running = "All pods reached readiness and the workload is running"
        _set(workload, "PodsReady", "True", "Started", running, datetime.now(UTC))

    return _change_status(client, namespace, name, change)


def finish(client: Client, namespace: str, name: str, reason: str = "Succeeded", now: datetime | None = None) -> Json:
    """End a Workload as its job would; `reason` is Succeeded or Failed."""
    moment = now or datetime.now(UTC)

    def change(workload: Json) -> None:
        _set(workload, "Finished", "True", reason, "Job finished", moment)

    return _change_status(client, namespace, name, change)


def answer_check(client: Client, namespace: str, name: str, state: str) -> Json:
    """What the controller of a Workload's one admission check finds: Ready, Retry or Rejected."""

    def change(workload: Json) -> None:
        (check,) = workload["status"]["admissionChecks"]
        check |= {
            "state": state,
            "message": f"the test says {state}",
            "lastTransitionTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }

    return _change_status(client, namespace, name, change)


def give_back_pods(client: Client, namespace: str, name: str, count: int) -> Json:
    """Mark `count` pods of the first pod set as done: their quota is free again."""

    def change(workload: Json) -> None:
        pod_set = workload["spec"]["podSets"][0]["name"]
        workload["status"]["reclaimablePods"] = [{"name": pod_set, "count": count}]

    return _change_status(client, namespace, name, change)


def wait_for(what: str, look: Callable[[], Any], seconds: float = WAIT_SECONDS) -> Any:
    """What `look` returns once it is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.1)
    raise AssertionError(f"{what} did not happen in {seconds:.0f} s")


def wait_until_true(client: Client, namespace: str, name: str, kind: str) -> Json:
    """The Workload once its condition of that type is true."""

    def look() -> Json | None:
        workload = client.read("workloads", name, namespace)
        return workload if is_true(workload, kind) else None

    found: Json = wait_for(f"{kind} of {namespace}/{name}", look)
    return found


def _change_status(client: Client, namespace: str, name: str, change: Callable[[Json], None]) -> Json:
    while True:
        workload = client.read("workloads", name, namespace)
        change(workload)
        try:
            return client.replace("workloads", workload, "status")
        except Refused as error:
            if error.status != CONFLICT:
                raise


def _set(workload: Json, kind: str, status: str, reason: str, message: str, now: datetime) -> None:
    conditions = workload.setdefault("status", {}).setdefault("conditions", [])
    old = condition(workload, kind)
    moved = old is None or old["status"] != status
    time_text = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    new = {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "observedGeneration": workload["metadata"].get("generation", 1),
        "lastTransitionTime": time_text if moved or old is None else old["lastTransitionTime"],
    }
    workload["status"]["conditions"] = [c for c in conditions if c["type"] != kind] + [new]


def _seconds(since: str, now: datetime) -> int:
    return int((now - datetime.fromisoformat(since)).total_seconds())
