"""Which evictions a list shows, in which order and on which page, as an address tells it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from jobs.lists.addresses import (
    LENGTH_OF,
    PER_PAGE,
    Age,
    ListAddress,
    Readers,
    name_text,
    page_number,
    per_page,
    read_address,
    searched_text,
    shown_notes,
)
from jobs.lists.months import month_after, month_of

_OF_ALL_ONLY = ("team",)


class Column(TextChoices):
    """What the list can be sorted by, the largest first."""

    DECIDED = "decided", _("When")
    LOST = "lost", _("Lost")


class SumBy(TextChoices):
    """What losses can be added up by."""

    TEAM = "team", _("Team")
    WORKLOAD = "job", _("Job")
    QUEUE = "queue", _("Queue")
    PREEMPTOR = "preemptor", _("Taken by")
    PRIORITY = "priority", _("Priority class")
    FLAVOR = "flavor", _("GPU type")
    WEEK = "week", _("Week")
    MONTH = "month", _("Month")

    @property
    def is_of_time(self) -> bool:
        """Then it is UTC's, whatever the reader's zone is."""
        return self in (SumBy.WEEK, SumBy.MONTH)


@dataclass(frozen=True, slots=True)
class EvictionFilter(ListAddress):
    """Fields are called as in the address; an empty one narrows nothing. `time` is an Age or a month (2026-11, UTC),
    `reason` one of Kueue's reasons or rules of preemption, `by` the slug of the preemptor's team, `team` that of the
    victim's; either may be NONE."""

    q: str = ""
    time: str = ""
    reason: str = ""
    by: str = ""
    priority: str = ""
    cluster: str = ""
    team: str = ""
    sums: str = ""
    sort: Column = Column.DECIDED
    per: int = PER_PAGE[0]
    page: int = 1
    of_all: bool = False

    def window(self, now: datetime) -> tuple[datetime | None, datetime | None]:
        """From when, to before when."""
        if self.time in LENGTH_OF:
            return now - LENGTH_OF[self.time], None
        start = month_of(self.time)
        return start, month_after(start) if start else None

    @property
    def narrowing(self) -> list[str]:
        """Names of the fields that leave something out, besides the text searched for."""
        names = ("time", "reason", "by", "priority", "cluster", "team")
        return [name for name in names if getattr(self, name)]

    @property
    def is_open(self) -> bool:
        """Whether all evictions are shown."""
        return not self.q and not self.narrowing

    def cleared(self) -> str:
        """All evictions, in the same order."""
        return EvictionFilter(sums=self.sums, sort=self.sort, per=self.per).query


def sums_of(*, of_all: bool) -> list[SumBy]:
    """By what a list can be added up: by team only where there are several."""
    return [by for by in SumBy if of_all or by != SumBy.TEAM]


def read_filter(told: Mapping[str, str], *, of_all: bool = False) -> tuple[EvictionFilter, list[str]]:
    """The filter an address asks for, and a sentence for each part of it that could not be followed."""
    readers = {name: read for name, read in _READERS.items() if of_all or name not in _OF_ALL_ONLY}
    readers["sums"] = partial(_sums, of_all=of_all)
    read, notes = read_address(told, readers)
    return EvictionFilter(**read, of_all=of_all), shown_notes(notes)


def _time(text: str) -> str:
    return text if month_of(text) else Age(text).value


def _sums(text: str, *, of_all: bool) -> str:
    if SumBy(text) not in sums_of(of_all=of_all):
        raise ValueError(text)
    return text


_READERS: Readers = {
    "q": searched_text,
    "time": _time,
    "reason": name_text,
    "by": name_text,
    "priority": name_text,
    "cluster": name_text,
    "team": name_text,
    "sort": Column,
    "per": per_page,
    "page": page_number,
}
