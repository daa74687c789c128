"""What ended badly without an eviction: jobs that failed, and jobs that somebody stopped."""

from datetime import datetime, timedelta
from typing import Final

from jobs.models import Workload
from jobs.models.workloads import WorkloadQuerySet
from jobs.states import JobState
from jobs.workload_list import Reach, in_namespaces

WEEK: Final = timedelta(days=7)

_ENDS: Final = (JobState.FAILED, JobState.CANCELLED)


def stopped_otherwise(reach: Reach, now: datetime, most: int) -> WorkloadQuerySet:
    """The newest of the last seven days."""
    found = Workload.objects.filter(in_namespaces(reach.namespaces()), state__in=_ENDS, since__gte=now - WEEK)
    return found.select_related("cluster").defer("labels", "pod_sets", "conditions").order_by("-since", "pk")[:most]
