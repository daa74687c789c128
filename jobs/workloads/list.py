"""Reads of one list of workloads: counted, put in order and cut to a page by the database, whatever its length."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Case, Count, F, Value, When
from django.db.models.expressions import OrderBy
from django.db.models.functions import Coalesce

from jobs.lists.addresses import LENGTH_OF, NONE
from jobs.lists.called import called, called_from_the_start
from jobs.lists.paging import Page, cut_page
from jobs.lists.reach import Reach, in_namespaces, of_team
from jobs.models import Workload
from jobs.models.workloads import WorkloadQuerySet
from jobs.queues.attention import overdue
from jobs.states import OVER, JobState
from jobs.workloads.filter import STATES_OF, Column, Group, WorkloadFilter

_OPTIONS_FROM = 1000  # of so many workloads, the news first; an address may name others


def narrowed(reach: Reach, wanted: WorkloadFilter, now: datetime) -> WorkloadQuerySet:
    """The workloads that the filter leaves, whatever their state.

    Clusters are left out, not chosen: there is mostly one, and SQLite would rather go by it than by the news.
    """
    others = [c.pk for c in reach.clusters if wanted.cluster not in ("", c.slug)]
    found = Workload.objects.all()
    if reach.hidden or others:
        found = found.exclude(cluster__in=[*reach.hidden, *others])
    if not reach.is_everything:
        found = found.filter(in_namespaces(reach.namespaces()))
    if wanted.q and reach.is_everything:
        found = found.filter(called_from_the_start(wanted.q, [c.pk for c in reach.clusters]))
    elif wanted.q:
        found = found.filter(called(wanted.q))
    if wanted.team:
        found = found.filter(of_team(reach, wanted.team))
    if wanted.stuck:
        found = found.live().filter(pk__in=overdue(now).values("workload"))
    if wanted.created:
        found = found.filter(created_at__gte=now - LENGTH_OF[wanted.created])
    exact = {"owner_kind": wanted.kind, "priority_class": wanted.priority, "queue_name": wanted.queue}
    return found.filter(**{name: "" if value == NONE else value for name, value in exact.items() if value})


@dataclass(frozen=True, slots=True)
class Tally:
    """How many workloads there are in each state. Total, pages and counters all come from it, so they agree."""

    by_state: Mapping[str, int]

    def of(self, states: Collection[str]) -> int:
        return sum(count for state, count in self.by_state.items() if state in states)

    def of_wanted(self, wanted: WorkloadFilter) -> int:
        return self.groups[wanted.group] if not wanted.state else self.of(wanted.states)

    def tabs(self, wanted: WorkloadFilter) -> list[tuple[Group, int]]:
        """Of each group as many as it leads to; of the one in force as many as are shown."""
        return [(group, self.of_wanted(wanted) if group == wanted.group else self.groups[group]) for group in Group]

    @property
    def groups(self) -> dict[Group, int]:
        counts = {group: self.of(STATES_OF[group]) for group in Group}
        return {**counts, Group.ALL: sum(self.by_state.values())}


def tally(workloads: WorkloadQuerySet) -> Tally:
    """Of all workloads along the index by state; of some, any other way than one by one in that order."""
    state = Coalesce("state", Value("")) if workloads.query.where else F("state")
    counted = workloads.order_by().annotate(of=state).values_list("of").annotate(count=Count("*"))
    return Tally(dict(counted))


def page_of(workloads: WorkloadQuerySet, wanted: WorkloadFilter, total: int) -> Page[Workload]:
    """One page of the workloads."""
    order = order_by(wanted)
    ordered = of_states(workloads, wanted).order_by(*order).values("pk")

    def ask(start: int, end: int) -> WorkloadQuerySet:
        rows = Workload.objects.filter(pk__in=ordered[start:end]).order_by(*order)
        return rows.defer("labels").select_related("cluster")

    return cut_page(ask, total, wanted.page, wanted.per)


def of_states(workloads: WorkloadQuerySet, wanted: WorkloadFilter) -> WorkloadQuerySet:
    """Those that the group or the state leaves. What is gone has ended, so the state alone tells what is there."""
    if wanted.group == Group.ALL and not wanted.state:
        return workloads
    if set(wanted.states) <= set(OVER):  # most of all rows: an index by state would lead to each of them
        return workloads.alias(end=Coalesce("state", Value(""))).filter(end__in=wanted.states)
    return workloads.filter(state__in=wanted.states)


_LIFE = Case(*(When(state=state, then=Value(place)) for place, state in enumerate(JobState)), default=Value(99))
_COLUMNS: Mapping[Column, F | Case] = {
    Column.JOB: Case(When(owner_name="", then=F("name")), default=F("owner_name")),
    Column.NAMESPACE: F("namespace"),
    Column.CLUSTER: F("cluster__slug"),
    Column.STATE: _LIFE,
    Column.GPUS: F("gpus"),
    Column.PRIORITY: F("priority"),
    Column.SINCE: F("since"),
    Column.CREATED: F("created_at"),
}
_IN_LINE = ("-is_queued", "-is_preempting", "-priority", "queued_at", "uid")


def order_by(wanted: WorkloadFilter) -> list[OrderBy]:
    """The order, without ties: equals follow each other by key."""
    column, descending = wanted.order
    keys = (
        [(F(name.removeprefix("-")), descending != name.startswith("-")) for name in _IN_LINE]
        if column == Column.POSITION
        else [(_COLUMNS[column], descending)]
    )
    return [OrderBy(key, descending=down) for key, down in keys] + [OrderBy(F("pk"))]


@dataclass(frozen=True, slots=True)
class Options:
    """Values to choose from, in order."""

    kinds: list[str]
    priority_classes: list[str]
    queues: list[str]


def options_of(reach: Reach) -> Options:
    """What those workloads have of which there is news: to look at all of them would cost more than the list."""
    recent = narrowed(reach, WorkloadFilter(), datetime.min).order_by("-since", "pk")[:_OPTIONS_FROM]
    found = set(recent.values_list("owner_kind", "priority_class", "queue_name"))
    kinds, classes, queues = (sorted({row[n] for row in found if row[n]}) for n in range(3))
    return Options(kinds, classes, queues)
