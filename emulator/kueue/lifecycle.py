"""Kueue's workload controller: what stopped queues, missing queues and deactivation do to a workload."""

from datetime import datetime
from typing import Final

from emulator.changes import Changes, Seen
from emulator.kueue.events import Recorder
from emulator.kueue.queues import blocked_message
from emulator.kueue.transitions import evicted, pending, requeued
from emulator.records import Records
from emulator.resources import CLUSTER_QUEUES, FLAVORS, LOCAL_QUEUES, WORKLOADS
from emulator.store import Json, Key, Store
from scheduling import names
from scheduling.objects import Workload

_INADMISSIBLE: Final = "Inadmissible"


class Lifecycle:
    def __init__(self, store: Store, records: Records, recorder: Recorder) -> None:
        self._store, self._records, self._recorder = store, records, recorder
        self._changes = Changes(store)

    def reconcile(self, now: datetime) -> None:
        seen = self._changes.look()
        workloads = self._records.workloads()
        for key in self._concerned(seen):
            workload, stored = workloads.get(key), self._store.get(WORKLOADS.storage, *key)
            if workload is not None and stored is not None and not workload.is_finished:
                self._reconcile_one(workload, stored, now)

    def next_due(self) -> datetime | None:
        return None

    def _concerned(self, seen: Seen) -> list[Key]:
        """Queues concern everybody in them; in the order of the store, so that nothing depends on chance."""
        if seen.touches(CLUSTER_QUEUES, LOCAL_QUEUES, FLAVORS):
            return list(self._records.workloads())
        return sorted(seen.of(WORKLOADS))

    def _reconcile_one(self, workload: Workload, stored: Json, now: datetime) -> None:
        if not workload.active:
            if not workload.is_true(names.EVICTED):
                self._evict(stored, names.DEACTIVATED, "The workload is deactivated", now)
            return
        if self._requeue(workload, stored, now):
            return
        if workload.admission is not None:
            self._drain(workload, stored, now)
            return
        message = blocked_message(workload, self._records)
        if message and _tells_otherwise(workload, message):
            self._write(stored, pending(stored, _INADMISSIBLE, message, now))

    def _requeue(self, workload: Workload, stored: Json, now: datetime) -> bool:
        """Once the queue runs again, who was drained from it may queue again."""
        held_back = workload.conditions.get(names.REQUEUED)
        if held_back is None or held_back.status is not False:
            return False
        policy, cluster_policy = self._policies(workload)
        if held_back.reason == names.DEACTIVATED:
            self._write(stored, requeued(stored, "Reactivated", "The workload was reactivated", now))
        elif held_back.reason == names.LOCAL_QUEUE_STOPPED and policy == names.STOP_NONE:
            sentence = "The LocalQueue was restarted after being stopped"
            self._write(stored, requeued(stored, "LocalQueueRestarted", sentence, now))
        elif held_back.reason == names.CLUSTER_QUEUE_STOPPED and cluster_policy == names.STOP_NONE:
            sentence = "The ClusterQueue was restarted after being stopped"
            self._write(stored, requeued(stored, "ClusterQueueRestarted", sentence, now))
        else:
            return False
        return True

    def _drain(self, workload: Workload, stored: Json, now: datetime) -> None:
        if workload.is_true(names.EVICTED):
            return
        policy, cluster_policy = self._policies(workload)
        if policy == names.HOLD_AND_DRAIN:
            self._evict(stored, names.LOCAL_QUEUE_STOPPED, "The LocalQueue is stopped", now)
        elif cluster_policy == names.HOLD_AND_DRAIN:
            self._evict(stored, names.CLUSTER_QUEUE_STOPPED, "The ClusterQueue is stopped", now)

    def _policies(self, workload: Workload) -> tuple[str, str]:
        """Stop policies of its LocalQueue and ClusterQueue; empty where there is no such queue."""
        local = self._records.local_queues().get((workload.namespace, workload.queue_name))
        queue = self._records.cluster_queues().get(local.cluster_queue) if local else None
        return (local.stop_policy if local else ""), (queue.stop_policy if queue else "")

    def _evict(self, stored: Json, reason: str, message: str, now: datetime) -> None:
        new = self._write(stored, evicted(stored, reason, message, now))
        if new["status"].get("admission"):
            self._recorder.record(new, f"EvictedDueTo{reason}", message, now)

    def _write(self, stored: Json, status: Json) -> Json:
        return self._store.set_status(WORKLOADS.storage, stored, status)


def _tells_otherwise(workload: Workload, message: str) -> bool:
    told = workload.conditions.get(names.QUOTA_RESERVED)
    return told is None or told.message != message
