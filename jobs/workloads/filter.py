"""Which workloads a list shows, in which order and on which page, as an address tells it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import TextChoices
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from jobs.lists.addresses import (
    PER_PAGE,
    Age,
    ListAddress,
    Readers,
    flag,
    name_text,
    page_number,
    per_page,
    read_address,
    searched_text,
    shown_notes,
)
from jobs.states import HOLDING, OVER, WAITING, JobState


class Group(TextChoices):
    ALL = "all", _("All")
    NOW = "now", _("Now")
    WAITING = "waiting", _("Waiting")
    RUNNING = "running", _("Running")
    ENDED = "ended", pgettext_lazy("jobs that have", "Ended")


STATES_OF: Mapping[Group, tuple[JobState, ...]] = {
    Group.ALL: tuple(JobState),
    Group.NOW: tuple(state for state in JobState if state not in OVER),
    Group.WAITING: WAITING,
    Group.RUNNING: HOLDING,
    Group.ENDED: OVER,
}


class Column(TextChoices):
    """What a list can be sorted by."""

    JOB = "job", _("Job")
    NAMESPACE = "namespace", _("Namespace")
    CLUSTER = "cluster", _("Cluster")
    STATE = "state", _("State")
    GPUS = "gpus", _("GPUs")
    PRIORITY = "priority", _("Priority")
    POSITION = "position", _("Position")
    SINCE = "since", _("Since")
    CREATED = "created", _("Created")


_NEWS_FIRST = "-since"
_SORT = {Group.WAITING: "position", Group.RUNNING: "since"}
_SORT_OF_ALL = {Group.WAITING: "since", Group.RUNNING: "since"}
_OF_ALL_ONLY = ("team", "stuck")
_LARGEST_FIRST = (Column.GPUS, Column.PRIORITY, Column.SINCE, Column.CREATED)


@dataclass(frozen=True, slots=True)
class WorkloadFilter(ListAddress):
    """Fields are called as in the address; an empty one narrows nothing. `sort` is a Column, descending after a `-`."""

    q: str = ""
    group: Group = Group.ALL
    state: str = ""
    kind: str = ""
    priority: str = ""
    queue: str = ""
    cluster: str = ""
    team: str = ""
    created: str = ""
    stuck: bool = False
    sort: str = ""
    per: int = PER_PAGE[0]
    page: int = 1
    of_all: bool = False

    @property
    def group_states(self) -> tuple[JobState, ...]:
        return STATES_OF[self.group]

    @property
    def states(self) -> tuple[JobState, ...]:
        return (JobState(self.state),) if self.state else self.group_states

    @property
    def order(self) -> tuple[Column, bool]:
        """The column, and whether the largest comes first."""
        sort = self.sort or (_SORT_OF_ALL if self.of_all else _SORT).get(self.group, _NEWS_FIRST)
        return Column(sort.removeprefix("-")), sort.startswith("-")

    @property
    def narrowing(self) -> list[str]:
        """Names of the fields that leave something out, besides the text searched for and the group."""
        names = ("state", "kind", "priority", "queue", "cluster", "team", "created", "stuck")
        return [name for name in names if getattr(self, name)]

    @property
    def is_open(self) -> bool:
        """Whether the whole group is shown."""
        return not self.q and not self.narrowing

    def told(self) -> dict[str, Any]:
        """A state is of one group."""
        told = super(WorkloadFilter, self).told()
        if self.state:
            told.pop("group", None)
        return told

    def group_link(self, group: Group) -> str:
        return self.link(group=group, state="", sort="")

    def sort_link(self, column: Column) -> str:
        """Sorted by the column; where it is already, the other way round."""
        now, descending = self.order
        descending = not descending if column == now else column in _LARGEST_FIRST
        return self.link(sort=f"-{column.value}" if descending else column.value)

    def cleared(self) -> str:
        """The whole group, in the same order."""
        return WorkloadFilter(group=self.group, sort=self.sort, per=self.per).query


def read_filter(told: Mapping[str, str], *, of_all: bool = False) -> tuple[WorkloadFilter, list[str]]:
    """The filter an address asks for, and a sentence for each part of it that could not be followed."""
    readers = {name: read for name, read in _READERS.items() if of_all or name not in _OF_ALL_ONLY}
    read, notes = read_address(told, readers)
    if "state" in read:
        if read["state"] not in STATES_OF[read.get("group", Group.ALL)]:
            notes.append(gettext("No job of that group is in that state; the group was left out."))
        read["group"] = _group_of(read["state"])
    return WorkloadFilter(**read, of_all=of_all), shown_notes(notes)


def _group_of(state: str) -> Group:
    return next(
        (group for group in (Group.WAITING, Group.RUNNING, Group.ENDED) if state in STATES_OF[group]), Group.ALL
    )


def _sort(text: str) -> str:
    Column(text.removeprefix("-"))
    return text


_READERS: Readers = {
    "q": searched_text,
    "group": Group,
    "state": lambda text: JobState(text).value,
    "kind": name_text,
    "priority": name_text,
    "queue": name_text,
    "cluster": name_text,
    "team": name_text,
    "created": lambda text: Age(text).value,
    "stuck": flag,
    "sort": _sort,
    "per": per_page,
    "page": page_number,
}
