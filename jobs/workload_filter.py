"""Which workloads a list shows, in which order and on which page, as an address tells it. Pure.

An address is anybody's text. What it says is understood, corrected, or left out with a sentence; it is never an error.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.db.models import TextChoices
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from jobs.states import HOLDING, OVER, WAITING, JobState

NONE = "-"
"""No priority class, no team: what no object and no team can be called."""

PER_PAGE = (25, 50, 100)

_LONGEST_NAME = 253
_LONGEST_PAGE = 12  # digits
_MOST_NOTES = 5


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


class Age(TextChoices):
    """Within which time a workload was created."""

    HOUR = "1h", _("in the last hour")
    DAY = "24h", _("in the last 24 hours")
    WEEK = "7d", _("in the last 7 days")
    MONTH = "30d", _("in the last 30 days")


LENGTH_OF: Mapping[str, timedelta] = {
    Age.HOUR: timedelta(hours=1),
    Age.DAY: timedelta(days=1),
    Age.WEEK: timedelta(days=7),
    Age.MONTH: timedelta(days=30),
}

_NEWS_FIRST = "-since"
_SORT = {Group.WAITING: "position", Group.RUNNING: "since"}
_SORT_OF_ALL = {Group.WAITING: "since", Group.RUNNING: "since"}
_OF_ALL_ONLY = ("team", "stuck")
_LARGEST_FIRST = (Column.GPUS, Column.PRIORITY, Column.SINCE, Column.CREATED)


@dataclass(frozen=True, slots=True)
class WorkloadFilter:
    """Fields are called as in the address; an empty one narrows nothing. `sort` is a Column, descending after a `-`.

    `of_all` is no part of the address: whether the list is over all teams.
    """

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

    @property
    def query(self) -> str:
        """The part of the address after its path, with only what differs from a plain list."""
        told = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.default != getattr(self, field.name)
        }
        told.pop("of_all", None)
        if self.state:
            told.pop("group", None)
        return "?" + urlencode({name: "1" if value is True else str(value) for name, value in told.items()})

    def link(self, **changes: Any) -> str:
        """The address of the same list with some fields changed, from its first page."""
        return replace(self, **{"page": 1, **changes}).query

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
    read: dict[str, Any] = {}
    notes = []
    for name, text in told.items():
        if name not in _READERS or (name in _OF_ALL_ONLY and not of_all):
            notes.append(gettext("This list has no filter “%(name)s”; it was left out.") % {"name": _short(name)})
        elif text:
            try:
                read[name] = _READERS[name](text)
            except ValueError:
                words = {"name": name, "text": _short(text)}
                notes.append(gettext("“%(text)s” is nothing that “%(name)s” can be; it was left out.") % words)
    if "state" in read:
        if read["state"] not in STATES_OF[read.get("group", Group.ALL)]:
            notes.append(gettext("No job of that group is in that state; the group was left out."))
        read["group"] = _group_of(read["state"])
    return WorkloadFilter(**read, of_all=of_all), notes[:_MOST_NOTES]


def _group_of(state: str) -> Group:
    return next(
        (group for group in (Group.WAITING, Group.RUNNING, Group.ENDED) if state in STATES_OF[group]), Group.ALL
    )


def _short(text: str) -> str:
    shown = _printable(text)
    return shown if len(shown) <= 40 else f"{shown[:40]}…"


def _printable(text: str) -> str:
    return "".join(character for character in text if character.isprintable())


def searched_text(text: str) -> str:
    """Nothing longer than a name can be found, and nothing that cannot be seen."""
    return _printable(text).strip()[:_LONGEST_NAME]


def _name(text: str) -> str:
    if len(text) > _LONGEST_NAME or not text.isprintable():
        raise ValueError(text)
    return text


def _sort(text: str) -> str:
    Column(text.removeprefix("-"))
    return text


def _flag(text: str) -> bool:
    if text != "1":
        raise ValueError(text)
    return True


def _per(text: str) -> int:
    if text not in map(str, PER_PAGE):
        raise ValueError(text)
    return int(text)


def _page(text: str) -> int:
    """The last page that there is, if it is more; nobody has a page of more digits."""
    if not (text.isascii() and text.isdecimal()):
        raise ValueError(text)
    return max(1, int(text[:_LONGEST_PAGE]))


_READERS: Mapping[str, Callable[[str], Any]] = {
    "q": searched_text,
    "group": Group,
    "state": lambda text: JobState(text).value,
    "kind": _name,
    "priority": _name,
    "queue": _name,
    "cluster": _name,
    "team": _name,
    "created": lambda text: Age(text).value,
    "stuck": _flag,
    "sort": _sort,
    "per": _per,
    "page": _page,
}
