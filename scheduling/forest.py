"""ClusterQueues and cohorts as trees that hold quota and usage, and what is free in them.

A cohort that no object describes exists as soon as a queue or another cohort names it: no quota of its own, no limits.
Cohorts whose parents lead into a cycle form no tree: they are reported, and stand alone with the queues below them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from scheduling.objects import WEIGHT_ONE, ClusterQueue, Cohort, FlavorResource, Quota, ResourceGroup
from scheduling.quantities import add, subtract

_NO_QUOTA = Quota(0)


@dataclass(slots=True, eq=False)
class Node:
    """A ClusterQueue or a cohort. `subtree` is the quota it offers with all below it; `usage` what counts against it.

    A queue's usage is all it holds; a cohort's is only what its members use beyond the part they never lend.
    `height` is the number of steps to the furthest leaf below, 0 for a ClusterQueue.
    """

    name: str
    quotas: Mapping[FlavorResource, Quota]
    fair_weight: int = WEIGHT_ONE
    parent: "Node | None" = None
    queues: list["Node"] = field(default_factory=list)
    cohorts: list["Node"] = field(default_factory=list)
    height: int = 0
    subtree: dict[FlavorResource, int] = field(default_factory=dict)
    usage: dict[FlavorResource, int] = field(default_factory=dict)

    def quota(self, key: FlavorResource) -> Quota:
        return self.quotas.get(key, _NO_QUOTA)

    def above(self) -> Iterator["Node"]:
        """Its cohorts, from its own up to the root."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def local_quota(self, key: FlavorResource) -> int:
        """The part of the quota that the lending limit keeps below this node."""
        limit = self.quota(key).lending_limit
        return 0 if limit is None else max(0, subtract(self.subtree.get(key, 0), limit))

    def local_available(self, key: FlavorResource) -> int:
        return max(0, subtract(self.local_quota(key), self.usage.get(key, 0)))

    def available(self, key: FlavorResource) -> int:
        """What can be taken now, borrowing included; negative when more is in use than there is."""
        amount = 0
        for node in reversed((self, *self.above())):
            amount = node.available_below(key, amount)
        return amount

    def available_below(self, key: FlavorResource, above: int) -> int:
        """`available`, given the parent's; a root has no use for it."""
        subtree, usage = self.subtree.get(key, 0), self.usage.get(key, 0)
        if self.parent is None:
            return subtract(subtree, usage)
        local = self.local_quota(key)
        limit = self.quota(key).borrowing_limit
        if limit is not None:
            unused_above = subtract(subtract(subtree, local), max(0, subtract(usage, local)))
            above = min(above, add(unused_above, limit))
        return add(max(0, subtract(local, usage)), above)

    def potential(self, key: FlavorResource) -> int:
        """What could be taken if nobody used anything."""
        amount = 0
        for node in reversed((self, *self.above())):
            amount = node.potential_below(key, amount)
        return amount

    def potential_below(self, key: FlavorResource, above: int) -> int:
        """`potential`, given the parent's; a root has no use for it."""
        subtree = self.subtree.get(key, 0)
        if self.parent is None:
            return subtree
        most = add(self.local_quota(key), above)
        limit = self.quota(key).borrowing_limit
        return most if limit is None else min(most, add(subtree, limit))

    def exceeds(self, key: FlavorResource, more: int = 0) -> bool:
        """Whether usage, with `more` on top, goes beyond the quota of this subtree."""
        return self.subtree.get(key, 0) < add(self.usage.get(key, 0), more)

    def take(self, key: FlavorResource, amount: int) -> None:
        """Adds usage here and, beyond what is kept local, above."""
        for node in (self, *self.above()):
            local = node.local_available(key)
            node.usage[key] = add(node.usage.get(key, 0), amount)
            if amount <= local:
                break
            amount = subtract(amount, local)

    def give_back(self, key: FlavorResource, amount: int) -> None:
        """Undoes `take`."""
        for node in (self, *self.above()):
            held_above = subtract(node.usage.get(key, 0), node.local_quota(key))
            node.usage[key] = subtract(node.usage.get(key, 0), amount)
            if held_above <= 0:
                break
            amount = min(amount, held_above)


