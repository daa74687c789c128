"""The emulated cluster in the hands of a test."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import yaml

from scheduling import names
from tests.cluster import objects
from tests.cluster.client import Client, Json

MORE_THAN_THERE_ARE = 400
"""GPUs of a job that waits for ever."""
_NOT_ASKED_YET = count(MORE_THAN_THERE_ARE)  # Kueue tries nothing that asks for the same as what it refused before
FIRST = 1_000_000
_MOST_SECONDS = 60


class EmulatedCluster:
    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        tokens = {user["name"]: user["user"]["token"] for user in config["users"]}
        self._admin = Client(config["clusters"][0]["cluster"]["server"], tokens["admin"])

    @contextmanager
    def held(self) -> Iterator[None]:
        """Its clock stands; what was submitted meanwhile is removed again."""
        self._submitted: set[tuple[str, str]] = set()
        self._clock("pause")
        try:
            yield
            for namespace, name in self._submitted:
                self._admin.delete("workloads", name, namespace)
        finally:
            self._clock("resume")

    def submit(self, name: str, team: str = "research") -> None:
        """A job without an owner, ahead of all others in its queue but those submitted before it."""
        namespace = f"hyperpod-ns-{team}"
        place = FIRST - len(self._submitted)  # the clock stands, so time decides nothing
        pods = objects.pod_set({objects.GPU: next(_NOT_ASKED_YET)})
        self._admin.create(
            "workloads", objects.workload(namespace, name, f"{namespace}-localqueue", pods, priority=place)
        )
        self._submitted.add((namespace, name))

    def leave_waiting(self, most: int, team: str = "research") -> None:
        """Of the team's jobs that wait only so many stay: the owners of the others no longer want them."""
        namespace = f"hyperpod-ns-{team}"
        for each in [job for job in self._admin.items("workloads", namespace) if _waits(job)][most:]:
            self._admin.delete("workloads", each["metadata"]["name"], namespace)

    def let_kueue_refuse(self, name: str, team: str = "research") -> None:
        """Time passes until its turn has come and Kueue has said why it cannot start."""
        for _ in range(_MOST_SECONDS):
            if self._admin.read("workloads", name, f"hyperpod-ns-{team}").get("status", {}).get("conditions"):
                return
            self._clock("step", {"seconds": 1})
        raise AssertionError(f"Kueue did not look at {name} within {_MOST_SECONDS} s")

    def remove(self, name: str, team: str = "research") -> None:
        namespace = f"hyperpod-ns-{team}"
        self._admin.delete("workloads", name, namespace)
        self._submitted.remove((namespace, name))

    def switch_off(self, name: str, team: str = "research") -> None:
        """Its owner no longer wants it to start."""
        self._admin.merge("workloads", name, {"spec": {"active": False}}, f"hyperpod-ns-{team}")
        self._clock("step", {"seconds": 0})

    def _clock(self, lever: str, body: object = None) -> None:
        self._admin.call("POST", f"/emulator/clock/{lever}", json=body)


def _waits(workload: Json) -> bool:
    conditions = workload.get("status", {}).get("conditions", [])
    true = {each["type"] for each in conditions if each["status"] == "True"}
    return not true & {names.QUOTA_RESERVED, names.FINISHED}
