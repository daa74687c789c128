"""Puts a cluster together: a saved one, a new one with teams at work, or an empty one."""

from datetime import datetime

from emulator.clock import Clock, api_time
from emulator.cluster import Cluster
from emulator.defaults import with_defaults
from emulator.records import Records
from emulator.resources import NAMESPACES
from emulator.store import Json, Store

_SYSTEM_NAMESPACES = ("default", "kube-system", "kueue-system")


def build_cluster(world: str, seed: int, saved: Json | None, clock: Clock) -> Cluster:
    store = Store(f"{seed}:{api_time(clock.now())}")
    if saved is not None:
        store.load(saved)
    else:
        _install(store, clock.now())
    return Cluster(store, Records(store), clock)


def _install(store: Store, now: datetime) -> None:
    for name in _SYSTEM_NAMESPACES:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        store.create(NAMESPACES.storage, with_defaults(namespace), now)
