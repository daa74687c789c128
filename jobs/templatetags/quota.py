"""Template tags that put quota and workloads in words."""

from collections.abc import Iterable

from django import template

from jobs import amounts, wording
from jobs.models import QueueNow
from jobs.team_now import Running

register = template.Library()

register.simple_tag(amounts.amount_text, name="amount")
register.simple_tag(wording.quota_sentence)
register.simple_tag(wording.lent_text, name="lent")
register.simple_tag(wording.most_text, name="at_most")
register.simple_tag(wording.asks_for)
register.simple_tag(amounts.plain_amount, name="plain")


@register.simple_tag
def resource_word(row: QueueNow) -> str:
    return amounts.resource_word(row.resource)


@register.filter
def consequences(row: QueueNow) -> Iterable[str]:
    return list(wording.consequences(row))


@register.simple_tag
def runs_on(running: Running) -> str:
    return wording.share_text(running.own, running.borrowed)