@dataclass(frozen=True, slots=True)
class Forest:
    """Every queue and cohort by name. `cycles` lists the cohorts of each cycle, from child to parent; cohorts whose
    parents lead into one, and the queues below them, are lost."""

    queues: Mapping[str, Node]
    cohorts: Mapping[str, Node]
    cycles: tuple[tuple[str, ...], ...]
    lost_cohorts: frozenset[str]
    lost_queues: frozenset[str]


def plant(
    cluster_queues: Iterable[ClusterQueue],
    cohorts: Iterable[Cohort],
    reservation: Mapping[str, Mapping[FlavorResource, int]],
) -> Forest:
    """The trees of these objects, each queue's reservation counted in."""
    queues = {q.name: q for q in cluster_queues}
    parents = _parents(queues.values(), described := {c.name: c for c in cohorts})
    cycles, lost = _cycles(parents)
    nodes = {
        name: Node(name, quotas(c.groups), c.fair_weight) if (c := described.get(name)) else Node(name, {})
        for name in parents
    }
    for name, parent in parents.items():
        if parent is not None and name not in lost:
            nodes[name].parent = nodes[parent]
            nodes[parent].cohorts.append(nodes[name])
    leaves = {q.name: _leaf(q, nodes, lost, reservation.get(q.name, {})) for q in queues.values()}
    for node in _bottom_up(nodes.values()):
        _gather(node)
    return Forest(leaves, nodes, cycles, lost, frozenset(q.name for q in queues.values() if q.cohort in lost))


def quotas(groups: Iterable[ResourceGroup]) -> dict[FlavorResource, Quota]:
    """The quotas of a queue or cohort by (flavor, resource)."""
    return {
        (flavor.name, resource): quota
        for group in groups
        for flavor in group.flavors
        for resource, quota in flavor.resources.items()
    }


def _parents(queues: Iterable[ClusterQueue], described: Mapping[str, Cohort]) -> dict[str, str | None]:
    """Every cohort's parent, those included that only their members name; sorted, so that results never depend on
    the order of a list."""
    parents = {c.name: c.parent for c in described.values()}
    named = {q.cohort for q in queues} | set(parents.values())
    return {name: parents.get(name) for name in sorted({n for n in named if n is not None} | parents.keys())}


def _cycles(parents: Mapping[str, str | None]) -> tuple[tuple[tuple[str, ...], ...], frozenset[str]]:
    cycles: list[tuple[str, ...]] = []
    leads_into_cycle: dict[str, bool] = {}
    for start in parents:
        trail: dict[str, None] = {}
        name: str | None = start
        while name is not None and name not in trail and name not in leads_into_cycle:
            trail[name] = None
            name = parents[name]
        if name is not None and name in trail:
            walked = list(trail)
            cycles.append(tuple(walked[walked.index(name) :]))
        lost = name is not None and leads_into_cycle.get(name, True)
        leads_into_cycle.update(dict.fromkeys(trail, lost))
    return tuple(cycles), frozenset(name for name, lost in leads_into_cycle.items() if lost)


def _leaf(
    queue: ClusterQueue, cohorts: Mapping[str, Node], lost: frozenset[str], used: Mapping[FlavorResource, int]
) -> Node:
    leaf = Node(queue.name, quotas(queue.groups), queue.fair_weight, usage=dict(used))
    leaf.subtree = {key: quota.nominal for key, quota in leaf.quotas.items()}
    if queue.cohort is not None and queue.cohort not in lost:
        leaf.parent = cohorts[queue.cohort]
        leaf.parent.queues.append(leaf)
    return leaf


def _bottom_up(cohorts: Iterable[Node]) -> Iterator[Node]:
    found = [c for c in cohorts if c.parent is None]
    for node in found:  # grows while it is walked; a recursion would end at Python's limit in a long chain
        found.extend(node.cohorts)
    return reversed(found)


def _gather(cohort: Node) -> None:
    """Quota and usage of a cohort from its children, which must be gathered already."""
    cohort.subtree = {key: quota.nominal for key, quota in cohort.quotas.items()}
    for child in (*cohort.cohorts, *cohort.queues):
        cohort.height = max(cohort.height, child.height + 1)
        for key, quota in child.subtree.items():
            cohort.subtree[key] = add(cohort.subtree.get(key, 0), subtract(quota, child.local_quota(key)))
        for key, used in child.usage.items():
            beyond = max(0, subtract(used, child.local_quota(key)))
            cohort.usage[key] = add(cohort.usage.get(key, 0), beyond)
