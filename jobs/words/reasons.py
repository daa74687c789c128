"""Why a workload waits, in plain words: a code with its parameters, rendered in the reader's language."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.utils.formats import number_format
from django.utils.text import get_text_list
from django.utils.translation import gettext, ngettext

from jobs.models import Workload
from jobs.queues.limits import NO_LIMITS, Limits
from jobs.rules.time_to_start import Actor
from jobs.states import JobState, can_never_start
from jobs.words.amounts import amount_text, resource_word
from jobs.words.evictions import why_evicted
from scheduling import names
from scheduling.evictions import EvictionReason, worded_reason
from scheduling.messages import Mention, Obstacle, parse_pending
from scheduling.preemption_messages import parse_preemption
from teams.gpu_models import gpu_model

_MOST = 4
_ELSEWHERE = (Obstacle.NODE_AFFINITY, Obstacle.UNTOLERATED_TAINT)
_BY_ITSELF = (
    Obstacle.INSUFFICIENT_UNUSED_QUOTA,
    Obstacle.TOPOLOGY,
    Obstacle.OUTRUN,
    Obstacle.OVERLAPPING_PREEMPTION,
)
_ACTORS = {
    Obstacle.QUEUE_STOPPED: Actor.PLATFORM,
    Obstacle.FLAVOR_NOT_FOUND: Actor.PLATFORM,
    Obstacle.NAMESPACE_MISMATCH: Actor.PLATFORM,
    Obstacle.ADMISSION_CHECKS: Actor.PLATFORM,
    Obstacle.QUEUE_MISSING: Actor.OWNER,
    Obstacle.WAITING_FOR_PODS_READY: Actor.CLUSTER,
}
_QUEUE_STOPPED = (names.CLUSTER_QUEUE_STOPPED, names.LOCAL_QUEUE_STOPPED)


@dataclass(frozen=True, slots=True)
class Reason:
    """`sentences` for people, most binding first; `raw` is Kueue's own text, to be redacted before it is shown.
    `is_too_big`: it asks for more than its queue could ever give."""

    sentences: tuple[str, ...]
    raw: str
    actor: Actor
    is_too_big: bool = False


def waiting_reason(workload: Workload, limits: Limits = NO_LIMITS) -> Reason:
    """Why it does not run yet. `limits`: of its queue, where they are in the way."""
    reserved = workload.condition(names.QUOTA_RESERVED)
    raw = reserved.get("message") or ""
    if workload.state == JobState.PAUSED:
        return _why_paused(workload, raw)
    if not reserved:
        text = gettext("The cluster has not looked at it yet: jobs ahead of it come first.")
        return Reason((text,), "", Actor.SCHEDULER)
    evicted = worded_reason(raw)
    if evicted:
        return _since_evicted(workload, evicted, raw)
    return _why_pending(workload, raw, limits)


def _since_evicted(workload: Workload, told: EvictionReason, raw: str) -> Reason:
    """Kueue leaves the message of the eviction in place until it looks at the workload again."""
    rule = parse_preemption(raw).reason or str(workload.condition(names.PREEMPTED).get("reason"))
    cause = why_evicted(told, rule) or gettext("Another job took its place.")
    not_since = gettext("The cluster has not looked at it since: jobs ahead of it come first.")
    return Reason((cause, not_since), raw, Actor.SCHEDULER)


def _why_pending(workload: Workload, raw: str, limits: Limits) -> Reason:
    message = parse_pending(raw)
    in_vain = not message.preempting and can_never_start(message.mentions)
    sentences = list(dict.fromkeys(_sentences(_binding(message.mentions), limits, in_vain=in_vain)))
    if message.preempting:
        text = ngettext(
            "It starts when %(count)s job has given its capacity back.",
            "It starts when %(count)s jobs have given their capacity back.",
            message.preempting,
        )
        sentences.insert(0, text % {"count": number_format(message.preempting)})
    actor = Actor.SCHEDULER if message.preempting else _actor(workload, message.mentions, in_vain=in_vain)
    is_too_big = in_vain and any(mention.obstacle is Obstacle.EXCEEDS_MAXIMUM for mention in message.mentions)
    return Reason(tuple(sentences[:_MOST]) or (_unexplained(raw),), raw, actor, is_too_big)


def _why_paused(workload: Workload, raw: str) -> Reason:
    """Switched off by somebody, or kept out of the line after an eviction."""
    if workload.status.get("deactivated"):
        text = gettext("It is switched off (spec.active is false). Switch it on again to have it queued.")
        return Reason((text,), raw, Actor.OWNER)
    if workload.condition(names.EVICTED).get("reason") in _QUEUE_STOPPED:
        return Reason((_stopped(),), raw, Actor.PLATFORM)
    text = gettext("It was evicted and is kept out of the line for a while before it is queued again.")
    return Reason((text,), raw, Actor.SCHEDULER)


def _stopped() -> str:
    return gettext("The queue is stopped: only the platform admin can start it.")


def _binding(mentions: tuple[Mention, ...]) -> tuple[Mention, ...]:
    """Without the flavors that the job does not want anyway, where another one is in question."""
    wanted = tuple(mention for mention in mentions if mention.obstacle not in _ELSEWHERE)
    return wanted if any(mention.flavor for mention in wanted) else mentions


def _actor(workload: Workload, mentions: tuple[Mention, ...], *, in_vain: bool) -> Actor:
    """Where one flavor may come free by itself, nobody has to mend another."""
    obstacles = [mention.obstacle for mention in mentions]
    if not in_vain and any(obstacle in _BY_ITSELF for obstacle in obstacles):
        return Actor.SCHEDULER
    told = next((_ACTORS[obstacle] for obstacle in obstacles if obstacle in _ACTORS), Actor.UNKNOWN)
    is_owners = in_vain or workload.state == JobState.INADMISSIBLE
    return Actor.OWNER if told is Actor.UNKNOWN and is_owners else told


def _unexplained(raw: str) -> str:
    if raw:
        return gettext("The cluster gives a reason in words that the portal does not know.")
    return gettext("The cluster gives no reason.")


def _sentences(mentions: tuple[Mention, ...], limits: Limits, *, in_vain: bool) -> Iterator[str]:
    """What can never be comes first, unless there is a flavor to wait for."""
    if in_vain:
        yield from _not_covered(mentions)
        yield from _too_big(mentions, in_vain=True)
    short = _short(mentions)
    yield from _not_free(short)
    yield from _kept_back(short, limits)
    if not in_vain:
        yield from _too_big(mentions, in_vain=False)
    yield from _others(mentions)


def _short(mentions: tuple[Mention, ...]) -> list[Mention]:
    """What is short in flavors that are big enough."""
    too_small = {(m.pod_set, m.flavor) for m in mentions if m.obstacle is Obstacle.EXCEEDS_MAXIMUM}
    short = (mention for mention in mentions if mention.obstacle is Obstacle.INSUFFICIENT_UNUSED_QUOTA)
    return [mention for mention in short if (mention.pod_set, mention.flavor) not in too_small]


def _not_free(short: Iterable[Mention]) -> Iterator[str]:
    """One sentence for all that is short in a flavor."""
    missing: dict[str, list[str]] = {}
    for mention in short:
        missing.setdefault(mention.flavor, []).append(_missing(mention))
    for flavor, amounts in missing.items():
        text, once = gettext("Not enough is free in %(flavor)s: %(amounts)s."), list(dict.fromkeys(amounts))
        yield text % {"flavor": flavor_text(flavor), "amounts": _listed(once)}


def _kept_back(short: Iterable[Mention], limits: Limits) -> Iterator[str]:
    """One sentence for all of a flavor of which more would be free, or come free, that the queue may not borrow."""
    bounds: dict[str, dict[str, tuple[int, int]]] = {}
    for mention in short:
        line = limits.get((mention.flavor, mention.resource))
        if line is not None and line.at_most is not None and line.left_by_limit is not None:
            bounds.setdefault(mention.flavor, {})[mention.resource] = line.at_most, line.left_by_limit
    for flavor, of_flavor in bounds.items():
        most, left = (
            _listed([amount_text(bound[place], resource) for resource, bound in of_flavor.items()]) for place in (0, 1)
        )
        text = gettext(
            "The queue's own borrowing limit is in the way in %(flavor)s: it may hold at most %(most)s; left of that: "
            "%(left)s."
        )
        yield text % {"flavor": flavor_text(flavor), "most": most, "left": left}


def _listed(words: list[str]) -> str:
    return get_text_list(words, gettext("and"))


def _missing(mention: Mention) -> str:
    if mention.missing is None:
        return gettext("too little %(resource)s") % {"resource": resource_word(mention.resource)}
    return gettext("%(amount)s more needed") % {"amount": amount_text(mention.missing, mention.resource)}


def flavor_text(flavor: str) -> str:
    """“H100 (ml.p5.48xlarge)”, or the flavor's own name."""
    model = gpu_model(flavor)
    return flavor if model == flavor else f"{model} ({flavor})"


