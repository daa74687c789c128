"""A queue among many on one scale. A page holds hundreds of them, few of which change from one reading to the next."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from jobs.models import QueueNow
from jobs.queues.platform_now import QueueLine
from teams.models import Cluster

register = template.Library()

_all_columns = attrgetter(*(column.attname for column in QueueNow._meta.concrete_fields))


@dataclass(frozen=True, slots=True)
class _Shown:
    """`values`: all that the template may read, so that equal ones look the same."""

    values: tuple[Hashable, ...]
    cluster: Cluster = field(compare=False)
    line: QueueLine = field(compare=False)
    scale: int


@register.simple_tag
def queue_line(cluster: Cluster, line: QueueLine, scale: int) -> SafeString:
    """Its teams, its bar, its limit and what they say in words; drawn anew when something of it changed."""
    teams = tuple((team.slug, team.name) for team in line.teams)
    return _drawn(_Shown((get_language(), cluster.slug, teams, *_all_columns(line.now)), cluster, line, scale))


@lru_cache(maxsize=4096)
def _drawn(shown: _Shown) -> SafeString:
    context = {"cluster": shown.cluster, "line": shown.line, "scale": shown.scale}
    return render_to_string("components/queue_line.html", context)
