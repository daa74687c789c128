"""Random situations, and what Kueue's own scheduler code makes of them. Records both for the fast tests:

    python -m tests.scheduling.decisions

Needs Go: `oracle/` is built against Kueue's module and run in this process' place. Flat cohorts have every classical
preemption policy; in deeper trees nobody preempts, since that is beyond `scheduling.preemption`.
"""

import json
import lzma
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.scheduling.builders import (
    GPU,
    admitted_json,
    cohort_json,
    condition,
    groups,
    meta,
    queue_json,
    quota,
    workload_json,
)

Json = dict[str, Any]

ORACLE = Path(__file__).parent / "oracle"
RECORDED = Path(__file__).parent / "fixtures" / "decisions.jsonl.xz"
SITUATIONS, HEADS = 300, 4
HUGE = ("9E", "5E", "9223372036854775807")


def main() -> None:
    rng = random.Random(20261008)
    situations = [Situation(rng).build() for _ in range(SITUATIONS)]
    answers = ask(situations)
    lines = [json.dumps({"asked": s, "answer": a}) for s, a in zip(situations, answers, strict=True)]
    RECORDED.write_bytes(lzma.compress("\n".join(lines).encode(), preset=9))
    sys.stdout.write(f"{len(lines)} situations, {RECORDED.stat().st_size} bytes\n")


def ask(situations: list[Json]) -> list[Json]:
    """Kueue's answers, one for each situation."""
    with tempfile.TemporaryDirectory() as folder:
        binary = Path(folder) / "oracle"
        environment = {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local"}
        subprocess.run(["go", "build", "-mod=readonly", "-o", binary, "."], cwd=ORACLE, env=environment, check=True)
        asked = "\n".join(json.dumps(s) for s in situations)
        told = subprocess.run([binary], input=asked, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in told.stdout.splitlines()]


def recorded() -> Iterator[Json]:
    """What was recorded: `asked` and `answer` of each situation."""
    for line in lzma.decompress(RECORDED.read_bytes()).decode().splitlines():
        yield json.loads(line)


class Situation:
    """Queues under one root cohort, workloads that run in them, and heads that wait."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.is_flat = rng.random() < 0.75
        self.has_huge_quotas = rng.random() < 0.15
        self.flavors = [f"f{i}" for i in range(rng.randint(1, 3))]
        self.resources = rng.choice(([GPU], [GPU, "cpu"]))
        self.cohorts = ["root"] if self.is_flat else ["root", *(f"c{i}" for i in range(rng.randint(1, 3)))]

    def build(self) -> Json:
        queues = [self.queue(f"q{i}") for i in range(self.rng.randint(1, 5))]
        reserved_at = sorted(self.rng.sample(range(3000), self.rng.randint(0, 13)))
        return {
            "queues": queues,
            "cohorts": list(self.cohort_objects()),
            "flavors": [{"kind": "ResourceFlavor", "metadata": meta(f), "spec": {}} for f in self.flavors],
            "workloads": [self.running(f"w{i:02}", queues, second) for i, second in enumerate(reserved_at)],
            "heads": [self.head(f"h{i}", self.rng.choice(queues)) for i in range(HEADS)],
        }

    def cohort_objects(self) -> Iterator[Json]:
        for i, name in enumerate(self.cohorts):
            if not self.is_flat or self.rng.random() < 0.5:
                parent = self.rng.choice(self.cohorts[:i]) if i else None
                yield cohort_json(name, self.groups(self.flavors, limited=parent is not None), parent)

    def queue(self, name: str) -> Json:
        cohort = None if self.rng.random() < 0.07 else self.rng.choice(self.cohorts)
        flavors = self.rng.sample(self.flavors, self.rng.randint(1, len(self.flavors)))
        return queue_json(
            name,
            self.groups(flavors, limited=cohort is not None),
            cohort,
            namespaceSelector={},
            queueingStrategy="BestEffortFIFO",
            stopPolicy="None",
            flavorFungibility={"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
            preemption=self.preemption(),
        )

    def preemption(self) -> Json:
        if not self.is_flat or self.rng.random() < 0.2:
            return {"withinClusterQueue": "Never", "reclaimWithinCohort": "Never"}
        reclaim = self.rng.choice(("Never", "LowerPriority", "Any"))
        within = self.rng.choice(("Never", "LowerPriority", "LowerOrNewerEqualPriority"))
        policies: Json = {"withinClusterQueue": within, "reclaimWithinCohort": reclaim}
        if reclaim != "Never" and self.rng.random() < 0.4:
            policies["borrowWithinCohort"] = {"policy": "LowerPriority"}
            if self.rng.random() < 0.6:
                policies["borrowWithinCohort"]["maxPriorityThreshold"] = self.rng.randrange(4)
        return policies

    def groups(self, flavors: list[str], limited: bool) -> list[Json]:
        return groups(*((f, {r: self.quota(limited) for r in self.resources}) for f in flavors))

    def quota(self, limited: bool) -> Json:
        limits = (self.amount(8) if limited and self.rng.random() < 0.5 else None for _ in range(2))
        return quota(self.amount(12), *limits)

    def amount(self, below: int) -> str:
        if self.has_huge_quotas and self.rng.random() < 0.3:
            return self.rng.choice(HUGE)
        return str(self.rng.randrange(below))

    def running(self, name: str, queues: list[Json], reserved: int) -> Json:
        queue = self.rng.choice(queues)
        flavor = self.rng.choice(queue["spec"]["resourceGroups"][0]["flavors"])["name"]
        usage = {r: str(self.rng.randint(1, 5)) for r in self.wanted()}
        workload = admitted_json(name, queue["metadata"]["name"], usage, flavor, reserved=reserved, **self.standing())
        if self.rng.random() < 0.15:
            workload["status"]["conditions"].append(condition("Evicted", "True", "Preempted", since=reserved))
        return workload

    def head(self, name: str, queue: Json) -> Json:
        requests = {r: str(self.rng.randint(r == GPU, 8)) for r in self.wanted()}
        workload = workload_json(name, requests, self.rng.choice((1, 1, 2)), **self.standing())
        if self.rng.random() < 0.25:
            more = workload_json(name, {GPU: str(self.rng.randint(1, 4))})["spec"]["podSets"][0]
            workload["spec"]["podSets"].append({**more, "name": "more"})
        return {"workload": workload, "queue": queue["metadata"]["name"]}

    def wanted(self) -> list[str]:
        return self.resources if self.rng.random() < 0.7 else [GPU]

    def standing(self) -> Json:
        return {"priority": self.rng.randrange(6), "created": self.rng.randrange(3000)}


if __name__ == "__main__":
    main()
