"""Template tags of lists of workloads."""

from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlencode

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

from jobs.lists.choices import Choice
from jobs.lists.reach import Owner
from jobs.live import kubectl
from jobs.models import Workload
from jobs.states import HOLDING, OVER, WAITING
from jobs.workloads.filter import Column, Group, WorkloadFilter
from jobs.workloads.search import QueueFound
from teams.models import Cluster

register = template.Library()

register.simple_tag(kubectl.list_command)
register.simple_tag(kubectl.describe_command)


@register.simple_tag
def options(choice: Choice) -> SafeString:
    """What can be chosen; not in a template, since there may be hundreds of teams."""
    rows = ((value, SafeString(" selected" if value == choice.value else ""), words) for value, words in choice.options)
    return format_html_join("", '<option value="{}"{}>{}</option>', rows)


@register.simple_tag
def owner_cell(
    owner: Owner | None, namespace: str, link: str, cluster: Cluster | None = None, shows_cluster: bool = False
) -> SafeString:
    """The team that a namespace belongs to, or no team; leads to the team's page of that name. With the cluster where
    there are several: beside the team a column of its own leaves the others too little room."""
    shown = cluster.name if cluster and shows_cluster else ""
    return _owner_cell(owner, namespace, shown, link, get_language())


@lru_cache(maxsize=4096)
def _owner_cell(owner: Owner | None, namespace: str, cluster: str, link: str, language: str | None) -> SafeString:
    words = '<a href="{}" dir="auto">{}</a>'
    team = format_html(words, reverse(link, args=[owner.slug]), owner.name) if owner else gettext("no team")
    place = format_html('{}<span class="tbl-sub mono">{}</span>', team, namespace)
    if cluster:
        place += format_html('<span class="tbl-sub">{}</span>', cluster)
    return format_html('<td role="cell" class="place">{}</td>', place)


@register.inclusion_tag("components/sort.html")
def sort_header(wanted: WorkloadFilter, name: str, *, numeric: bool = False) -> dict[str, Any]:
    """A column's head, which sorts by it; once more, the other way round."""
    column = Column(name)
    sorted_by, descending = wanted.order
    direction = "descending" if descending else "ascending"
    return {
        "label": _since_words(wanted) if column == Column.SINCE else column.label,
        "link": wanted.sort_link(column),
        "direction": direction if column == sorted_by else "",
        "numeric": numeric,
    }


def _since_words(wanted: WorkloadFilter) -> str:
    """A group of one kind of state can say what began then."""
    words = {
        Group.WAITING: gettext("Waiting"),
        Group.RUNNING: gettext("Holds quota for"),
        Group.ENDED: gettext("Ended"),
    }
    return words.get(wanted.group) or str(Column.SINCE.label)


@register.simple_tag
def queue_link(queue: QueueFound, sees_all: bool) -> str:
    """Of a LocalQueue its jobs, of a ClusterQueue its bar: on the overview for those who see all, else on the team's
    page."""
    if queue.namespace:
        jobs = reverse("all-workloads") if sees_all else reverse("team-workloads", args=[queue.team])
        return f"{jobs}?{urlencode({'queue': queue.name, 'cluster': queue.cluster.slug})}"
    if not sees_all:
        return f"{reverse('team', args=[queue.team])}#h-quota-{queue.cluster.slug}"
    return f"{reverse('overview')}#{queue_anchor(queue.cluster.slug, queue.name, *(queue.accelerator or ('', '')))}"


@register.simple_tag
def queue_anchor(cluster: str, cluster_queue: str, flavor: str, resource: str) -> str:
    """The id of one bar on the overview."""
    return quote(f"queue-{cluster}-{cluster_queue}-{flavor}-{resource}")


@register.simple_tag
def since_label(workload: Workload) -> str:
    """What `since` is of one workload."""
    of_state = {WAITING: gettext("Waiting"), HOLDING: gettext("Holds quota for"), OVER: gettext("Ended")}
    return next((words for states, words in of_state.items() if workload.state in states), str(Column.SINCE.label))
