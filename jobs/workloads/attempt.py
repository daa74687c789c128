"""The attempt to start that a workload makes now, or made last: its milestones, from facts alone."""

from datetime import datetime

from jobs.models import Workload
from jobs.rules.time_to_start import Actor, Attempt, Phase
from jobs.states import WAITING, JobState
from jobs.workloads.span_history import Held, History
from scheduling import names
from scheduling.parsing import parse_time

_STARTED = "Started"
_WAITS_FOR_START = ("WaitForStart", "PodsReady")  # the latter in Kueues of old


def attempt_of(workload: Workload, history: History, waits_for: Actor) -> Attempt:
    """Where a hold went unseen, or its end is not one instant, when it last began to wait is not known: then nobody
    can tell when it got quota, and the time until it was admitted is unaccounted for."""
    if not workload.is_over and workload.state in WAITING:
        return Attempt(_waits_since(workload, history), phase=Phase.QUEUE, waits_for=waits_for)
    held = history.latest
    if held is None:
        ended_at = workload.finished_at or workload.gone_before
        return Attempt(workload.created_at, ended_at=ended_at, phase=Phase.QUEUE if ended_at else None)
    ready_at = _ready_at(workload, held)
    before = history.holds[1] if len(history.holds) > 1 else None
    return Attempt(
        queued_at=(before.released_before if before else None) or workload.created_at,
        reserved_at=held.reserved_at if _is_wait_known(workload, history, before) else None,
        admitted_at=held.admitted_at,
        ready_at=ready_at,
        ended_at=held.evicted_at or held.released_before,
        phase=_phase(workload, held, ready_at),
    )


def _waits_since(workload: Workload, history: History) -> datetime:
    """The condition is set at the first look at it; after an eviction it tells when the quota was given back."""
    since = parse_time(workload.condition(names.QUOTA_RESERVED).get("since"))
    was_held = history.total > 0 or _told_evictions(workload) > 0
    return since if since and was_held else workload.created_at


def _is_wait_known(workload: Workload, history: History, before: Held | None) -> bool:
    """Whether every hold before the last was seen, and the end of the one before it exactly."""
    return not has_unseen_holds(workload, history) and (before is None or before.is_certain)


def has_unseen_holds(workload: Workload, history: History) -> bool:
    """Whether it was evicted more often than the portal saw."""
    latest = history.latest
    seen = history.total - (1 if latest and latest.evicted_at is None else 0)
    return _told_evictions(workload) > seen


def _told_evictions(workload: Workload) -> int:
    """By Kueue's own counters; older Kueues keep none, and tell of the last one alone."""
    counted: int = sum(count for _, _, count in workload.status.get("evictions", ()))
    return counted or int(bool(workload.condition(names.EVICTED)))


def _ready_at(workload: Workload, held: Held) -> datetime | None:
    """When its pods were first ready in this hold; not known once some of them had to be replaced."""
    ready = workload.condition(names.PODS_READY)
    since = parse_time(ready.get("since"))
    is_first = ready.get("status") is True and ready.get("reason") == _STARTED
    return since if is_first and since and held.admitted_at and since >= held.admitted_at else None


def _phase(workload: Workload, held: Held, ready_at: datetime | None) -> Phase | None:
    """What it waits for, or waited for when the hold ended; None once it started."""
    if held.admitted_at is None:
        return Phase.CHECKS
    ready = workload.condition(names.PODS_READY)
    waits = ready.get("status") is False and ready.get("reason") in _WAITS_FOR_START
    is_now = held.is_open and workload.state != JobState.GIVING_BACK
    return Phase.PODS if waits and ready_at is None and (is_now or workload.is_over) else None
