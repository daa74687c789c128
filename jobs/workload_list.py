"""Reads of one list of workloads: counted, put in order and cut to a page by the database, whatever its length."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar

from django.db.models import Case, Count, F, Q, Value, When
from django.db.models.expressions import OrderBy
from django.db.models.functions import Coalesce

from accounts.models import User
from jobs.addresses import LENGTH_OF, NONE
from jobs.attention import overdue
from jobs.called import called, called_from_the_start
from jobs.models import Workload
from jobs.models.workloads import WorkloadQuerySet
from jobs.states import OVER, JobState
from jobs.workload_filter import STATES_OF, Column, Group, WorkloadFilter
from teams.models import Cluster, NamespaceBinding
from teams.permissions import Permission
from teams.roles import roles_of

Row = TypeVar("Row")

_OPTIONS_FROM = 1000  # of so many workloads, the news first; an address may name others

Namespaces = Mapping[int, Collection[str]]
"""By cluster key."""
Owners = Mapping[tuple[int, str], "Owner"]
"""By cluster key and namespace."""


class Owner(NamedTuple):
    """The team of a namespace."""

    slug: str
    name: str


@dataclass(frozen=True, slots=True)
class Reach:
    """What a list is over: one team's namespaces, or all workloads. `owners`: of all namespaces in the second case.
    `hidden`: clusters of which nothing is shown."""

    clusters: tuple[Cluster, ...]
    hidden: tuple[int, ...]
    owners: Owners
    is_everything: bool

    @property
    def teams(self) -> list[Owner]:
        """In the order of their slugs."""
        return sorted(set(self.owners.values()))

    def namespaces(self, team: str = "") -> Namespaces:
        """Those of one team by its slug, or of all that are known."""
        found: dict[int, set[str]] = defaultdict(set)
        for (cluster, namespace), owner in self.owners.items():
            if team in ("", owner.slug):
                found[cluster].add(namespace)
        return found


def reach_of_team(slug: str) -> Reach:
    """Where the team has namespaces now."""
    return _reach_of(_bindings().filter(team__slug=slug))


def reach_of_person(user: User) -> Reach:
    """Where the person's teams have namespaces now, or everything for a platform role."""
    roles = roles_of(user)
    if roles.everywhere(Permission.SEE_TEAM):
        return reach_of_all()
    return _reach_of(_bindings().filter(team__in=roles.team_ids(Permission.SEE_TEAM)))


def _reach_of(bindings: Any) -> Reach:
    bound = list(bindings.select_related("cluster", "team"))
    clusters = {binding.cluster for binding in bound}
    owners = {(each.cluster_id, each.namespace): Owner(each.team.slug, each.team.name) for each in bound}
    return Reach(tuple(sorted(clusters, key=lambda c: c.slug)), (), owners, is_everything=False)


def reach_of_all() -> Reach:
    """Every active cluster, also what no team owns there."""
    clusters = list(Cluster.objects.all())
    active = tuple(cluster for cluster in clusters if cluster.archived_at is None)
    archived = tuple(cluster.pk for cluster in clusters if cluster.archived_at is not None)
    rows = _bindings().values_list("cluster_id", "namespace", "team__slug", "team__name")
    owners = {(cluster, namespace): Owner(slug, name) for cluster, namespace, slug, name in rows}
    return Reach(active, archived, owners, is_everything=True)


def _bindings() -> Any:
    return NamespaceBinding.objects.current().filter(cluster__archived_at__isnull=True)


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


def of_team(reach: Reach, team: str) -> Q:
    """For rows with a cluster and a namespace: those of one team, or those that no team owns (NONE)."""
    return ~in_namespaces(reach.namespaces()) if team == NONE else in_namespaces(reach.namespaces(team))


def in_namespaces(namespaces: Namespaces) -> Q:
    """For rows with a cluster and a namespace."""
    found = Q(pk__in=[])
    for cluster, names in namespaces.items():
        found |= Q(cluster=cluster, namespace__in=names)
    return found


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


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """One page of a list; `first` and `last` count from 1, 0 in an empty list."""

    rows: Sequence[Row]
    number: int
    pages: int
    total: int
    first: int

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1 if self.rows else 0


def cut_page(ask: Callable[[int, int], Iterable[Row]], total: int, number: int, per: int) -> Page[Row]:
    """The page that is asked for, or the last one; `ask` gives the rows from one place to before another."""
    pages = max(1, -(-total // per))
    number = min(number, pages)
    start = (number - 1) * per
    rows = list(ask(start, start + per)) if total else []
    return Page(rows, number, pages, total, start + 1 if rows else 0)


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
