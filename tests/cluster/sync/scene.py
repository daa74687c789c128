"""Two teams that share a cohort on a real Kueue, each with a namespace, a ClusterQueue and a LocalQueue of its own."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from tests.cluster import jobs, objects
from tests.cluster.client import NOT_FOUND, Client, path
from tests.cluster.objects import GPU

Json = dict[str, Any]

OWNERS, GUESTS = "owners", "guests"
QUOTA = {OWNERS: 6, GUESTS: 4}
LOCAL_QUEUE = "main"

_numbers = count(1)


class Scene:
    """Each team takes back what it lent, and priority decides within. The names are the scene's own: planes are
    shared. Workloads have no job behind them, so tests release and finish them."""

    def __init__(self, admin: Client) -> None:
        self.admin = admin
        self.name = f"sync-{next(_numbers)}"
        self.flavor = self.name
        for team in QUOTA:
            admin.create("namespaces", objects.namespace(self.place(team)))
        self.set_up()

    def set_up(self) -> None:
        """Everything but the namespaces."""
        self.admin.create("resourceflavors", objects.flavor(self.flavor))
        for team, gpus in QUOTA.items():
            self.create_queue(team, gpus)
            self.admin.create("localqueues", objects.local_queue(self.place(team), LOCAL_QUEUE, self.place(team)))

    def wait_until_active(self) -> None:
        jobs.wait_for("active queues", lambda: all(jobs.is_true(self.queue(team), "Active") for team in QUOTA))

    def place(self, team: str) -> str:
        """The team's namespace, and its ClusterQueue."""
        return f"{self.name}-{team}"

    def create_queue(self, team: str, gpus: int) -> None:
        preemption = {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}
        quota = objects.group((self.flavor, {GPU: gpus}))
        self.admin.create(
            "clusterqueues", objects.cluster_queue(self.place(team), quota, cohort=self.name, preemption=preemption)
        )

    def queue(self, team: str) -> Json:
        return self.admin.read("clusterqueues", self.place(team))

    def change_queue(self, team: str, **spec: Any) -> None:
        """Returns when Kueue goes by the changed spec."""
        self.admin.merge("clusterqueues", self.place(team), {"spec": spec})

        def is_heeded() -> bool:
            queue = self.queue(team)
            active = jobs.condition(queue, "Active")
            return active is not None and active["observedGeneration"] == queue["metadata"]["generation"]

        jobs.wait_for("a status of the changed spec", is_heeded)

    def set_quota(self, team: str, *flavors: tuple[str, Mapping[str, Any]]) -> None:
        """The flavors with their limits, as `objects.group` takes them."""
        self.change_queue(team, resourceGroups=[objects.group(*flavors)])

    def submit(self, team: str, name: str, gpus: int, *, pods: int = 1, **spec: Any) -> None:
        """Pods of that many GPUs each."""
        pod_set = objects.pod_set({GPU: gpus}, pods)
        self.admin.create("workloads", objects.workload(self.place(team), name, LOCAL_QUEUE, pod_set, **spec))

    def admit(self, team: str, name: str, gpus: int, *, pods: int = 1, **spec: Any) -> Json:
        """Submit and wait for the admission."""
        self.submit(team, name, gpus, pods=pods, **spec)
        return self.until(team, name, "Admitted")

    def workload(self, team: str, name: str) -> Json:
        return self.admin.read("workloads", name, self.place(team))

    def until(
        self,
        team: str,
        name: str,
        kind: str,
        status: str = "True",
        reason: str = "",
        seconds: float = jobs.WAIT_SECONDS,
    ) -> Json:
        """The Workload once that condition has that status and, when given, that reason."""

        def look() -> Json | None:
            workload = self.workload(team, name)
            found = jobs.condition(workload, kind)
            is_so = found is not None and found["status"] == status and reason in ("", found["reason"])
            return workload if is_so else None

        found: Json = jobs.wait_for(f"{kind} {status} {reason} of {name}", look, seconds)
        return found

    def change(self, team: str, name: str, **spec: Any) -> None:
        self.admin.merge("workloads", name, {"spec": spec}, self.place(team))

    def release(self, team: str, name: str, *, at_once: bool = False) -> Json:
        """Stop an evicted Workload; `at_once`: as if it had been in the very second of its eviction."""
        evicted = self.until(team, name, "Evicted")
        decided = next(each for each in evicted["status"]["conditions"] if each["type"] == "Evicted")
        moment = datetime.fromisoformat(decided["lastTransitionTime"]) if at_once else None
        return jobs.release(self.admin, self.place(team), name, moment)

    @staticmethod
    def next_second(workload: Json) -> None:
        """Wait until what happens next has another time than the Workload's conditions, which know whole seconds."""
        last = max(condition["lastTransitionTime"] for condition in workload["status"]["conditions"])
        begins = datetime.fromisoformat(last) + timedelta(seconds=1)
        while (left := (begins - datetime.now(UTC)).total_seconds()) > 0:
            time.sleep(left)

    def finish(self, team: str, name: str, reason: str = "Succeeded") -> Json:
        return jobs.finish(self.admin, self.place(team), name, reason)

    def delete(self, team: str, name: str) -> None:
        self.admin.delete("workloads", name, self.place(team))

    def delete_queue(self, team: str) -> None:
        """Returns when it is gone."""
        self.admin.delete("clusterqueues", self.place(team))
        self.wait_for_the_end_of_the_queue(team)

    def wait_for_the_end_of_the_queue(self, team: str) -> None:
        address = path("clusterqueues", name=self.place(team))
        jobs.wait_for("the queue's end", lambda: self.admin.ask("GET", address).status_code == NOT_FOUND)

    def clear(self) -> None:
        """Make room for the next scene."""
        for team in QUOTA:
            for collection in ("workloads", "localqueues"):
                self.admin.call("DELETE", path(collection, self.place(team)))
            self.admin.ask("DELETE", path("clusterqueues", name=self.place(team)))
