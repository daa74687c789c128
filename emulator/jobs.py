"""The stand-in for job controllers: follows every Workload that has an owner, from pods to the end of the job.

Of the job itself only its annotations are an object, and of HyperPodPyTorchJobs alone: there stands when it last saved
its work. What it does is written on the Workload, in annotations, times in seconds:

    emulator.local/start       from admission until all pods are ready (5)
    emulator.local/run         of work until the job ends; without it the job runs on
    emulator.local/checkpoint  between checkpoints: what was done since the last one is lost at an eviction; without it,
                               all is
    emulator.local/stop        from an eviction until the pods have stopped and the quota is given back (5)
    emulator.local/patience    without ever having been admitted, until the owner deletes the job; without it, never
    emulator.local/keep        from the end of the job until it is deleted; without it, never
    emulator.local/outcome     Succeeded or Failed (Succeeded)
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from emulator.changes import Changes
from emulator.clock import api_time
from emulator.kueue.transitions import finished, pods_ready, released
from emulator.records import Records
from emulator.resources import HYPERPOD_JOBS, WORKLOADS
from emulator.standstill import Standstills
from emulator.store import Json, Key, Store
from scheduling import names
from scheduling.objects import Workload

PREFIX: Final = "emulator.local/"
_START_SECONDS: Final = 5.0
_STOP_SECONDS: Final = 5.0
_ENDINGS: Final = {
    names.SUCCEEDED: "Job finished successfully",
    names.FAILED: "Job has reached the specified backoff limit",
}


@dataclass(frozen=True, slots=True)
class _Step:
    """What a job does next, and when."""

    due: datetime
    take: Callable[[Json, datetime], None]


class JobControllers:
    def __init__(self, store: Store, records: Records, standstills: Standstills) -> None:
        self._store, self._records, self._standstills = store, records, standstills
        self._changes = Changes(store)
        self._dues: list[tuple[datetime, Key]] = []

    def reconcile(self, now: datetime) -> None:
        seen, workloads = self._changes.look(), self._records.workloads()
        for key in workloads if seen.everything else sorted(seen.of(WORKLOADS)):
            self._say(key)
            step = self._next(key)
            if step is not None:
                heapq.heappush(self._dues, (step.due, key))
        while self._dues and self._dues[0][0] <= now:
            _, key = heapq.heappop(self._dues)
            step, stored = self._next(key), self._store.get(WORKLOADS.storage, *key)
            if step is None or stored is None:
                continue
            if step.due > now:  # the cluster stood still meanwhile
                heapq.heappush(self._dues, (step.due, key))
            else:
                step.take(stored, now)

    def next_due(self) -> datetime | None:
        return self._dues[0][0] if self._dues else None

    def _next(self, key: Key) -> _Step | None:
        workload, stored = self._records.workloads().get(key), self._store.get(WORKLOADS.storage, *key)
        if workload is None or stored is None or workload.owner is None or workload.created_at is None:
            return None
        job = _Job(stored)
        if workload.is_finished:
            return self._after(workload.since(names.FINISHED), job.seconds("keep"), self._delete)
        if workload.is_true(names.EVICTED) and workload.admission is not None:
            return self._after(workload.since(names.EVICTED), job.seconds("stop", _STOP_SECONDS), self._release)
        if workload.is_admitted:
            return self._running(workload, job)
        if workload.conditions.get(names.PODS_READY) is None or workload.is_true(names.PODS_READY):
            return _Step(workload.created_at, self._pods_wait)
        if workload.conditions.get(names.ADMITTED) is None:
            return self._after(workload.created_at, job.seconds("patience"), self._delete)
        return None

    def _running(self, workload: Workload, job: "_Job") -> _Step | None:
        since = workload.since(names.ADMITTED)
        if not workload.is_true(names.PODS_READY):
            return self._after(since, job.seconds("start", _START_SECONDS), self._pods_start)
        whole = job.seconds("run")
        left = None if whole is None else max(0.0, whole - job.saved(workload.accumulated_seconds))
        return self._after(since, left, self._end)

    def _say(self, key: Key) -> None:
        """As it is evicted, the job's object says when it last saved its work."""
        workload, stored = self._records.workloads().get(key), self._store.get(WORKLOADS.storage, *key)
        if workload is None or stored is None or workload.owner is None or not workload.is_true(names.EVICTED):
            return
        job = self._store.get(HYPERPOD_JOBS.storage, key[0], workload.owner.name)
        saved = _Job(stored).saved_at(workload)
        if job is not None and saved is not None:
            meta = job["metadata"]
            notes = {**meta["annotations"], names.LAST_CHECKPOINT_ANNOTATION: api_time(saved)}
            self._store.update(HYPERPOD_JOBS.storage, {**job, "metadata": {**meta, "annotations": notes}})

    def _after(
        self, since: datetime | None, seconds: float | None, take: Callable[[Json, datetime], None]
    ) -> _Step | None:
        if since is None or seconds is None:
            return None
        return _Step(self._standstills.later(since, seconds), take)

    def _write(self, stored: Json, status: Json) -> None:
        self._store.set_status(WORKLOADS.storage, stored, status)

    def _pods_wait(self, stored: Json, now: datetime) -> None:
        self._write(stored, pods_ready(stored, False, now))

    def _pods_start(self, stored: Json, now: datetime) -> None:
        self._write(stored, pods_ready(stored, True, now))

    def _release(self, stored: Json, now: datetime) -> None:
        self._write(stored, released(stored, now))

    def _end(self, stored: Json, now: datetime) -> None:
        outcome = _Job(stored).outcome
        self._write(stored, finished(stored, outcome, _ENDINGS[outcome], now))

    def _delete(self, stored: Json, now: datetime) -> None:
        meta = stored["metadata"]
        self._store.delete(WORKLOADS.storage, meta["namespace"], meta["name"])
        for name in [reference["name"] for reference in meta["ownerReferences"]]:
            if self._store.get(HYPERPOD_JOBS.storage, meta["namespace"], name):
                self._store.delete(HYPERPOD_JOBS.storage, meta["namespace"], name)


class _Job:
    """The annotations of one Workload. What is no number counts as absent."""

    def __init__(self, stored: Json) -> None:
        self._annotations = stored["metadata"].get("annotations") or {}

    def seconds(self, name: str, default: float | None = None) -> float | None:
        try:
            return float(self._annotations[PREFIX + name])
        except (KeyError, ValueError):
            return default

    def saved(self, worked: int) -> float:
        """Of the work done before the last eviction, what the checkpoints kept."""
        between = self.seconds("checkpoint")
        return worked - worked % between if between else 0.0

    def saved_at(self, workload: Workload) -> datetime | None:
        """When the run that is being evicted last saved its work, first as its pods were ready; None if it did not."""
        admitted, evicted = workload.since(names.ADMITTED), workload.since(names.EVICTED)
        ready, between = workload.since(names.PODS_READY), self.seconds("checkpoint")
        if not between or admitted is None or evicted is None or ready is None:
            return None
        if not workload.is_true(names.ADMITTED) or not workload.is_true(names.PODS_READY):
            return None
        worked = workload.accumulated_seconds + (evicted - admitted).total_seconds()
        return max(ready, evicted - timedelta(seconds=worked % between))

    @property
    def outcome(self) -> str:
        outcome = self._annotations.get(PREFIX + "outcome", names.SUCCEEDED)
        return outcome if outcome in _ENDINGS else names.SUCCEEDED
