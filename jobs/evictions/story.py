"""One eviction as a story: what happened in plain words, the steps with their times, and what can be done about it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from operator import itemgetter
from typing import Any

from django.utils.text import get_text_list
from django.utils.translation import gettext, ngettext

from jobs.evictions.told import Told
from jobs.models import Eviction, Workload
from jobs.models.evictions import Source
from jobs.rules.lost_work import Basis, CheckpointIgnored, Ignored, Work, read_checkpoint, read_interval
from jobs.states import OVER, JobState
from jobs.sync.owners import CHECKPOINT_INTERVAL, LAST_CHECKPOINT
from jobs.words.amounts import amount_text, gpu_hours_text
from jobs.words.evictions import unknown_cause, why_evicted
from scheduling import names
from scheduling.evictions import EvictionReason


@dataclass(frozen=True, slots=True)
class Step:
    """`after` is what lay between the step before and this one, with its length; None where one of them is unknown."""

    at: datetime | None
    title: str
    detail: str = ""
    tone: str = ""
    after: tuple[str, timedelta] | None = None


def sentences(told: Told) -> list[str]:
    """What happened, most important first."""
    eviction = told.eviction
    why = why_evicted(EvictionReason(eviction.reason, eviction.cause), eviction.preemption)
    found = [why or unknown_cause()]
    if told.taken_by is not None:
        found += _two_numbers(eviction, told.taken_by.text)
    if eviction.is_dated and not eviction.observed:
        found.append(gettext("Nobody saw it happen: one of the cluster's events tells when it was."))
    elif not eviction.observed:
        found.append(gettext("Nobody saw it happen: the cluster's counter of evictions moved between two looks at it."))
    if told.loop:
        text = gettext("It is a loop: evicted %(count)d times, each within an hour of the one before.")
        found.append(text % {"count": told.loop.size})
    return [*found, _what_became(eviction.workload, told.resumed_at)]


def _two_numbers(eviction: Eviction, taken_by: str) -> Iterator[str]:
    """What was lacking, and what it gave up: a job stops as a whole."""
    words = {"gpus": _gpus(eviction.gpus), "taken_by": taken_by}
    if not eviction.gpus:
        yield gettext("It made room for %(taken_by)s.") % words
    elif eviction.lacking is None:
        yield gettext("It gave up %(gpus)s for %(taken_by)s. How many were lacking is not known.") % words
    else:
        words["lacking"] = _gpus(eviction.lacking)
        yield gettext("It gave up %(gpus)s for %(taken_by)s, which was short of %(lacking)s.") % words
        if eviction.lacking < eviction.gpus:
            yield gettext("All pods of a job stop together, so it gave up more than was lacking.")


def _what_became(workload: Workload, resumed_at: datetime | None) -> str:
    if workload.gone_before is not None and workload.state not in OVER:
        return gettext("It was deleted since.")
    ends = {
        JobState.FINISHED: gettext("It has finished since."),
        JobState.FAILED: gettext("It has failed since."),
        JobState.CANCELLED: gettext("It was deleted since."),
        JobState.ENDED: gettext("It has ended since, and the cluster does not tell how."),
    }
    if workload.state in ends:
        return ends[JobState(workload.state)]
    return gettext("It started again.") if resumed_at else gettext("It has not started again.")


def steps(told: Told, queued_at: datetime, unseen: int) -> list[Step]:
    """Queued, admitted, evicted, released, admitted again; of what is not known the step says so. `unseen`: how many
    evictions nobody saw since it was queued: what lay between is then not known."""
    eviction = told.eviction
    span: Any = eviction.span
    admitted = span.admitted_at if span else None
    decided = eviction.decided_before if eviction.is_dated else None
    released = span.released_before if span and span.released_after == span.released_before else None
    found = [Step(queued_at, gettext("Queued"), eviction.priority_class or gettext("no priority class"))]
    detail = _gpus(eviction.gpus) if eviction.gpus else ""
    waited = None if unseen else _gap(gettext("waited"), queued_at, admitted)
    if unseen:
        text = ngettext("%(count)d eviction that nobody saw", "%(count)d evictions that nobody saw", unseen)
        found.append(Step(None, text % {"count": unseen}, gettext("It was admitted and evicted in between."), "bad"))
    found.append(Step(admitted, gettext("Admitted"), detail, "run", waited))
    title = gettext("Evicted: %(reason)s") % {"reason": told.label}
    taken = told.taken_by.text if told.taken_by else ""
    found.append(Step(decided, title, taken, "bad", _gap(gettext("ran for"), admitted, decided)))
    stopping = _gap(gettext("took to stop, the GPUs still held:"), decided, released)
    found.append(Step(released, gettext("Quota given back"), "", "", stopping))
    if told.resumed_at:
        waited = _gap(gettext("waited"), released or decided, told.resumed_at)
        found.append(Step(told.resumed_at, gettext("Admitted again"), "", "run", waited))
    return found


def _gap(words: str, start: datetime | None, end: datetime | None) -> tuple[str, timedelta] | None:
    return (words, end - start) if start and end and end >= start else None


def _gpus(count: int) -> str:
    return amount_text(count, names.NVIDIA_GPU)


@dataclass(frozen=True, slots=True)
class Advice:
    title: str
    detail: str


def advice(eviction: Eviction, guaranteed: Mapping[str, int], classes: Mapping[str, int]) -> list[Advice]:
    """Only what can be done and would have helped. `guaranteed`: GPUs of its queue's own quota now, by flavor;
    `classes`: the cluster's priorities now, by their classes."""
    ways = (_checkpoints(eviction), _priority(eviction, classes), _quota(eviction, guaranteed), _others(eviction))
    return list(chain.from_iterable(ways))