def _others(mentions: tuple[Mention, ...]) -> Iterator[str]:
    for mention in mentions:
        text = _sentence(mention)
        if text:
            yield text


def _sentence(mention: Mention) -> str:
    named = {"flavor": flavor_text(mention.flavor)}
    plain = {
        Obstacle.UNTOLERATED_TAINT: gettext("The nodes of %(flavor)s carry a taint that the job does not tolerate."),
        Obstacle.NODE_AFFINITY: gettext("The job's node selector does not match %(flavor)s."),
        Obstacle.FLAVOR_NOT_FOUND: gettext("The cluster has no resource flavor %(flavor)s: tell the platform admin."),
        Obstacle.TOPOLOGY: gettext("There is quota, but no place on the nodes that fits all its pods together."),
        Obstacle.QUEUE_STOPPED: _stopped(),
        Obstacle.QUEUE_MISSING: gettext("The queue it names does not exist: correct the job's queue name."),
        Obstacle.NAMESPACE_MISMATCH: gettext("The queue does not take jobs of this namespace."),
        Obstacle.ADMISSION_CHECKS: gettext("An admission check refused it."),
        Obstacle.ADMISSION_GATED: gettext("It waits for a gate to be opened."),
        Obstacle.INVALID_RESOURCES: gettext("Its resource requests are not allowed in this namespace."),
        Obstacle.WAITING_FOR_PODS_READY: gettext("It waits until the pods of jobs admitted before it are ready."),
        Obstacle.OUTRUN: gettext("Another job took the capacity in the same moment; it is tried again."),
        Obstacle.OVERLAPPING_PREEMPTION: gettext("Another job is already reclaiming the same capacity."),
    }
    return plain[mention.obstacle] % named if mention.obstacle in plain else ""


