"""Template tags that tell how a workload came to start."""

from datetime import datetime, timedelta
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import get_text_list
from django.utils.translation import gettext

from jobs.rules.time_to_start import Actor, Attempt, Phase, by_actor, time_to_start
from portal.times import duration_text

register = template.Library()

_HATCHES = {Actor.PLATFORM: "hatch-borrow", Actor.OWNER: "hatch-over", Actor.UNKNOWN: "hatch-unknown"}


@register.inclusion_tag("components/start_bar.html")
def start_bar(attempt: Attempt, now: datetime) -> dict[str, Any]:
    """The time until its pods ran, split by who had to act, as a bar and as a list."""
    slices = time_to_start(attempt, now)
    shares = by_actor(slices)
    parts = [f"{actor.label} {duration_text(length)}" for actor, length in shares.items()]
    total = sum(shares.values(), timedelta())
    return {
        "slices": slices,
        "sentence": _sentence(attempt, duration_text(total)) if slices else "",
        "label": get_text_list(parts, gettext("and")),
        "now": now,
    }


@register.simple_tag
def hatch(actor: Actor) -> SafeString | str:
    """The attribute that fills an actor's piece with a pattern; the others are filled by style."""
    return format_html(' fill="url(#{})"', _HATCHES[actor]) if actor in _HATCHES else ""


@register.filter
def phase_words(phase: Phase) -> str:
    """What it waited for."""
    return {
        Phase.QUEUE: gettext("in the queue, for quota"),
        Phase.CHECKS: gettext("for the admission checks"),
        Phase.PODS: gettext("for its pods to be ready"),
        Phase.UNACCOUNTED: gettext("not told by the facts"),
    }[phase]


def _sentence(attempt: Attempt, total: str) -> str:
    if attempt.phase and not attempt.ended_at:
        return gettext("It has not started yet, after %(total)s.") % {"total": total}
    if attempt.phase:
        return gettext("It ended before it had started, after %(total)s.") % {"total": total}
    if attempt.ready_at:
        return gettext("It took %(total)s to start.") % {"total": total}
    return gettext("It took %(total)s until it was admitted; when its pods ran is not known.") % {"total": total}