def _checkpoints(eviction: Eviction) -> Iterator[Advice]:
    if eviction.basis == Basis.WHOLE:
        text = gettext(
            "It declares no checkpoints, so the whole run counts as lost. Where it saves its work, write how often on "
            "its pod template: %(annotation)s: 30m."
        )
        yield Advice(gettext("Declare checkpoints"), text % {"annotation": names.CHECKPOINT_INTERVAL_ANNOTATION})
    elif eviction.basis == Basis.EXPECTED and eviction.checkpoint_seconds and eviction.checkpoint_seconds >= 600:
        text = gettext("The most that an eviction can cost falls from %(now)s to %(then)s.")
        most = eviction.gpus * eviction.checkpoint_seconds
        words = {"now": gpu_hours_text(most), "then": gpu_hours_text(most // 2)}
        yield Advice(gettext("Save twice as often"), text % words)


def _priority(eviction: Eviction, classes: Mapping[str, int]) -> Iterator[Advice]:
    if not eviction.priority_class:
        if classes:
            text = gettext("Without one it has the lowest priority and is among the first to go.")
            yield Advice(gettext("Give it a priority class"), text)
    elif eviction.preemption in (names.IN_CLUSTER_QUEUE, names.IN_COHORT_RECLAIM_WHILE_BORROWING):
        theirs = eviction.preemptor_priority
        enough = max(eviction.priority + 1, eviction.priority if theirs is None else theirs)
        higher = [name for name, value in sorted(classes.items(), key=itemgetter(1)) if value >= enough]
        if higher:
            text = gettext("It had priority %(mine)s, what took its place %(theirs)s. High enough: %(classes)s.")
            told = gettext("unknown") if theirs is None else theirs
            words = {"mine": eviction.priority, "theirs": told, "classes": get_text_list(higher, gettext("or"))}
            yield Advice(gettext("If it matters more, give it a higher priority"), text % words)


def _quota(eviction: Eviction, guaranteed: Mapping[str, int]) -> Iterator[Advice]:
    """Borrowed GPUs go back to their owner; own ones do not."""
    if eviction.preemption not in (names.IN_COHORT_RECLAMATION, names.IN_COHORT_FAIR_SHARING):
        return
    own = sum(guaranteed.get(flavor, 0) for flavor in eviction.by_flavor)
    if 0 < own < eviction.gpus:
        text = gettext("Its queue guarantees %(own)s. A job of that size can run on own quota alone.")
        yield Advice(gettext("Make it smaller"), text % {"own": _gpus(own)})
    text = gettext("It ran on borrowed GPUs, which their owner may take back at any time.")
    yield Advice(gettext("Ask for own quota instead of borrowing"), text)


def _others(eviction: Eviction) -> Iterator[Advice]:
    if eviction.reason == names.PODS_READY_TIMEOUT or eviction.cause == names.REQUEUING_LIMIT_EXCEEDED:
        yield Advice(gettext("Look at its pods and events: some did not start in time."), "")
    if names.ADMISSION_CHECK in (eviction.reason, eviction.cause):
        yield Advice(gettext("Look at its conditions: they name the check."), "")
    if eviction.cause == names.MAXIMUM_EXECUTION_TIME_EXCEEDED:
        yield Advice(gettext("Allow it a longer run, or let it save and submit the rest again."), "")
    elif eviction.workload.state == JobState.PAUSED and not eviction.workload.is_over:
        yield from _kept_out(eviction)


def _kept_out(eviction: Eviction) -> Iterator[Advice]:
    """Of a job that somebody must let back into the line."""
    if eviction.workload.status.get("deactivated"):
        yield Advice(gettext("Switch it on when it is to run."), "")
    elif eviction.reason in (names.CLUSTER_QUEUE_STOPPED, names.LOCAL_QUEUE_STOPPED):
        yield Advice(gettext("Ask the platform admin when the queue starts again."), "")


def checkpoint_notes(eviction: Eviction) -> list[str]:
    """Where it is known from how the work is saved, and why what the job says was not taken."""
    return [note for note in (_time_note(eviction), _interval_note(eviction)) if note]


def _time_note(eviction: Eviction) -> str:
    own = _said(eviction, LAST_CHECKPOINT)
    if not own or eviction.checkpoint_at is not None:
        return ""
    text = gettext("The job says it last saved its work at “%(text)s”; that was ignored: %(why)s.")
    return text % {"text": own, "why": _why_ignored(lambda: read_checkpoint(own, eviction.decided_before))}


def _interval_note(eviction: Eviction) -> str:
    if eviction.checkpoint_at is not None:
        return ""
    own = _said(eviction, CHECKPOINT_INTERVAL)
    if own and eviction.checkpoint_source != Source.JOB:
        text = gettext("The job says it saves its work every “%(text)s”; that was ignored: %(why)s.")
        return text % {"text": own, "why": _why_ignored(lambda: read_interval(own))}
    if eviction.checkpoint_source == Source.TEAM:
        return gettext("The interval is the team's default.")
    return ""


def _said(eviction: Eviction, what: str) -> str:
    """As the job's Workload or its own object tells it."""
    return str(eviction.workload.status.get(what) or (eviction.owner_told or {}).get(what) or "")


def _why_ignored(read: Callable[[], object]) -> str:
    try:
        read()
    except CheckpointIgnored as ignored:
        return str(Ignored(ignored.why).label)
    return gettext("it was written later")


def outage(eviction: Eviction, until: datetime) -> str:
    """Of an endpoint: the minutes that it did not answer, times its replicas."""
    if eviction.work != Work.ENDPOINT:
        return ""
    replicas = sum(pod_set["count"] for pod_set in eviction.workload.pod_sets)
    minutes = max(0, int((until - eviction.decided_before).total_seconds()) // 60)
    text = ngettext("%(minutes)d min × %(count)d replica", "%(minutes)d min × %(count)d replicas", replicas)
    return text % {"minutes": minutes, "count": replicas}