def _not_covered(mentions: tuple[Mention, ...]) -> Iterator[str]:
    resources = [resource_word(m.resource) for m in mentions if m.obstacle is Obstacle.NOT_COVERED]
    if resources:
        text = gettext("It can never start as it is: the queue has no quota for %(resource)s.")
        yield text % {"resource": _listed(list(dict.fromkeys(resources)))}


def _too_big(mentions: tuple[Mention, ...], *, in_vain: bool) -> Iterator[str]:
    """One sentence for all that goes beyond a flavor; one more where the amounts are not told."""
    beyond: dict[str, dict[str, int | None]] = {}
    for mention in mentions:
        if mention.obstacle is Obstacle.EXCEEDS_MAXIMUM:
            missing = beyond.setdefault(mention.flavor, {})
            told = [each for each in (mention.missing, missing.get(mention.resource)) if each is not None]
            missing[mention.resource] = max(told, default=None)
    for flavor, missing in beyond.items():
        amounts = [amount_text(amount, resource) for resource, amount in missing.items() if amount is not None]
        words = [resource_word(resource) for resource, amount in missing.items() if amount is None]
        if amounts:
            yield _beyond(in_vain=in_vain) % {"flavor": flavor_text(flavor), "amount": _listed(amounts)}
        if words:
            yield _beyond_untold(in_vain=in_vain) % {"flavor": flavor_text(flavor), "resource": _listed(words)}


def _beyond(*, in_vain: bool) -> str:
    if in_vain:
        return gettext(
            "It can never start as it is: in %(flavor)s it asks for %(amount)s more than the queue may ever use."
        )
    return gettext("It is too big for %(flavor)s: it asks for %(amount)s more than the queue may ever use there.")


def _beyond_untold(*, in_vain: bool) -> str:
    if in_vain:
        return gettext(
            "It can never start as it is: it asks for more %(resource)s of %(flavor)s than the queue may use."
        )
    return gettext("It is too big for %(flavor)s: it asks for more %(resource)s than the queue may use there.")
