"""Template tags of lists of workloads."""

from typing import Any

from django import template
from django.utils.translation import gettext

from jobs.models import Workload
from jobs.states import HOLDING, OVER, WAITING
from jobs.workload_filter import Column, Group, WorkloadFilter

register = template.Library()


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
def since_label(workload: Workload) -> str:
    """What `since` is of one workload."""
    of_state = {WAITING: gettext("Waiting"), HOLDING: gettext("Holds quota for"), OVER: gettext("Ended")}
    return next((words for states, words in of_state.items() if workload.state in states), str(Column.SINCE.label))
