"""Reads of one list of evictions: narrowed, added up, and cut to a page by the database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.expressions import OrderBy
from django.db.models.functions import Coalesce

from jobs.evictions.filter import Column, EvictionFilter
from jobs.lists.addresses import NONE
from jobs.lists.called import called, called_from_the_start
from jobs.lists.paging import Page, cut_page
from jobs.lists.reach import Reach, in_namespaces, of_team
from jobs.models import Eviction, Span, Workload
from jobs.rules.lost_work import Total
from jobs.sight import Sight
from scheduling.names import PREEMPTED

Evictions: TypeAlias = "QuerySet[Eviction, Any]"

_OPTIONS_FROM = 1000  # of so many evictions, the newest first; an address may name others


def narrowed(reach: Reach, wanted: EvictionFilter, sight: Sight, now: datetime) -> Evictions:
    """The evictions within reach that the filter leaves."""
    mine = Q() if reach.is_everything else in_namespaces(reach.namespaces())
    clusters = [cluster.pk for cluster in reach.clusters if wanted.cluster in ("", cluster.slug)]
    found = Eviction.objects.filter(mine, cluster__in=clusters)
    start, end = wanted.window(now)
    if start:
        found = found.filter(decided_before__gte=start)
    if end:
        found = found.filter(decided_before__lt=end)
    if wanted.q:
        named = called_from_the_start(wanted.q, clusters) if reach.is_everything else called(wanted.q)
        found = found.filter(workload__in=Workload.objects.filter(mine).filter(named))
    if wanted.team:
        found = found.filter(of_team(reach, wanted.team))
    if wanted.reason:
        found = found.filter(Q(reason=wanted.reason) | Q(preemption=wanted.reason))
    if wanted.priority:
        found = found.filter(priority_class="" if wanted.priority == NONE else wanted.priority)
    return _taken_by(found, wanted.by, sight)


def _taken_by(found: Evictions, team: str, sight: Sight) -> Evictions:
    """Of a team that the reader may not know nothing is found, as of one that does not exist."""
    if team == NONE:
        return found.filter(reason=PREEMPTED).exclude(sight.named)
    return found.filter(sight.named, preemptor_team__slug=team) if team else found


@dataclass(frozen=True, slots=True)
class Tally:
    """Of all that the filter leaves."""

    count: int
    lost: Total


def tally(found: Evictions) -> Tally:
    sums = found.order_by().aggregate(**SUMS)
    return Tally(sums["count"], total_of(sums))


SUMS = {
    "count": Count("*"),
    "known": Count("lost_expected"),
    "low": Coalesce(Sum("lost_low"), 0),
    "expected": Coalesce(Sum("lost_expected"), 0),
    "high": Coalesce(Sum("lost_high"), 0),
    "held": Coalesce(Sum("stopping"), 0),
    "held_known": Count("stopping"),
}
"""What the database adds up of evictions; their columns are bounded so that it can."""


def total_of(sums: Mapping[str, Any]) -> Total:
    """Of the values of SUMS."""
    low, expected, high, held = (int(sums[name]) for name in ("low", "expected", "high", "held"))
    return Total(low, expected, high, held, sums["count"] - sums["known"], sums["count"] - sums["held_known"])


def page_of(found: Evictions, wanted: EvictionFilter, total: int) -> Page[Eviction]:
    """One page, each eviction as `with_objects` reads it."""
    ordered = found.order_by(*order_by(wanted)).values("pk")

    def ask(start: int, end: int) -> Evictions:
        """What lies beyond the middle is counted from the other end."""
        is_late = start > total // 2
        keys = ordered.reverse()[max(0, total - end) : total - start] if is_late else ordered[start:end]
        return with_objects(Eviction.objects.filter(pk__in=keys)).order_by(*order_by(wanted))

    return cut_page(ask, total, wanted.page, wanted.per)


def order_by(wanted: EvictionFilter) -> Sequence[OrderBy]:
    """The order, without ties."""
    newest = [OrderBy(F("decided_before"), descending=True), OrderBy(F("pk"), descending=True)]
    by_loss = [OrderBy(F("lost_expected"), descending=True, nulls_last=True)]
    return [*by_loss, *newest] if wanted.sort == Column.LOST else newest


def with_objects(found: Evictions) -> Evictions:
    """With workload, preemptor and span, and `resumed_at`: when the workload was admitted again, None if it was not."""
    later = Span.objects.filter(
        workload=OuterRef("workload"), reserved_at__gte=OuterRef("decided_before"), admitted_at__isnull=False
    )
    resumed = Subquery(later.order_by("reserved_at").values("admitted_at")[:1])
    objects = ("workload__cluster", "preemptor__cluster", "preemptor_team", "span", "cluster")
    unread = [f"{workload}__{column}" for workload in ("workload", "preemptor") for column in _NOT_SHOWN]
    return found.annotate(resumed_at=resumed).select_related(*objects).defer(*unread)


_NOT_SHOWN = ("labels", "pod_sets", "conditions")


@dataclass(frozen=True, slots=True)
class Options:
    """Values to choose from, in order; teams as (slug, name)."""

    reasons: list[str]
    teams: list[tuple[str, str]]
    priority_classes: list[str]


def options_of(reach: Reach, sight: Sight, now: datetime) -> Options:
    """What the newest evictions have."""
    newest = narrowed(reach, EvictionFilter(), sight, now).order_by("-decided_before", "-pk")[:_OPTIONS_FROM]
    columns = ("reason", "preemption", "priority_class", "cluster_id", "preemptor_team_id")
    names = ("preemptor_team__slug", "preemptor_team__name")
    rows = set(newest.values_list(*columns, *names))
    reasons = {preemption or reason for reason, preemption, *_ in rows}
    teams = {
        (slug, name)
        for _, _, _, cluster, team, slug, name in rows
        if slug and (sight.everywhere or team in sight.teams or cluster in sight.clusters)
    }
    classes = {row[2] for row in rows if row[2]}
    return Options(sorted(reasons), sorted(teams), sorted(classes))
