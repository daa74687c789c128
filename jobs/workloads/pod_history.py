"""Where the pods of one workload ran, and what interrupted it while it kept its quota."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, Subquery

from jobs.models import Interruption, PodRun, Workload
from jobs.sync.sources import PODS
from jobs.workloads.span_history import Held
from portal.models import SourceState


@dataclass(frozen=True, slots=True)
class RanOn:
    """A pod on its node, and since when the quota was held that it ran on, None where that was not seen."""

    run: PodRun
    held_since: datetime | None


@dataclass(frozen=True, slots=True)
class PodHistory:
    """The newest pods, how many there were in all, and the newest interruptions. `is_known`: the cluster's pods were
    read, and are still unless `failing_since`."""

    pods: Sequence[RanOn]
    total: int
    interruptions: Sequence[Interruption]
    is_known: bool
    failing_since: datetime | None


def pod_history_of(workload: Workload, holds: Sequence[Held], most: int) -> PodHistory:
    """At most two questions; `holds` are the workload's newest, in that order. One interruption more than
    `most` tells that there are more."""
    state = SourceState.objects.filter(cluster=workload.cluster.slug, source=PODS)
    of_it = PodRun.objects.filter(workload=workload)
    total = of_it.order_by().values("workload").annotate(total=Count("pk")).values("total")
    interruptions = Interruption.objects.filter(workload=workload).order_by("-before", "pk")
    told = of_it.annotate(
        total=Subquery(total), failing_since=Subquery(state.values("failing_since")), is_broken=Exists(interruptions)
    )
    newest = list(told.order_by("-bound_at", "name")[:most])
    if not newest:
        read, failing = state.values_list("last_good_at", "failing_since").first() or (None, None)
        return PodHistory([], 0, [], read is not None, failing)
    pods = [RanOn(run, _held_since(run, holds)) for run in newest]
    broken = list(interruptions[: most + 1]) if newest[0].is_broken else []
    return PodHistory(pods, newest[0].total, broken, True, newest[0].failing_since)


def _held_since(run: PodRun, holds: Sequence[Held]) -> datetime | None:
    return next((hold.reserved_at for hold in holds if hold.reserved_at <= run.bound_at), None)
