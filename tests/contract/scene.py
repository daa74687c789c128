"""Two teams that share a cohort, and what befalls their Workloads, told without ids."""

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.cluster import jobs, objects
from tests.cluster.client import path
from tests.cluster.objects import GPU
from tests.contract.clusters import Cluster, fresh, wait_for

Json = dict[str, Any]

OWNERS, GUESTS = "owners", "guests"
QUOTA = {OWNERS: 6, GUESTS: 4}
_UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Scene:
    """Owners guarantee 6 GPUs, guests 4; each takes back from the other and lets priority decide within."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.admin, self.portal = cluster, cluster.admin, cluster.portal
        self.name = fresh("scene")
        self._uids: dict[str, str] = {}
        self.admin.create("namespaces", objects.namespace(self.name))
        self.admin.create("resourceflavors", objects.flavor(self.name))
        for team, gpus in QUOTA.items():
            self.admin.create("clusterqueues", self._queue(team, gpus))
            self.admin.create("localqueues", objects.local_queue(self.name, team, self.queue(team)))
        wait_for(cluster, "active queues", lambda: all(jobs.is_true(self._read_queue(t), "Active") for t in QUOTA))
        self._start = self.portal.call("GET", path("workloads", self.name))["metadata"]["resourceVersion"]

    def _queue(self, team: str, gpus: int) -> Json:
        preemption = {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}
        quota = objects.group((self.name, {GPU: gpus}))
        return objects.cluster_queue(self.queue(team), quota, cohort=self.name, preemption=preemption)

    def queue(self, team: str) -> str:
        return f"{self.name}-{team}"

    def _read_queue(self, team: str) -> Json:
        return self.portal.read("clusterqueues", self.queue(team))

    def submit(self, name: str, team: str, gpus: int, **spec: Any) -> None:
        """One pod of that many GPUs."""
        self.submit_pods(name, team, objects.pod_set({GPU: gpus}), **spec)

    def submit_pods(self, name: str, team: str, *pod_sets: Json, **spec: Any) -> None:
        created = self.admin.create("workloads", objects.workload(self.name, name, team, *pod_sets, **spec))
        self._uids[created["metadata"]["uid"]] = name

    def change_queue(self, team: str, **spec: Any) -> None:
        """Returns when Kueue's status is of the changed spec."""
        self.admin.merge("clusterqueues", self.queue(team), {"spec": spec})

        def is_fresh() -> bool:
            queue = self._read_queue(team)
            active = jobs.condition(queue, "Active")
            return active is not None and active["observedGeneration"] == queue["metadata"]["generation"]

        wait_for(self.cluster, "a fresh status", is_fresh)

    def cut_quota(self, team: str, gpus: int) -> None:
        self.change_queue(team, resourceGroups=[objects.group((self.name, {GPU: gpus}))])

    def stop_local_queue(self, team: str, policy: str) -> None:
        self.admin.merge("localqueues", team, {"spec": {"stopPolicy": policy}}, self.name)

    def activate(self, name: str, active: bool) -> None:
        self.admin.merge("workloads", name, {"spec": {"active": active}}, self.name)

    def release(self, name: str) -> None:
        jobs.release(self.admin, self.name, name, self.cluster.now())

    def finish(self, name: str) -> None:
        jobs.finish(self.admin, self.name, name, now=self.cluster.now())

    def workload(self, name: str) -> Json:
        return self.portal.read("workloads", name, self.name)

    def until(self, name: str, kind: str, status: str, reason: str = "") -> None:
        """Wait until that condition has that status and, when given, that reason."""

        def is_so() -> bool:
            found = jobs.condition(self.workload(name), kind)
            return found is not None and found["status"] == status and reason in ("", found["reason"])

        wait_for(self.cluster, f"{kind} {status} {reason} of {name}", is_so)

    def until_message(self, name: str, kind: str, message: str) -> None:
        wait_for(self.cluster, f"{message!r} of {name}", lambda: self.message(name, kind) == message)

    def until_event(self, name: str, reason: str, note: str) -> None:
        """Wait until an event about the Workload says so."""

        def told() -> bool:
            events = self.portal.call("GET", f"/apis/events.k8s.io/v1/namespaces/{self.name}/events")["items"]
            return (name, reason, note) in [
                (e["regarding"]["name"], e["reason"], self._plain(e["note"])) for e in events
            ]

        wait_for(self.cluster, f"event {reason} of {name}", told)

    def message(self, name: str, kind: str) -> str:
        """A condition's message with the scene's names in place of ids."""
        found = jobs.condition(self.workload(name), kind)
        return self._plain(found["message"]) if found else ""

    def _plain(self, text: str) -> str:
        named = _UID.sub(lambda uid: self._uids.get(uid[0], "?"), text)
        return named.replace(f"{self.name}-", "").replace(self.name, "shared")

    def evictions(self, name: str) -> list[tuple[str, str, int]]:
        """Reason, cause and count of each of Kueue's counters."""
        counters = self.workload(name)["status"]["schedulingStats"]["evictions"]
        return [(c["reason"], c["underlyingCause"], c["count"]) for c in counters]

    def reserves(self, team: str, total: int, *, borrowed: int) -> None:
        """Wait until the queue's own status says so, of what is reserved and of what is used."""

        def told() -> bool:
            status = self._read_queue(team)["status"]
            lines = [status[field][0]["resources"][0] for field in ("flavorsReservation", "flavorsUsage")]
            return [(line["total"], line["borrowed"]) for line in lines] == [(str(total), str(borrowed))] * 2

        wait_for(self.cluster, f"{team} reserving {total}, {borrowed} of it borrowed", told)

    def history(self, name: str) -> list[str]:
        """Every state of the Workload since the scene began: its conditions as TYPE=STATUS/REASON, sorted."""
        states = [_state(event["object"]) for event in self._events() if event["object"]["metadata"]["name"] == name]
        return [state for state, before in zip(states, [None, *states], strict=False) if state != before]

    def _events(self) -> Iterator[Json]:
        """All that a watch from the start tells, up to now."""
        end = fresh("end")
        self.admin.create("workloads", objects.workload(self.name, end, "nowhere", objects.pod_set({GPU: 1})))
        query = {"watch": "true", "resourceVersion": self._start, "timeoutSeconds": "20"}
        with self.portal.ask("GET", path("workloads", self.name), params=query, stream=True) as answer:
            for event in (json.loads(line) for line in answer.iter_lines() if line):
                if event["object"]["metadata"]["name"] == end:
                    return
                yield event
        raise AssertionError("the watch ended before it had told everything")


def _state(workload: Json) -> str:
    conditions = workload.get("status", {}).get("conditions", ())
    return " ".join(sorted(f"{c['type']}={c['status']}/{c['reason']}" for c in conditions))
