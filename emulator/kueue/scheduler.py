"""Kueue's scheduler: cycle after cycle, one head of every ClusterQueue is admitted, makes room, or is set aside.

What becomes of a head is decided by `scheduling`; this module keeps the queues: whom to try, and when to try again.
"""

from collections import deque
from dataclasses import replace
from datetime import datetime
from typing import Final

import orjson

from emulator.changes import Changes
from emulator.kueue.cycle import Cycle, Head, Outcome
from emulator.kueue.events import Recorder
from emulator.kueue.queues import inactive_reason, selects
from emulator.kueue.transitions import pending
from emulator.records import Records
from emulator.resources import CLUSTER_QUEUES, COHORTS, FLAVORS, LOCAL_QUEUES, NAMESPACES, WORKLOADS
from emulator.store import Key, Store
from scheduling import names
from scheduling.objects import Workload
from scheduling.queue_order import queue_orders

_NAMESPACE_MISMATCH: Final = "workload namespace doesn't match ClusterQueue selector"

_SETTING: Final = (CLUSTER_QUEUES, COHORTS, FLAVORS, LOCAL_QUEUES, NAMESPACES)

_Orders = dict[str, deque[Workload]]


class Scheduler:
    """`_aside` holds the workloads that were tried in vain: they are tried again when quota comes free or a queue
    changes; `_shapes` spares the trial of others that ask for exactly the same. `_attempted` holds the heads that wait
    for somebody else's next move. All of it is memory only, as in Kueue: after a restart everybody is tried again."""

    def __init__(self, store: Store, records: Records, recorder: Recorder) -> None:
        self._store, self._records, self._recorder = store, records, recorder
        self._aside: dict[Key, Workload] = {}
        self._shapes: set[tuple[str, bytes]] = set()
        self._attempted: set[Key] = set()
        self._changes = Changes(store)
        self._held: dict[str, object] = {}
        self._setting: object = None

    def reconcile(self, now: datetime) -> None:
        """Quota that came free goes first to the heads that already stand waiting for it, then to who was set aside."""
        has_changed = self._notice()
        self._serve(now)
        if has_changed:
            self._aside.clear()
            self._shapes.clear()
            self._serve(now)

    def _serve(self, now: datetime) -> None:
        orders = self._orders()
        while True:
            heads = self._heads(orders)
            if all(head.key in self._attempted for head in heads):
                return
            self._run(heads, now)

    def next_due(self) -> datetime | None:
        return None

    def _notice(self) -> bool:
        """Whether quota was given back or a queue changed: then everybody may try again. So may a workload that
        changed."""
        held: dict[str, object] = {w.uid: w.reclaimable for w in self._records.holding().values()}
        is_touched = self._changes.look().touches(*_SETTING)
        setting = self._current_setting() if is_touched else self._setting
        has_changed = setting != self._setting or any(held.get(uid) != kept for uid, kept in self._held.items())
        if has_changed:
            self._attempted.clear()
        self._held, self._setting = held, setting
        waiting = self._records.waiting()
        for key, tried in list(self._aside.items()):
            if key not in waiting or _request(waiting[key]) != _request(tried):
                del self._aside[key]
        self._attempted &= waiting.keys()
        return has_changed

    def _current_setting(self) -> object:
        records = self._records
        return (
            {name: queue.spec for name, queue in records.cluster_queues().items()},
            {name: cohort.spec for name, cohort in records.cohorts().items()},
            {name: flavor.spec for name, flavor in records.flavors().items()},
            {key: local.spec for key, local in records.local_queues().items()},
            self._labels_of_namespaces(),
        )

    def _labels_of_namespaces(self) -> dict[str, dict[str, str]]:
        return {o["metadata"]["name"]: o["metadata"].get("labels") or {} for o in self._store.all(NAMESPACES.storage)}

    def _orders(self) -> _Orders:
        records = self._records
        active = [q for q in records.cluster_queues().values() if inactive_reason(q, records) is None]
        candidates = [w for w in records.waiting().values() if not _is_held_back(w)]
        orders = queue_orders(active, records.local_queues().values(), candidates)
        return {name: deque(order) for name, order in orders.items() if order}

    def _heads(self, orders: _Orders) -> list[Head]:
        queues, waiting = self._records.cluster_queues(), self._records.waiting()
        heads = []
        for name, order in orders.items():
            best_effort = queues[name].strategy != names.STRICT_FIFO
            while order and (_key(order[0]) not in waiting or self._is_aside(order[0], name, best_effort)):
                order.popleft()
            if order:
                heads.append(Head(_as_asked(waiting[_key(order[0])]), name))
        return heads

    def _is_aside(self, workload: Workload, queue: str, best_effort: bool) -> bool:
        if _key(workload) in self._aside:
            return True
        return best_effort and bool(self._shapes) and (queue, _shape(workload)) in self._shapes

    def _run(self, heads: list[Head], now: datetime) -> None:
        strangers = [head for head in heads if not self._is_welcome(head)]
        for head in strangers:
            self._aside[head.key] = head.workload
            status = pending(self._stored(head), names.PENDING, _NAMESPACE_MISMATCH, now)
            self._store.set_status(WORKLOADS.storage, self._stored(head), status)
        cycle = Cycle(self._store, self._records, self._recorder, now)
        outcomes = cycle.run([head for head in heads if head not in strangers])
        moved = bool({Outcome.ADMITTED, Outcome.EVICTING} & set(outcomes.values()))
        self._attempted.clear()
        for head, outcome in outcomes.items():
            if outcome is Outcome.NO_FIT and self._is_best_effort(head.queue):
                self._aside[head.key] = head.workload
                self._shapes.add((head.queue, _shape(head.workload)))
            elif not moved:
                self._attempted.add(head.key)

    def _is_best_effort(self, queue: str) -> bool:
        return self._records.cluster_queues()[queue].strategy != names.STRICT_FIFO

    def _is_welcome(self, head: Head) -> bool:
        labels = self._labels_of_namespaces().get(head.workload.namespace, {})
        return selects(self._records.cluster_queues()[head.queue], labels)

    def _stored(self, head: Head) -> dict[str, object]:
        stored = self._store.get(WORKLOADS.storage, *head.key)
        if stored is None:
            raise KeyError(head.key)
        return dict(stored)


def _key(workload: Workload) -> Key:
    return workload.namespace, workload.name


def _as_asked(workload: Workload) -> Workload:
    """Without what its status tells of an earlier trial: the request may have changed since."""
    return replace(workload, pending_requests={})


def _is_held_back(workload: Workload) -> bool:
    """Whether its last eviction forbids to queue it again for now."""
    requeued = workload.conditions.get(names.REQUEUED)
    return requeued is not None and requeued.status is False


def _request(workload: Workload) -> tuple[object, ...]:
    """What a new trial may depend on."""
    return (workload.uid, workload.queue_name, workload.effective_priority, workload.pod_sets, workload.reclaimable)


def _shape(workload: Workload) -> bytes:
    """The same for workloads that are certain to get the same answer."""
    pod_sets = [
        (p.name, p.count, p.min_count, workload.reclaimable.get(p.name, 0), p.template) for p in workload.pod_sets
    ]
    return orjson.dumps([workload.effective_priority, pod_sets], option=orjson.OPT_SORT_KEYS)
