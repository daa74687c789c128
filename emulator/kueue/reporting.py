"""What ClusterQueues and LocalQueues say of themselves in their status."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from emulator.changes import Changes
from emulator.kueue.conditions import with_condition
from emulator.kueue.queues import inactive_reason
from emulator.records import Records
from emulator.resources import CLUSTER_QUEUES, FLAVORS, LOCAL_QUEUES, WORKLOADS
from emulator.store import Json, Key, Store
from scheduling import names
from scheduling.accounting import Amounts, reserved_by_queue
from scheduling.objects import ClusterQueue, LocalQueue, Workload
from scheduling.quantities import format_quantity
from scheduling.queue_order import queue_orders

_ACTIVE = (True, "Ready", "Can admit new workloads")
_OPEN = (True, "Ready", "Can submit new workloads to localQueue")
_CLOSED = "Can't submit new workloads to clusterQueue"


class QueueReporter:
    """Flavors and resources are those of the spec at the time: what is in use elsewhere is not told, as in Kueue."""

    def __init__(self, store: Store, records: Records) -> None:
        self._store, self._records = store, records
        self._changes = Changes(store)

    def reconcile(self, now: datetime) -> None:
        if not self._changes.look().touches(WORKLOADS, CLUSTER_QUEUES, LOCAL_QUEUES, FLAVORS):
            return
        records = self._records
        queues, locals_ = records.cluster_queues(), records.local_queues()
        waiting = queue_orders(queues.values(), locals_.values(), records.waiting().values())
        self._report_cluster_queues(queues, waiting, now)
        self._report_local_queues(locals_, queues, waiting, now)

    def next_due(self) -> datetime | None:
        return None

    def _report_cluster_queues(
        self, queues: Mapping[str, ClusterQueue], waiting: Mapping[str, list[Workload]], now: datetime
    ) -> None:
        reservation, usage = reserved_by_queue(self._records.holding().values())
        holders = [w for w in self._records.holding().values() if w.admission is not None]
        reserving = Counter(w.admission.cluster_queue for w in holders if w.admission)
        admitted = Counter(w.admission.cluster_queue for w in holders if w.admission and w.is_admitted)
        for name, queue in queues.items():
            inactive = inactive_reason(queue, self._records)
            active = (False, *inactive) if inactive else _ACTIVE
            status = {
                "flavorsReservation": _flavors(queue, reservation.get(name, {}), with_borrowed=True),
                "flavorsUsage": _flavors(queue, usage.get(name, {}), with_borrowed=True),
                "pendingWorkloads": len(waiting.get(name, ())),
                "reservingWorkloads": reserving[name],
                "admittedWorkloads": admitted[name],
            }
            self._write(CLUSTER_QUEUES.storage, ("", name), status, active, now)

    def _report_local_queues(
        self,
        locals_: Mapping[Key, LocalQueue],
        queues: Mapping[str, ClusterQueue],
        waiting: Mapping[str, list[Workload]],
        now: datetime,
    ) -> None:
        pending = Counter((w.namespace, w.queue_name) for order in waiting.values() for w in order)
        holders: dict[Key, list[Workload]] = {key: [] for key in locals_}
        for workload in self._records.holding().values():
            holders.setdefault((workload.namespace, workload.queue_name), []).append(workload)
        for key, local in locals_.items():
            queue = queues.get(local.cluster_queue)
            status: dict[str, Any] = {
                "pendingWorkloads": pending[key],
                "reservingWorkloads": len(holders[key]),
                "admittedWorkloads": sum(w.is_admitted for w in holders[key]),
            }
            if queue is not None:
                reservation, usage = reserved_by_queue(holders[key])
                status["flavorsReservation"] = _flavors(queue, reservation.get(queue.name, {}), with_borrowed=False)
                status["flavorsUsage"] = _flavors(queue, usage.get(queue.name, {}), with_borrowed=False)
            self._write(LOCAL_QUEUES.storage, key, status, self._openness(local, queue), now)

    def _openness(self, local: LocalQueue, queue: ClusterQueue | None) -> tuple[bool, str, str]:
        if local.stop_policy != names.STOP_NONE:
            return (False, "Stopped", "LocalQueue is stopped")
        if queue is None:
            return (False, "ClusterQueueDoesNotExist", _CLOSED)
        return (False, "ClusterQueueIsInactive", _CLOSED) if inactive_reason(queue, self._records) else _OPEN

    def _write(self, storage: str, key: Key, status: Json, active: tuple[bool, str, str], now: datetime) -> None:
        stored = self._store.get(storage, *key)
        if stored is None:
            return
        conditions = (stored.get("status") or {}).get("conditions") or ()
        generation = stored["metadata"]["generation"]
        told = with_condition(conditions, names.ACTIVE, *active, now, generation)
        self._store.set_status(storage, stored, {**status, "conditions": told})


def _flavors(queue: ClusterQueue, amounts: Amounts, *, with_borrowed: bool) -> list[dict[str, Any]]:
    return [
        {
            "name": flavor.name,
            "resources": [
                _resource(resource, amounts.get((flavor.name, resource), 0), quota.nominal, queue, with_borrowed)
                for resource, quota in flavor.resources.items()
            ],
        }
        for group in queue.groups
        for flavor in group.flavors
    ]


def _resource(resource: str, amount: int, nominal: int, queue: ClusterQueue, with_borrowed: bool) -> dict[str, str]:
    told = {"name": resource, "total": format_quantity(amount, resource)}
    if with_borrowed:
        borrowed = max(0, amount - nominal) if queue.cohort is not None else 0
        told["borrowed"] = format_quantity(borrowed, resource)
    return told
