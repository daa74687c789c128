"""One scheduling cycle: every head is judged on the same snapshot, then served in Kueue's order, without Fair Sharing:
nearer to its own quota first, then higher priority, then earlier."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, auto

from emulator.kueue.events import Recorder
from emulator.kueue.preempting import Preemptor
from emulator.kueue.transitions import admitted, pending
from emulator.records import Records
from emulator.resources import WORKLOADS
from emulator.store import Json, Key, Store
from scheduling import names
from scheduling.accounting import requested, workload_usage
from scheduling.admission import Decision, Fit, NoFit, Preempt, decide
from scheduling.objects import Admission, Workload
from scheduling.preemption import Claim, Victim, fits
from scheduling.queue_order import cycle_key, queue_time
from scheduling.trial import Holder, Snapshot, Trial

_OUTRUN = "Workload no longer fits after processing another workload"
_OVERLAPPING = "Workload has overlapping preemption targets with another workload"


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """The workload that stands first in a ClusterQueue."""

    workload: Workload
    queue: str

    @property
    def key(self) -> Key:
        return self.workload.namespace, self.workload.name


class Outcome(Enum):
    """EVICTING: victims were told to stop; PREEMPTING: it waits for them; SKIPPED: another head came first."""

    ADMITTED = auto()
    EVICTING = auto()
    PREEMPTING = auto()
    SKIPPED = auto()
    NO_FIT = auto()


class Cycle:
    def __init__(self, store: Store, records: Records, recorder: Recorder, now: datetime) -> None:
        self._store, self._recorder, self._now = store, recorder, now
        snapshot = Snapshot(
            tuple(records.cluster_queues().values()),
            tuple(records.cohorts().values()),
            tuple(records.flavors().values()),
            tuple(records.holding().values()),
        )
        self._trial = Trial(snapshot)
        self._stopping: dict[str, Holder] = {}

    def run(self, heads: list[Head]) -> dict[Head, Outcome]:
        decisions = {head: self._decide(head) for head in heads}
        ordered = sorted(heads, key=lambda head: cycle_key(head.workload, _borrowing(decisions[head])))
        return {head: self._serve(head, decisions[head]) for head in ordered}

    def _decide(self, head: Head) -> Decision:
        try:
            return decide(self._trial, head.workload, head.queue)
        except ValueError as error:  # a real API server would not have taken it
            return NoFit(f"resources validation failed: {error}", permanent=True)

    def _serve(self, head: Head, decision: Decision) -> Outcome:
        match decision:
            case NoFit(message=message):
                self._leave(head, message)
                return Outcome.NO_FIT
            case Preempt(victims=victims) if any(v.workload.uid in self._stopping for v in victims):
                self._leave(head, _OVERLAPPING)
                return Outcome.SKIPPED
            case Preempt(admission=admission, victims=victims):
                if not self._takes(head, admission, victims):
                    return Outcome.SKIPPED
                return self._preempt(head, decision)
            case Fit(admission=admission):
                if not self._takes(head, admission, ()):
                    return Outcome.SKIPPED
                self._admit(head, admission)
        return Outcome.ADMITTED

    def _takes(self, head: Head, admission: Admission, victims: tuple[Victim, ...]) -> bool:
        """Count its usage in, if what earlier heads of this cycle took leaves room; else say so."""
        asked = workload_usage(replace(head.workload, admission=admission))
        gone = {v.workload.uid: v.holder for v in victims}
        claim = Claim(head.workload, head.queue, asked, frozenset())
        with self._trial.without((self._stopping | gone).values()):
            if not fits(self._trial, claim, borrowing=True):
                self._leave(head, _OUTRUN)
                return False
        self._stopping |= gone
        for key, amount in asked.items():
            self._trial.node(head.queue).take(key, amount)
        return True

    def _admit(self, head: Head, admission: Admission) -> None:
        stored = self._stored(head.key)
        new = self._store.set_status(WORKLOADS.storage, stored, admitted(stored, admission, self._now))
        waited = round((self._now - _queued_since(head.workload)).total_seconds())
        reserved = f"Quota reserved in ClusterQueue {head.queue}, wait time since queued was {waited}s"
        self._recorder.record(new, "QuotaReserved", reserved, self._now)
        by = f"Admitted by ClusterQueue {head.queue}, wait time since reservation was 0s"
        self._recorder.record(new, "Admitted", by, self._now)

    def _preempt(self, head: Head, decision: Preempt) -> Outcome:
        preemptor = Preemptor(self._store, self._recorder, self._now, self._trial)
        evicted = preemptor.evict(head.workload, head.queue, decision.victims)
        self._leave(head, decision.message)
        return Outcome.EVICTING if evicted else Outcome.PREEMPTING

    def _leave(self, head: Head, message: str) -> None:
        stored = self._stored(head.key)
        status = pending(stored, names.PENDING, message, self._now, _requests(head.workload))
        new = self._store.set_status(WORKLOADS.storage, stored, status)
        if names.QUOTA_RESERVED not in head.workload.conditions:  # Kueue counts the later ones in a series of the first
            self._recorder.record(new, names.PENDING, message, self._now, is_warning=True)

    def _stored(self, key: Key) -> Json:
        stored = self._store.get(WORKLOADS.storage, *key)
        if stored is None:
            raise KeyError(key)
        return stored


def _borrowing(decision: Decision) -> int:
    return 0 if isinstance(decision, NoFit) else decision.borrowing


def _requests(workload: Workload) -> dict[str, dict[str, int]] | None:
    try:
        return requested(workload)
    except ValueError:
        return None


def _queued_since(workload: Workload) -> datetime:
    return workload.since(names.REQUEUED) or workload.created_at or queue_time(workload)
