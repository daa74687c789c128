"""Random situations of a few teams that share quota: what is set up, who arrives, what is changed under use.

One seed always gives the same situation. Names carry the seed, so that many can be played side by side in one cluster.
No cohort cycles: deleting a Workload inside one makes Kueue 0.19.2 hang.
"""

import random
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from tests.cluster import objects
from tests.cluster.objects import GPU

Json = dict[str, Any]

CPU, MEMORY = "cpu", "memory"
LARGEST_QUOTA = {GPU: 16, CPU: 64_000, MEMORY: 256 * 1024}  # devices, thousandths of a core, MiB
LARGEST_REQUEST = {GPU: 6, CPU: 16_000, MEMORY: 64 * 1024}
PRIORITIES = (None, None, None, -10, 100, 1000)
WEIGHTS = ("0", "0.5", "1", "1500m", "2", "3")


@dataclass(frozen=True)
class Situation:
    """`objects`: (collection, manifest) in the order to create them. `steps` follow one after the other; each is a
    dictionary whose `do` names it (see `play`)."""

    seed: int
    fair_sharing: bool
    objects: Sequence[tuple[str, Json]]
    steps: Sequence[Json]

    @property
    def name(self) -> str:
        return f"s{self.seed}"


def situation(seed: int) -> Situation:
    """Odd seeds are for a Kueue with fair sharing."""
    draft = _Draft(random.Random(f"situation {seed}"), f"s{seed}", fair_sharing=bool(seed % 2))
    draft.draw()
    return Situation(seed, draft.fair_sharing, draft.objects, draft.steps)


