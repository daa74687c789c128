"""Sets the world up and sends its jobs."""

from datetime import datetime
from random import Random
from typing import Final

from emulator.defaults import with_defaults
from emulator.resources import (
    CLUSTER_QUEUES,
    FLAVORS,
    HYPERPOD_JOBS,
    LOCAL_QUEUES,
    NAMESPACES,
    NODES,
    PRIORITY_CLASSES,
    WORKLOADS,
)
from emulator.store import Store
from emulator.world.arrivals import arrivals_after
from emulator.world.hardware import nodes
from emulator.world.teams import TEAMS, manifests
from emulator.world.workloads import owner, workload

_STORAGES: Final = {
    resource.plural: resource.storage
    for resource in (NAMESPACES, FLAVORS, PRIORITY_CLASSES, CLUSTER_QUEUES, LOCAL_QUEUES)
}


def set_up(store: Store, seed: int, now: datetime) -> None:
    """Teams, queues and nodes, all idle."""
    for plural, manifest in manifests():
        store.create(_STORAGES[plural], with_defaults(manifest), now)
    for node in nodes(Random(seed)):  # noqa: S311
        store.create(NODES.storage, node, now)


class Arrivals:
    """Creates the Workloads of the jobs that arrive after a moment."""

    def __init__(self, store: Store, seed: int, since: datetime, stretch: int) -> None:
        self._store = store
        self._teams = {team.name: team for team in TEAMS}
        self._coming = arrivals_after(seed, since, stretch)
        self._next = next(self._coming)

    def reconcile(self, now: datetime) -> None:
        while self._next.at <= now:
            manifest = workload(self._teams[self._next.profile.team], self._next)
            made = owner(manifest, self._next)
            if made is not None:
                (reference,) = manifest["metadata"]["ownerReferences"]
                self._store.create(HYPERPOD_JOBS.storage, made, self._next.at, uid=reference["uid"])
            self._store.create(WORKLOADS.storage, with_defaults(manifest), self._next.at)
            self._next = next(self._coming)

    def next_due(self) -> datetime | None:
        return self._next.at
