"""Telling the victims of a preemption to stop, and everybody why."""

from datetime import datetime

from emulator.kueue.events import Recorder
from emulator.kueue.transitions import evicted
from emulator.resources import WORKLOADS
from emulator.store import Store
from scheduling import names
from scheduling.objects import Workload
from scheduling.preemption import Victim
from scheduling.preemption_messages import preempted
from scheduling.trial import Trial


class Preemptor:
    def __init__(self, store: Store, recorder: Recorder, now: datetime, trial: Trial) -> None:
        self._store, self._recorder, self._now, self._trial = store, recorder, now, trial

    def evict(self, preemptor: Workload, queue: str, victims: tuple[Victim, ...]) -> int:
        """Evict those that are not stopping already; how many that were."""
        fresh = [victim for victim in victims if not victim.workload.is_true(names.EVICTED)]
        for victim in fresh:
            self._evict(preemptor, queue, victim)
        return len(fresh)

    def _evict(self, preemptor: Workload, queue: str, victim: Victim) -> None:
        target = victim.workload
        message = preempted(
            preemptor.uid, preemptor.job_uid, victim.reason, self._path(queue), self._path(victim.holder.queue)
        )
        stored = self._store.get(WORKLOADS.storage, target.namespace, target.name)
        waiting = self._store.get(WORKLOADS.storage, preemptor.namespace, preemptor.name)
        if stored is None or waiting is None:
            raise KeyError(target.key)
        status = evicted(stored, names.PREEMPTED, message, self._now, preempted=victim.reason)
        self._store.set_status(WORKLOADS.storage, stored, status)
        ranks = f"preemptor {_rank(preemptor)}; preemptee {_rank(target)}"
        told = f"Preempted workload {target.key} (UID: {target.uid}) in ClusterQueue {victim.holder.queue}; {ranks}"
        self._recorder.record(stored, "EvictedDueToPreempted", message, self._now)
        self._recorder.record(stored, "Preempted", f"{message}; {ranks}", self._now)
        self._recorder.record(waiting, "PreemptedWorkload", told, self._now)

    def _path(self, queue: str) -> tuple[str, ...]:
        """From the root cohort down to the queue."""
        node = self._trial.node(queue)
        return (*reversed([cohort.name for cohort in node.above()]), queue)


def _rank(workload: Workload) -> str:
    base, boost = workload.priority, workload.priority_boost
    return f"effective priority: {base + boost} (base: {base}, boost: {boost})"
