"""Evictions that Kueue tells of in words that this release does not know. They are stored and shown as they came."""

from datetime import datetime

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from jobs.models import Eviction
from jobs.words.evictions import EXPLAINED
from scheduling import names
from teams.models import Cluster

_KNOWN_WORDS = Q(message__startswith="Preempted to accommodate ") | Q(message__startswith="Previously: Preempted to ")
_FOR_UNKNOWN = Q(reason=names.PREEMPTED) & ~(Q(message="") | Q(preemption__in=EXPLAINED) & _KNOWN_WORDS)
"""By which rule, or for whom, is not understood; where nothing was told there is nothing to understand."""


def unexplained_by_cluster(since: datetime) -> "QuerySet[Cluster, tuple[str, int]]":
    """How many were decided since then in each active cluster, by its slug. One query."""
    unknown = Eviction.objects.filter(~Q(reason__in=EXPLAINED) | _FOR_UNKNOWN, decided_before__gte=since)
    counted = unknown.filter(cluster=OuterRef("pk")).order_by().values("cluster").annotate(number=Count("pk"))
    clusters = Cluster.objects.active().annotate(unexplained=Coalesce(Subquery(counted.values("number")), 0))
    return clusters.order_by("slug").values_list("slug", "unexplained")