@dataclass
class _Draft:
    chance: random.Random
    name: str
    fair_sharing: bool
    objects: list[tuple[str, Json]] = field(default_factory=list)
    steps: list[Json] = field(default_factory=list)
    layout: list[tuple[list[str], list[str]]] = field(default_factory=list)  # resources and flavors of each group
    parents: dict[str, str | None] = field(default_factory=dict)
    cohorts: dict[str, Json] = field(default_factory=dict)
    queues: dict[str, Json] = field(default_factory=dict)
    arrived: int = 0

    def draw(self) -> None:
        self._draw_flavors()
        self._draw_cohorts()
        self._draw_queues()
        self.objects += [("cohorts", deepcopy(c)) for c in self.cohorts.values()]
        self.objects += [("clusterqueues", deepcopy(q)) for q in self.queues.values()]
        for queue in self.queues:
            self.objects.append(("localqueues", objects.local_queue(self.name, queue, queue)))
        self._draw_arrivals(self.chance.randint(2, 5))
        self.steps.append({"do": "settle"})
        for _ in range(self.chance.randint(0, 3)):
            self._draw_edit()
        self._draw_happenings()
        self._draw_arrivals(self.chance.randint(0, 2))

    def _happens(self, probability: float) -> bool:
        return self.chance.random() < probability

    def _draw_flavors(self) -> None:
        flavors = [f"{self.name}-f{i}" for i in range(self.chance.randint(1, 3))]
        self.objects += [("resourceflavors", objects.flavor(f)) for f in flavors]
        others = self.chance.choice(([CPU], [MEMORY], [CPU, MEMORY]))
        if len(flavors) > 1 and self._happens(0.3):
            self.layout = [([GPU], flavors[:-1]), (others, flavors[-1:])]
        else:
            self.layout = [([GPU, *others] if self._happens(0.7) else [GPU], flavors)]

    def _draw_cohorts(self) -> None:
        root = f"{self.name}-root"
        self.parents = {root: None}
        above = [root]
        for level in range(1, self.chance.randint(1, 3)):
            children = [f"{self.name}-c{level}{i}" for i in range(self.chance.randint(1, 2))]
            self.parents |= {child: self.chance.choice(above) for child in children}
            above = children
        for name, parent in self.parents.items():
            if parent or self._happens(0.6):  # a root may be named by its members alone
                self.cohorts[name] = objects.cohort(
                    name, *self._cohort_groups(parent is not None), parent=parent, **self._weight()
                )

    def _cohort_groups(self, may_limit: bool) -> list[Json]:
        return self._groups(may_limit) if self._happens(0.4) else []

    def _draw_queues(self) -> None:
        for i in range(self.chance.randint(2, 6)):
            cohort = None if self._happens(0.05) else self.chance.choice(list(self.parents))
            self.queues[f"{self.name}-q{i}"] = objects.cluster_queue(
                f"{self.name}-q{i}",
                *self._groups(cohort is not None),
                cohort=cohort,
                queueingStrategy="StrictFIFO" if self._happens(0.25) else "BestEffortFIFO",
                preemption=self._preemption(),
                **self._weight(),
            )

    def _weight(self) -> Json:
        if self.fair_sharing and self._happens(0.6):
            return {"fairSharing": {"weight": self.chance.choice(WEIGHTS)}}
        return {}

    def _preemption(self) -> Json:
        reclaim = self.chance.choice(("Never", "LowerPriority", "Any"))
        within = self.chance.choice(("Never", "LowerPriority", "LowerOrNewerEqualPriority"))
        preemption: Json = {"reclaimWithinCohort": reclaim, "withinClusterQueue": within}
        if reclaim != "Never" and not self.fair_sharing and self._happens(0.3):
            preemption["borrowWithinCohort"] = {"policy": "LowerPriority", "maxPriorityThreshold": 50}
        return preemption

    def _groups(self, may_limit: bool) -> list[Json]:
        groups = []
        for resources, flavors in self.layout:
            kept = [f for f in flavors if self._happens(0.8)] or flavors[:1]
            groups.append(objects.group(*((f, {r: self._limits(r, may_limit) for r in resources}) for f in kept)))
        return groups

    def _limits(self, resource: str, may_limit: bool) -> tuple[str, str | None, str | None]:
        largest = LARGEST_QUOTA[resource]
        nominal = 0 if self._happens(0.2) else self.chance.randint(0, largest)
        borrowing = self.chance.randint(0, largest) if may_limit and self._happens(0.35) else None
        lending = self.chance.randint(0, nominal) if may_limit and self._happens(0.35) else None
        return (
            self._spell(resource, nominal),
            None if borrowing is None else self._spell(resource, borrowing),
            None if lending is None else self._spell(resource, lending),
        )

    def _spell(self, resource: str, amount: int) -> str:
        """One of the ways to write an amount down."""
        if resource == CPU:
            return self.chance.choice((f"{amount}m", str(amount / 1000)))
        if resource == MEMORY:
            return self.chance.choice((f"{amount}Mi", f"{amount << 20}", f"{amount << 10}Ki"))
        return str(amount)

    def _draw_arrivals(self, rounds: int) -> None:
        """At most one Workload per queue in a second, so that time alone orders those of equal priority."""
        for _ in range(rounds):
            arriving = [self._workload(queue) for queue in self.queues if self._happens(0.75)]
            if arriving:
                self.steps.append({"do": "arrive", "workloads": arriving})

    def _workload(self, queue: str) -> Json:
        self.arrived += 1
        pod_sets = [self._pod_set("main")]
        if self._happens(0.15):
            pod_sets.append(self._pod_set("extra"))
        priority = self.chance.choice(PRIORITIES)
        spec = {} if priority is None else {"priority": priority}
        return objects.workload(self.name, f"w{self.arrived:02}", queue, *pod_sets, **spec)

    def _pod_set(self, name: str) -> Json:
        count = self.chance.choice((1, 1, 1, 2, 3, 5))
        resources = [r for covered, _ in self.layout for r in covered if r == GPU or self._happens(0.8)]
        asked = {r: self._spell(r, self.chance.randint(1, max(1, LARGEST_REQUEST[r] // count))) for r in resources}
        return objects.pod_set(asked, count, name)

    def _draw_edit(self) -> None:
        edits = [
            self._remove_flavor,
            self._change_quota,
            self._change_quota,
            self._stop,
            self._move,
            self._change_cohort,
            self._drop_cohort,
            self._drop_queue,
        ]
        self.chance.choice(edits)()
        if self._happens(0.3):
            self.steps.append({"do": "settle"})

    def _edit(self, collection: str, name: str, spec: Json) -> None:
        self.steps.append({"do": "edit", "collection": collection, "name": name, "spec": spec})

    def _remove_flavor(self) -> None:
        name, queue = self.chance.choice(list(self.queues.items()))
        groups = deepcopy(queue["spec"]["resourceGroups"])
        flavors = self.chance.choice(groups)["flavors"]
        if len(flavors) > 1:
            flavors.pop(self.chance.randrange(len(flavors)))
        elif len(groups) > 1:
            groups.pop(self.chance.randrange(len(groups)))
        self._set_groups("clusterqueues", queue, groups)

    def _change_quota(self) -> None:
        queue = self.chance.choice(list(self.queues.values()))
        groups = deepcopy(queue["spec"]["resourceGroups"])
        for quota in (q for g in groups for f in g["flavors"] for q in f["resources"] if self._happens(0.6)):
            in_cohort = "cohortName" in queue["spec"]
            nominal, borrowing, lending = self._limits(quota["name"], in_cohort)
            new = {"nominalQuota": nominal, "borrowingLimit": borrowing, "lendingLimit": lending}
            quota |= new
            for limit in [name for name, value in new.items() if value is None]:
                del quota[limit]
        self._set_groups("clusterqueues", queue, groups)

    def _set_groups(self, collection: str, obj: Json, groups: list[Json]) -> None:
        obj["spec"]["resourceGroups"] = groups
        self._edit(collection, obj["metadata"]["name"], {"resourceGroups": deepcopy(groups)})

    def _stop(self) -> None:
        policy = self.chance.choice(("Hold", "HoldAndDrain", "None"))
        self._edit("clusterqueues", self.chance.choice(list(self.queues)), {"stopPolicy": policy})

    def _move(self) -> None:
        name, queue = self.chance.choice(list(self.queues.items()))
        if "cohortName" in queue["spec"]:  # stays in some cohort: its limits would be refused outside
            queue["spec"]["cohortName"] = self.chance.choice(list(self.parents))
            self._edit("clusterqueues", name, {"cohortName": queue["spec"]["cohortName"], **self._weight()})

    def _change_cohort(self) -> None:
        if not self.cohorts:
            return
        name, cohort = self.chance.choice(list(self.cohorts.items()))
        self._set_groups("cohorts", cohort, self._groups(self.parents[name] is not None))
        if self.fair_sharing:
            self._edit("cohorts", name, self._weight())

    def _drop_cohort(self) -> None:
        """The object goes; the cohort stays as long as somebody names it."""
        if self.cohorts:
            name = self.chance.choice(list(self.cohorts))
            del self.cohorts[name]
            self.steps.append({"do": "drop", "collection": "cohorts", "name": name})

    def _drop_queue(self) -> None:
        """It stays, terminating, as long as a Workload holds its quota."""
        if len(self.queues) > 1:
            name = self.chance.choice(list(self.queues))
            del self.queues[name]
            self.steps.append({"do": "drop", "collection": "clusterqueues", "name": name})

    def _draw_happenings(self) -> None:
        """`share` picks among those that are in question once it is played."""
        for what, probability in (("finish", 0.4), ("give back", 0.3), ("deactivate", 0.2), ("release", 0.7)):
            if self._happens(probability):
                self.steps.append({"do": what, "share": round(self.chance.random(), 2)})
