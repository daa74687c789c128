"""What went wrong beside evictions: jobs that failed, were stopped or interrupted."""

from datetime import datetime, timedelta
from typing import Final

from django.db.models import QuerySet

from jobs.lists.reach import Reach, in_namespaces
from jobs.models import Interruption, Workload
from jobs.models.workloads import WorkloadQuerySet
from jobs.states import JobState

WEEK: Final = timedelta(days=7)

_ENDS: Final = (JobState.FAILED, JobState.CANCELLED)


def stopped_otherwise(reach: Reach, now: datetime, most: int) -> WorkloadQuerySet:
    """The newest of the last seven days."""
    found = Workload.objects.filter(in_namespaces(reach.namespaces()), state__in=_ENDS, since__gte=now - WEEK)
    return found.select_related("cluster").defer("labels", "pod_sets", "conditions").order_by("-since", "pk")[:most]


def interrupted(reach: Reach, now: datetime) -> "QuerySet[Interruption]":
    """What interrupted jobs that kept their quota within the last seven days, the newest first."""
    found = Interruption.objects.filter(in_namespaces(reach.namespaces()), before__gte=now - WEEK)
    jobs = found.select_related("workload__cluster").defer(
        "workload__labels", "workload__pod_sets", "workload__conditions", "workload__status"
    )
    return jobs.order_by("-before", "pk")
