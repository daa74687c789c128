"""Evictions of jobs that the portal never saw: Kueue's events alone tell of them."""

from datetime import datetime

from django.db.models import QuerySet

from jobs.lists.reach import Reach, in_namespaces
from jobs.models import ToldEviction


def told_alone(reach: Reach, since: datetime | None = None) -> "QuerySet[ToldEviction]":
    """The newest first; where everything is shown, also those of namespaces without a team."""
    found = ToldEviction.objects.order_by("-at", "pk").select_related("cluster")
    if reach.is_everything:
        found = found.filter(cluster__in=[cluster.pk for cluster in reach.clusters])
    else:
        found = found.filter(in_namespaces(reach.namespaces()))
    return found if since is None else found.filter(at__gte=since)
