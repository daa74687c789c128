"""How a workload stands, in plain words: what became of it, why, and what to do now."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext

from jobs.models import Workload
from jobs.rules.time_to_start import Actor
from jobs.states import OVER, WAITING, JobState
from jobs.words.evictions import unknown_cause, why_evicted
from jobs.words.quotas import share_text
from jobs.words.reasons import Reason
from scheduling import names
from scheduling.evictions import eviction_reason

_STOPPED = (JobState.GIVING_BACK, JobState.INTERRUPTED, JobState.PAUSED)


@dataclass(frozen=True, slots=True)
class Standing:
    """`sentences` tell what is and why, `todo` what to do; `actor` is who must act, None where nobody must."""

    sentences: tuple[str, ...]
    todo: str
    actor: Actor | None


def standing(workload: Workload, reason: Reason | None, own: int = 0, borrowed: int = 0) -> Standing:
    """`reason` is why it waits, if it does; `own` and `borrowed` are the accelerators it holds."""
    sentences = [_what_is(workload), *_why_stopped(workload), *(reason.sentences if reason else ())]
    if borrowed:
        text = gettext("Its GPUs: %(share)s. What is borrowed may be taken back.")
        sentences.append(text % {"share": share_text(own, borrowed)})
    elif own:
        sentences.append(gettext("Its GPUs are the queue's own quota."))
    if not workload.priority_class and not workload.is_over:
        sentences.append(gettext("It has no priority class, so it is among the first to be evicted."))
    actor = _actor(workload, reason)
    if reason and reason.is_too_big and actor is Actor.OWNER:
        todo = gettext("Make the job smaller and submit it again, or ask the platform admin for more quota.")
    else:
        todo = _todo(workload, actor, borrowed)
    return Standing(tuple(filter(None, dict.fromkeys(sentences))), todo, actor)


def _what_is(workload: Workload) -> str:
    if workload.gone_before is not None and workload.state not in OVER:
        return gettext("It was deleted from the cluster.")
    if workload.is_back_in_line:
        return gettext("It was stopped and stands in line again.")
    plain = {
        JobState.QUEUED: gettext("It waits in the queue for quota."),
        JobState.INADMISSIBLE: gettext("It waits in the queue and cannot start as things are."),
        JobState.RESERVED: gettext("Its quota is reserved; it starts when every admission check has agreed."),
        JobState.PREPARING: gettext("It has its quota; not all of its pods are ready yet."),
        JobState.RUNNING: gettext("It runs."),
        JobState.GIVING_BACK: gettext("It is being stopped and gives its quota back when its pods have ended."),
        JobState.INTERRUPTED: gettext("It was stopped and will be queued again."),
        JobState.PAUSED: gettext("It does not stand in line."),
        JobState.FINISHED: gettext("It finished successfully."),
        JobState.FAILED: gettext("It ended with an error."),
        JobState.CANCELLED: gettext("Its job was deleted before it had ended."),
        JobState.ENDED: gettext("It ended, and the cluster does not tell how."),
    }
    unknown = gettext("The cluster reports a state that the portal does not know.")
    return plain.get(JobState(workload.state), unknown) if workload.state in JobState else unknown


def _why_stopped(workload: Workload) -> Iterator[str]:
    """Of a workload that lost its quota: the cause, without anybody's name."""
    evicted = workload.condition(names.EVICTED)
    if workload.is_over or workload.state not in _STOPPED or not evicted.get("status"):
        return
    told = eviction_reason(str(evicted.get("reason")))
    preemption = str(workload.condition(names.PREEMPTED).get("reason"))
    yield (told and why_evicted(told, preemption)) or unknown_cause()


def _actor(workload: Workload, reason: Reason | None) -> Actor | None:
    if workload.state == JobState.FAILED:
        return Actor.OWNER
    if workload.is_over or workload.state == JobState.RUNNING:
        return None
    if workload.state in WAITING:
        return reason.actor if reason else None
    return Actor.CLUSTER if workload.state in JobState else Actor.UNKNOWN


def _todo(workload: Workload, actor: Actor | None, borrowed: int) -> str:
    if workload.state == JobState.FAILED:
        return gettext("See how its pods ended; when the cause is mended, submit it again.")
    if borrowed and actor is None:
        return gettext("Save checkpoints often, so that little is lost if it is evicted.")
    if actor is None:
        return gettext("Nothing.")
    if workload.state == JobState.PAUSED and actor is Actor.OWNER:
        return gettext("Switch it on when it is to run.")
    plain = {
        Actor.SCHEDULER: gettext("Nothing: it starts by itself when there is room."),
        Actor.OWNER: gettext("Change what the job asks for, or its queue, and submit it again."),
        Actor.PLATFORM: gettext("Ask the platform admin, who alone can change this."),
        Actor.CLUSTER: gettext("Nothing yet. If it stays like this, look at its pods and events."),
        Actor.UNKNOWN: gettext("Look at its conditions and events, or ask the platform admin."),
    }
    return plain[actor]
