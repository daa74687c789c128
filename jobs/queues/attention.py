"""What needs a platform admin: jobs that are stuck, loop or lack a priority class, and cohorts that form a cycle."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import models

from jobs.models import EvictionLoop, Span, Workload
from jobs.models.workloads import WorkloadQuerySet
from jobs.rules.loops import LOOP_WITHIN
from jobs.states import HOLDING, WAITING
from scheduling.forest import plant
from teams.models import Cluster
from teams.queues import current_queues

STUCK_AFTER: Final = timedelta(minutes=10)
"""So long may an evicted job take to give its quota back before somebody should look."""


@dataclass(frozen=True, slots=True)
class Attention:
    """`stuck` and `looping` are workloads; `cycles` names the cohorts of each cycle."""

    without_priority_class: int
    stuck: list[Workload]
    looping: list[Workload]
    cycles: tuple[tuple[str, ...], ...]


def attention(cluster: Cluster, now: datetime) -> Attention:
    """Of one cluster, now."""
    queues = current_queues(cluster)
    live = Workload.objects.live().filter(cluster=cluster, state__in=(*WAITING, *HOLDING))
    return Attention(
        without_priority_class=live.filter(priority_class="").count(),
        stuck=list(stuck(cluster, now)),
        looping=list(looping(cluster, now)),
        cycles=plant(queues.cluster_queues.values(), queues.cohorts.values(), {}).cycles,
    )


def stuck(cluster: Cluster, now: datetime) -> WorkloadQuerySet:
    """Workloads whose eviction was decided long ago and that still hold quota."""
    found = Workload.objects.live().filter(cluster=cluster, pk__in=overdue(now).values("workload"))
    return found.select_related("cluster").order_by("created_at")


def overdue(now: datetime) -> "models.QuerySet[Span]":
    """Holds that ought to have been given back by now."""
    return Span.objects.filter(released_before__isnull=True, evicted_at__lt=now - STUCK_AFTER)


def looping(cluster: Cluster, now: datetime) -> WorkloadQuerySet:
    """Workloads in a loop whose latest eviction was within the last `LOOP_WITHIN`."""
    recent = EvictionLoop.objects.filter(latest__gte=now - LOOP_WITHIN)
    found = Workload.objects.live().filter(cluster=cluster, pk__in=recent.values("workload"))
    return found.select_related("cluster").order_by("created_at")
