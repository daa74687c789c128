"""The figures of ClusterQueues and cohorts at one instant: used, own, borrowed, lent, free.

`figures` takes any set of objects: those of one tree give the same numbers as all of them together. What a stopped or
inactive queue does not use is lent like any other quota, as Kueue does.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scheduling import lending
from scheduling.fair_share import by_resource, weighted_share
from scheduling.forest import Node, plant
from scheduling.objects import ClusterQueue, Cohort, FlavorResource
from scheduling.quantities import subtract

Reserved = Mapping[str, Mapping[FlavorResource, int]]


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """One (flavor, resource) of one ClusterQueue, in smallest units. A limit of None is no limit; elsewhere None is
    unknown: the queue's cohorts lead into a cycle, or (lent only) the tree is over-committed.

    `own` + `borrowed` = `reservation`; `usage` is the admitted part of it. `lendable` is idle quota that others may
    borrow; what they do borrow of it lies between `lent_low` and `lent_high`, since Kueue borrows from a pool and not
    from a queue. `distance` counts the cohorts from the queue up to the lowest one that holds all it borrows: 0 when
    nothing is borrowed, 1 within its own cohort, None when none holds it. `over_committed`: more is in use in the tree
    than there is. Not `listed`: in use, but no longer in the spec.
    """

    nominal: int
    borrowing_limit: int | None
    lending_limit: int | None
    reservation: int
    usage: int
    own: int
    borrowed: int
    idle: int
    lendable: int | None
    available: int | None
    potential: int | None
    distance: int | None
    lent_low: int | None
    lent_high: int | None
    over_committed: bool
    listed: bool


@dataclass(frozen=True, slots=True)
class QueueStanding:
    """A ClusterQueue. `path` holds its cohorts from the root down; empty outside any and where they form a cycle."""

    path: tuple[str, ...]
    in_cycle: bool
    weighted_share: int | None
    figures: Mapping[FlavorResource, QueueFigures]

    @property
    def root(self) -> str | None:
        return self.path[0] if self.path else None


@dataclass(frozen=True, slots=True)
class CohortFigures:
    """One (flavor, resource) of one cohort. `nominal` is its own quota, on top of its members'; `usage` leaves out what
    members run inside quota they never lend; `available` is negative when more is in use than there is. All but
    `nominal` are None in a cycle."""

    nominal: int
    subtree_quota: int | None
    usage: int | None
    borrowed: int | None
    available: int | None


@dataclass(frozen=True, slots=True)
class CohortStanding:
    """A cohort, described by an object or only named. `path` holds the cohorts above it from the root down."""

    path: tuple[str, ...]
    in_cycle: bool
    weighted_share: int | None
    figures: Mapping[FlavorResource, CohortFigures]


@dataclass(frozen=True, slots=True)
class Figures:
    """By name. `cycles` lists the cohorts of each cycle, from child to parent."""

    queues: Mapping[str, QueueStanding]
    cohorts: Mapping[str, CohortStanding]
    cycles: tuple[tuple[str, ...], ...]


def figures(
    cluster_queues: Iterable[ClusterQueue], cohorts: Iterable[Cohort], reservation: Reserved, usage: Reserved
) -> Figures:
    """All figures of these queues and cohorts. `reservation` and `usage` are by ClusterQueue, as
    `accounting.reserved_by_queue` counts them."""
    forest = plant(cluster_queues, cohorts, reservation)
    queues: dict[str, QueueStanding] = {}
    standings: dict[str, CohortStanding] = {}
    for root in forest.cohorts.values():
        if root.name in forest.lost_cohorts:
            standings[root.name] = _cohort_in_cycle(root)
        elif root.parent is None:
            tree = _Tree(root)
            for cohort in tree.cohorts:
                standings[cohort.name] = tree.cohort_standing(cohort)
                for queue in cohort.queues:
                    queues[queue.name] = tree.queue_standing(queue, cohort, usage.get(queue.name, {}))
    for queue in forest.queues.values():
        if queue.parent is None:
            standing = _standing_in_cycle if queue.name in forest.lost_queues else _standing_outside
            queues[queue.name] = standing(queue, usage.get(queue.name, {}))
    return Figures(queues, standings, forest.cycles)


class _Tree:
    """The cohorts under one root, with what each can give now and could at most, counted once for all its members."""

    def __init__(self, root: Node) -> None:
        self.root = root
        self.keys = _keys(root)
        self.cohorts = [root]
        self.paths: dict[str, tuple[str, ...]] = {root.name: ()}
        self.available = {root.name: {key: root.available_below(key, 0) for key in self.keys}}
        self.potential = {root.name: {key: root.potential_below(key, 0) for key in self.keys}}
        for parent in self.cohorts:
            for cohort in parent.cohorts:
                self.cohorts.append(cohort)
                self._descend(parent, cohort)
        self.capacity = {name: by_resource(potential) for name, potential in self.potential.items()}
        self.balances = {
            queue.name: {key: lending.balance(queue, key) for key in _keys(queue)}
            for cohort in self.cohorts
            for queue in cohort.queues
        }
        self.pools = lending.pools(self.cohorts, self.balances.values())

    def _descend(self, parent: Node, cohort: Node) -> None:
        free, most = self.available[parent.name], self.potential[parent.name]
        self.paths[cohort.name] = (*self.paths[parent.name], parent.name)
        self.available[cohort.name] = {key: cohort.available_below(key, free[key]) for key in self.keys}
        self.potential[cohort.name] = {key: cohort.potential_below(key, most[key]) for key in self.keys}

    def cohort_standing(self, cohort: Node) -> CohortStanding:
        free = self.available[cohort.name]
        share = weighted_share(cohort, self.capacity[cohort.parent.name]) if cohort.parent else 0
        lines = {key: _cohort_figures(cohort, key, free[key]) for key in _keys(cohort)}
        return CohortStanding(self.paths[cohort.name], False, share, lines)

    def queue_standing(self, queue: Node, cohort: Node, usage: Mapping[FlavorResource, int]) -> QueueStanding:
        path = (*self.paths[cohort.name], cohort.name)
        lines = {
            key: self._queue_figures(queue, cohort, key, usage.get(key, 0), balance)
            for key, balance in self.balances[queue.name].items()
        }
        return QueueStanding(path, False, weighted_share(queue, self.capacity[cohort.name]), lines)

    def _queue_figures(
        self, queue: Node, cohort: Node, key: FlavorResource, usage: int, balance: lending.Balance
    ) -> QueueFigures:
        over_committed = self.root.exceeds(key)
        listed = key in queue.quotas  # what the spec no longer lists cannot be asked for
        free, most = self.available[cohort.name][key], self.potential[cohort.name][key]
        return _figures_of(
            queue,
            key,
            usage,
            balance.borrowed,
            lendable=balance.lendable,
            available=max(0, queue.available_below(key, free)) if listed else 0,
            potential=queue.potential_below(key, most) if listed else 0,
            distance=_distance(queue, key) if balance.borrowed else 0,
            lent=(None, None) if over_committed else self.pools[key].lent_by(balance),
            over_committed=over_committed,
        )


def _keys(node: Node) -> set[FlavorResource]:
    return node.subtree.keys() | node.usage.keys()


def _figures_of(
    queue: Node,
    key: FlavorResource,
    usage: int,
    borrowed: int,
    *,
    lendable: int | None = None,
    available: int | None = None,
    potential: int | None = None,
    distance: int | None = None,
    lent: tuple[int | None, int | None] = (None, None),
    over_committed: bool = False,
) -> QueueFigures:
    quota, reservation = queue.quota(key), queue.usage.get(key, 0)
    return QueueFigures(
        nominal=quota.nominal,
        borrowing_limit=quota.borrowing_limit,
        lending_limit=quota.lending_limit,
        reservation=reservation,
        usage=usage,
        own=subtract(reservation, borrowed),
        borrowed=borrowed,
        idle=max(0, subtract(quota.nominal, reservation)),
        lendable=lendable,
        available=available,
        potential=potential,
        distance=distance,
        lent_low=lent[0],
        lent_high=lent[1],
        over_committed=over_committed,
        listed=key in queue.quotas,
    )


def _distance(queue: Node, key: FlavorResource) -> int | None:
    return next((steps for steps, cohort in enumerate(queue.above(), start=1) if not cohort.exceeds(key)), None)


def _standing_outside(queue: Node, usage: Mapping[FlavorResource, int]) -> QueueStanding:
    """A queue in no cohort: nobody lends to it and it lends to nobody."""
    lines = {
        key: _figures_of(
            queue,
            key,
            usage.get(key, 0),
            borrowed=0,
            lendable=0,
            available=max(0, queue.available(key)),
            potential=queue.potential(key),
            distance=0,
            lent=(0, 0),
            over_committed=queue.exceeds(key),
        )
        for key in _keys(queue)
    }
    return QueueStanding((), False, 0, lines)


def _standing_in_cycle(queue: Node, usage: Mapping[FlavorResource, int]) -> QueueStanding:
    """A queue whose cohorts lead into a cycle: what it borrows is its own figure, all others depend on the tree."""
    lines = {
        key: _figures_of(queue, key, usage.get(key, 0), lending.balance(queue, key).borrowed) for key in _keys(queue)
    }
    return QueueStanding((), True, None, lines)


def _cohort_figures(cohort: Node, key: FlavorResource, free: int) -> CohortFigures:
    quota, usage = cohort.subtree.get(key, 0), cohort.usage.get(key, 0)
    borrowed = max(0, subtract(usage, quota)) if cohort.parent else 0
    return CohortFigures(cohort.quota(key).nominal, quota, usage, borrowed, free)


def _cohort_in_cycle(cohort: Node) -> CohortStanding:
    lines = {key: CohortFigures(quota.nominal, None, None, None, None) for key, quota in cohort.quotas.items()}
    return CohortStanding((), True, None, lines)
