"""Puts a cluster together: a saved one, a new one with teams at work, or an empty one."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final

from emulator.clock import Clock, api_micro_time
from emulator.cluster import Cluster, Controller
from emulator.defaults import with_defaults
from emulator.events import Events
from emulator.job_pods import JobPods
from emulator.jobs import JobControllers
from emulator.kueue.events import Recorder
from emulator.kueue.lifecycle import Lifecycle
from emulator.kueue.reporting import QueueReporter
from emulator.kueue.scheduler import Scheduler
from emulator.records import Records
from emulator.recovery import NodeRecovery
from emulator.resources import NAMESPACES, PODS
from emulator.standstill import Standstills, loaded
from emulator.store import Json, Store
from emulator.world.world import Arrivals, set_up
from scheduling.parsing import parse_time

TEAMS: Final = "teams"
EMPTY: Final = "none"
_HISTORY: Final = timedelta(hours=6)
_SYSTEM_NAMESPACES: Final = ("default", "kube-system", "kueue-system")
_KUEUE_POD: Final = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "kueue-controller-manager-0",
        "namespace": "kueue-system",
        "labels": {"app.kubernetes.io/name": "kueue", "control-plane": "controller-manager"},
    },
    "spec": {"containers": [{"name": "manager", "image": "kueue/kueue:v0.19.2"}]},
    "status": {"phase": "Running"},
}


def build_cluster(
    world: str,
    seed: int,
    clock: Clock,
    saved: Json | None = None,
    *,
    history: timedelta = _HISTORY,
    stretch: int = 1,
) -> Cluster:
    """A saved cluster goes on where it stopped: the time between is a standstill. A new world has some history behind
    it already. Its jobs are `stretch` times rarer and longer. Raises ValueError or KeyError for a dump that cannot be
    read."""
    now = clock.now()
    store = Store(f"{seed}:{api_micro_time(now)}")
    if saved is not None:
        standstills = _resume(store, saved, now)
        return _assemble(store, clock, standstills, _arrivals(world, store, seed, now, stretch))
    begin = now - history if world == TEAMS else now
    _install(store, begin)
    if world == TEAMS:
        set_up(store, seed, begin)
    cluster = _assemble(store, clock, Standstills(), _arrivals(world, store, seed, begin, stretch))
    cluster.run_until(now)
    return cluster


def dumped(cluster: Cluster) -> dict[str, Any]:
    """The cluster as `build_cluster` takes it back."""
    return {
        "store": cluster.store.dump(),
        "stopped": api_micro_time(cluster.clock.now()),
        "standstills": cluster.standstills.dump(),
    }


def stopped_at(saved: Json) -> datetime:
    """When a dumped cluster was saved. Raises ValueError or KeyError."""
    stopped = parse_time(saved["stopped"])
    if stopped is None:
        raise ValueError("it does not say when it was saved")
    return stopped


def _resume(store: Store, saved: Json, now: datetime) -> Standstills:
    store.load(saved["store"])
    standstills = loaded(saved["standstills"])
    standstills.add(stopped_at(saved), now)
    return standstills


def _arrivals(world: str, store: Store, seed: int, since: datetime, stretch: int) -> list[Controller]:
    return [Arrivals(store, seed, since, stretch)] if world == TEAMS else []


def _assemble(store: Store, clock: Clock, standstills: Standstills, arrivals: Iterable[Controller]) -> Cluster:
    records, events = Records(store), Events(store)
    recorder = Recorder(events)
    controllers: list[Controller] = [
        *arrivals,
        Lifecycle(store, records, recorder),
        JobControllers(store, records, standstills),
        Scheduler(store, records, recorder),
        JobPods(store, records, events),
        NodeRecovery(store, clock.now()),
    ]
    return Cluster(store, records, clock, standstills, controllers, (QueueReporter(store, records), events))


def _install(store: Store, now: datetime) -> None:
    for name in _SYSTEM_NAMESPACES:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        store.create(NAMESPACES.storage, with_defaults(namespace), now)
    store.create(PODS.storage, _KUEUE_POD, now)
