"""Template tags that draw quota and workloads, and put them in words."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from django import template
from django.utils.formats import number_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext, ngettext

from jobs.models import QueueNow, Workload
from jobs.queues.team_now import ClusterNow, Running, TeamLine
from jobs.rules.quota_bar import quota_bar
from jobs.rules.time_to_start import Actor
from jobs.states import JobState
from jobs.words import amounts, quotas
from jobs.words.bar import axis_marks, end_words, segment_labels, tick_words
from portal.templatetags.ui import icon
from teams import gpu_models
from teams.models import NodeCapacity

register = template.Library()

register.simple_tag(amounts.amount_text, name="amount")
register.simple_tag(quotas.quota_sentence)
register.simple_tag(quotas.lent_text, name="lent")
register.simple_tag(quotas.most_text, name="at_most")
register.simple_tag(quotas.asks_for)
register.simple_tag(amounts.plain_amount, name="plain")
register.filter("gpu_model", gpu_models.gpu_model)

_MOST_PIPS = 40
_PIPS_A_LINE = 8
_PIP_STEP = 15
_PIP = '<rect x="{}" y="{}" width="12" height="12" class="{}"></rect>'
_CROSS = '<path class="pip-rec-x" transform="translate({} {})" d="M2 2l8 8M10 2l-8 8"></path>'

_LOOKS = {
    JobState.QUEUED: ("quiet", "clock"),
    JobState.INADMISSIBLE: ("bad", "ban"),
    JobState.RESERVED: ("info", "loader"),
    JobState.PREPARING: ("info", "loader"),
    JobState.RUNNING: ("ok", "play"),
    JobState.GIVING_BACK: ("warn", "ret"),
    JobState.INTERRUPTED: ("warn", "loop"),
    JobState.PAUSED: ("quiet", "pause"),
    JobState.FINISHED: ("ok", "check"),
    JobState.FAILED: ("bad", "x"),
    JobState.CANCELLED: ("quiet", "minus"),
}
_WHO = {Actor.OWNER: "you", Actor.SCHEDULER: "cluster", Actor.CLUSTER: "cluster", Actor.PLATFORM: "team"}


@register.simple_tag
def state(workload: Workload) -> SafeString:
    """The workload's state as a pill: words, icon and tone."""
    if workload.is_back_in_line:
        return _pill(*_LOOKS[JobState.INTERRUPTED], gettext("Interrupted, queued again"))
    return state_pill(workload.state)


@register.simple_tag
def state_pill(name: str) -> SafeString:
    """A state that this release does not know is shown as it is called."""
    return _state_pill(name, get_language())


@lru_cache(maxsize=256)
def _state_pill(name: str, language: str | None) -> SafeString:
    tone, picture = _LOOKS.get(JobState(name), ("unknown", "help")) if name in JobState else ("unknown", "help")
    return _pill(tone, picture, str(JobState(name).label) if name in JobState else name)


@lru_cache(maxsize=256)
def _pill(tone: str, picture: str, label: str) -> SafeString:
    return format_html('<span class="pill pill--{}">{}{}</span>', tone, icon(picture), label)


@register.simple_tag
def who(actor: Actor) -> SafeString:
    """Who must act."""
    return _who(_WHO.get(actor, "nobody"), str(actor.label))


@lru_cache(maxsize=256)
def _who(look: str, label: str) -> SafeString:
    return format_html('<span class="who who--{}">{}</span>', look, label)


@register.simple_tag
def resource_word(row: QueueNow) -> str:
    return amounts.resource_word(row.resource)


@register.filter
def consequences(row: QueueNow) -> Iterable[str]:
    return list(quotas.consequences(row))


@register.simple_tag
def runs_on(running: Running) -> str:
    return quotas.share_text(running.own, running.borrowed)


@register.inclusion_tag("components/quota_row.html")
def quota_row(line: TeamLine, here: ClusterNow) -> dict[str, Any]:
    """One GPU type of a team: bar, sentence, what follows from it."""
    shared = gettext("Other teams use this queue, too; your team uses %(uses)s of it.")
    uses = amounts.amount_text(line.team_uses, line.now.resource)
    return {
        **bar_context(line.now),
        "shows_queue": len(here.cluster_queues) > 1,
        "consequences": quotas.consequences(line.now),
        "shared": shared % {"uses": uses} if line.is_shared else "",
        "used": number_format(line.now.reservation),
        "unit": ngettext("GPU in use", "GPUs in use", line.now.reservation),
    }


def bar_context(row: QueueNow, scale: int | None = None) -> dict[str, Any]:
    """What `components/quota_bar.html` draws."""
    bar = quota_bar(row.bar_amounts, scale)
    sentence, model = quotas.quota_sentence(row), gpu_models.gpu_model(row.flavor)
    return {
        "row": row,
        "bar": bar,
        "model": model,
        "sentence": sentence,
        "label": f"{model}. {sentence}",
        "tick_text": tick_words(bar),
        "end_text": end_words(bar),
        "segment_texts": segment_labels(bar),
    }


@register.inclusion_tag("components/small_bar.html")
def small_bar(row: QueueNow, scale: int) -> dict[str, Any]:
    """A thin bar on a scale that several queues share."""
    return bar_context(row, scale)


@register.inclusion_tag("components/axis.html")
def axis(scale: int) -> dict[str, Any]:
    """The shared scale's marks."""
    return {"marks": axis_marks(scale)}


@register.simple_tag
def can_lend(row: QueueNow) -> str:
    """“ Can still lend 4.”, or nothing where it lends nothing more or nobody knows."""
    if row.lendable is None or row.lent_high is None or row.lendable <= row.lent_high:
        return ""
    return " " + gettext("Can still lend %(count)s.") % {"count": number_format(row.lendable - row.lent_high)}


@register.simple_tag
def node_pips(capacity: NodeCapacity) -> SafeString:
    """One square per node, those in recovery crossed; only the number where there are too many."""
    if capacity.total > _MOST_PIPS:
        return format_html("{}", number_format(capacity.total))
    places = [(n % _PIPS_A_LINE * _PIP_STEP, n // _PIPS_A_LINE * _PIP_STEP) for n in range(capacity.total)]
    fine = format_html_join("", _PIP, ((*place, "pip-ok") for place in places[: capacity.healthy]))
    crossed = format_html_join("", _PIP + _CROSS, ((*place, "pip-rec", *place) for place in places[capacity.healthy :]))
    label = gettext("%(healthy)s of %(total)s nodes healthy") % {"healthy": capacity.healthy, "total": capacity.total}
    width, lines = min(capacity.total, _PIPS_A_LINE), -(-capacity.total // _PIPS_A_LINE)
    drawn = '<svg role="img" aria-label="{}" width="{}" height="{}">{}{}</svg>'
    return format_html(drawn, label, width * _PIP_STEP, lines * _PIP_STEP, fine, crossed)


@register.simple_tag
def outside_quotas(instance_type: str, gpus: int) -> str:
    """“8 GPUs of H100 idle outside all quotas: ask the platform admin.”"""
    text = ngettext(
        "%(count)s GPU of %(model)s is idle outside all quotas: ask the platform admin.",
        "%(count)s GPUs of %(model)s are idle outside all quotas: ask the platform admin.",
        gpus,
    )
    return text % {"count": number_format(gpus), "model": gpu_models.gpu_model(instance_type)}
