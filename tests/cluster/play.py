"""Plays a situation on a real Kueue and reads back what Kueue made of it."""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.cluster import jobs, objects
from tests.cluster.canary import Canary
from tests.cluster.client import NOT_FOUND, Client, ignored, path
from tests.cluster.situations import Situation

Json = dict[str, Any]

SIDE_BY_SIDE = 16
LABEL = "situation"
KINDS = {
    "resourceflavors": "ResourceFlavor",
    "cohorts": "Cohort",
    "clusterqueues": "ClusterQueue",
    "localqueues": "LocalQueue",
    "workloads": "Workload",
}
SETTLE_ROUNDS = 20
BATCH_SECONDS = 1.0  # for as long Kueue gathers reasons to try again what did not fit
PATIENCE_SECONDS = 120
WAITS = "Pending the preemption of"
ORDER_SECONDS = 5


def play_all(client: Client, situations: Iterable[Situation]) -> Iterator[Json]:
    """The answers to all of them, in their order; many are played at a time."""
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        yield from pool.map(lambda each: play(client, each), situations)


def play(client: Client, situation: Situation) -> Json:
    """Kueue's answer: the objects as they stand at the end, and each queue's order in the visibility API."""
    return _Play(client, situation).run()


class _Play:
    def __init__(self, client: Client, situation: Situation) -> None:
        self.client = client
        self.situation = situation
        self.name = situation.name
        self.renewals = 0
        self.canaries = 0

    def run(self) -> Json:
        self.client.create("namespaces", objects.namespace(self.name))
        for collection, manifest in self.situation.objects:
            self._create(collection, manifest)
        for step in self.situation.steps:
            self._STEPS[step["do"]](self, step)
        self._settle({})
        answer = self._read()
        self._clear()
        return answer

    def _create(self, collection: str, manifest: Json) -> None:
        metadata = {**manifest["metadata"], "labels": {LABEL: self.name}}
        self.client.create(collection, {**manifest, "metadata": metadata})

    def _arrive(self, step: Json) -> None:
        time.sleep(1 - time.time() % 1)  # the next second: creation times have no smaller unit
        for manifest in step["workloads"]:
            self._create("workloads", manifest)

    def _edit(self, step: Json) -> None:
        self.client.merge(step["collection"], step["name"], {"spec": step["spec"]})

    def _drop(self, step: Json) -> None:
        self.client.delete(step["collection"], step["name"])

    def _finish(self, step: Json) -> None:
        for workload in self._some(step, lambda w: jobs.is_true(w, "Admitted")):
            jobs.finish(self.client, self.name, workload["metadata"]["name"])

    def _give_back(self, step: Json) -> None:
        for workload in self._some(step, lambda w: jobs.is_true(w, "Admitted")):
            count = workload["spec"]["podSets"][0]["count"]
            jobs.give_back_pods(self.client, self.name, workload["metadata"]["name"], (count + 1) // 2)

    def _deactivate(self, step: Json) -> None:
        for workload in self._some(step, lambda w: not jobs.is_true(w, "Finished")):
            self.client.merge("workloads", workload["metadata"]["name"], {"spec": {"active": False}}, self.name)

    def _release(self, step: Json) -> None:
        self._settle({})
        for workload in self._some(step, jobs.must_release):
            jobs.release(self.client, self.name, workload["metadata"]["name"])

    def _some(self, step: Json, in_question: Callable[[Json], bool]) -> list[Json]:
        """That share of those in question, at least one if there are any."""
        found = [w for w in self._list("workloads") if in_question(w)]
        return found[: max(1, round(step["share"] * len(found)))]

    def _settle(self, step: Json) -> None:
        """Return when nothing but messages changed from one round to the next.

        Quiet alone tells nothing: a busy Kueue may take ten seconds to try a Workload or to write a queue's status. So
        each round sends a canary, which passes with the next one of every queue, and then renews the queues and waits
        until every status is of the new generation.
        """
        before = None
        for _ in range(SETTLE_ROUNDS):
            time.sleep(BATCH_SECONDS)
            self._send_canary()
            self._renew_queues()
            jobs.wait_for(f"fresh status of the queues of {self.name}", self._are_fresh, PATIENCE_SECONDS)
            after = self._state()
            if after == before:
                return
            before = after
        raise AssertionError(f"{self.name} did not settle in {SETTLE_ROUNDS} rounds")

    def _send_canary(self) -> None:
        self.canaries += 1
        canary = Canary(self.client, self.name, f"{self.name}-canary{self.canaries}")
        canary.send()
        jobs.wait_for(f"the canary of {self.name}", canary.is_through, PATIENCE_SECONDS)
        canary.remove()

    def _renew_queues(self) -> None:
        """Give every queue a new generation with another spelling of the same spec. That renews its weighted share,
        too, which else stays what it was after a sibling's quota changed."""
        self.renewals += 1
        selector: Json = {"matchExpressions": [] if self.renewals % 2 else None}
        for queue in self._list("clusterqueues"):
            with ignored(NOT_FOUND):  # one that is being deleted may go meanwhile
                self.client.merge("clusterqueues", queue["metadata"]["name"], {"spec": {"namespaceSelector": selector}})

    def _are_fresh(self) -> bool:
        return all(_observed(q) == q["metadata"]["generation"] for q in self._list("clusterqueues"))

    def _state(self) -> list[Any]:
        queues = [(_without_messages(q), q["spec"]["resourceGroups"]) for q in self._list("clusterqueues")]
        return [*queues, *((_without_messages(w), w["spec"]) for w in self._list("workloads"))]

    def _list(self, collection: str) -> list[Json]:
        namespace = self.name if collection in ("localqueues", "workloads") else ""
        return self.client.items(collection, namespace, labelSelector=f"{LABEL}={self.name}")

    def _read(self) -> Json:
        found = {collection: self._list(collection) for collection in KINDS}
        order = {q["metadata"]["name"]: self._order(q) for q in found["clusterqueues"]}
        items = [{**item, "kind": KINDS[collection]} for collection, items in found.items() for item in items]
        return {
            "fair_sharing": self.situation.fair_sharing,
            "order": order,
            "preemptors": self._preemptors(),
            "items": items,
        }

    def _order(self, queue: Json) -> list[str]:
        """The visibility API leaves out the one that the scheduler is trying: where that is one all the time, the
        longest list seen."""
        name, waiting = queue["metadata"]["name"], queue["status"]["pendingWorkloads"]
        longest: list[Json] = []
        end = time.monotonic() + ORDER_SECONDS
        while len(longest) < waiting and time.monotonic() < end:
            longest = max(longest, self.client.pending(name), key=len)
        return [f"{p['metadata']['namespace']}/{p['metadata']['name']}" for p in longest]

    def _preemptors(self) -> list[str]:
        """Whoever preempted or waited for victims to stop, at any time: events tell, conditions are overwritten."""
        events = self.client.call("GET", f"/apis/events.k8s.io/v1/namespaces/{self.name}/events")["items"]
        found = (e["regarding"]["name"] for e in events if e["reason"] == "PreemptedWorkload" or WAITS in e["note"])
        return sorted({f"{self.name}/{name}" for name in found})

    def _clear(self) -> None:
        """Make room in Kueue; nobody waits for the end of it."""
        for collection in ("workloads", "localqueues"):
            self.client.call("DELETE", path(collection, self.name))
        for collection in ("clusterqueues", "cohorts", "resourceflavors"):
            self.client.call("DELETE", path(collection), params={"labelSelector": f"{LABEL}={self.name}"})

    _STEPS = {
        "arrive": _arrive,
        "edit": _edit,
        "drop": _drop,
        "finish": _finish,
        "give back": _give_back,
        "deactivate": _deactivate,
        "release": _release,
        "settle": _settle,
    }


def _observed(queue: Json) -> int | None:
    active = jobs.condition(queue, "Active")
    return active["observedGeneration"] if active else None


def _without_messages(obj: Json) -> Any:
    """The status, its conditions reduced to what they say."""
    status = dict(obj.get("status", {}))
    conditions = [(c["type"], c["status"], c["reason"]) for c in status.pop("conditions", ())]
    return obj["metadata"]["name"], status, conditions
