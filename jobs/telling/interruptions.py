"""Who is told that a job was interrupted while it kept its quota: once for each interruption, when it is settled.

A pod that stops may be the first that is seen of an eviction or of the job's end. So its people are told only when both
workloads and pods were read long enough after it, and it still was neither.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final

from jobs.models import Interruption
from jobs.rules.interruptions import SETTLES
from jobs.sync.sources import PODS, WORKLOADS, last_good_read
from notices.kinds import Kind
from notices.models import Notice
from notices.outbox import notice, post
from portal.sync_runs import GAP_AFTER
from portal.write_path import exclusive
from teams.models import Cluster, NamespaceBinding

_NEWS_FOR: Final = timedelta(days=1)
_MOST_NODES: Final = 3


def tell(cluster: Cluster, now: datetime) -> None:
    """Of the settled interruptions of the last day those that were not told. Run twice it changes nothing."""
    reads = [last_good_read(cluster, source) for source in (WORKLOADS, PODS)]
    if None in reads:
        return
    with exclusive(cluster.slug):
        post(_news(cluster, min(reads) - SETTLES, now - _NEWS_FOR))


def _news(cluster: Cluster, until: datetime, since: datetime) -> Iterator[Notice]:
    """Not those of before the portal saw the job."""
    owners = NamespaceBinding.objects.team_ids(cluster)
    of_teams = Interruption.objects.filter(cluster=cluster, namespace__in=owners)
    workloads = of_teams.filter(before__gte=since, before__lte=until).values("workload")
    rows = Interruption.objects.filter(workload__in=workloads).select_related("workload", "span")
    light = rows.defer("workload__labels", "workload__pod_sets", "workload__conditions")
    told = _told_times(cluster, workloads.values("workload__uid"))
    for workload, of_it in groupby(light.order_by("workload_id", "before", "after"), lambda each: each.workload):
        for each in _untold(of_it, told[workload.uid]):
            if max(since, workload.first_seen_at - GAP_AFTER) <= each.before <= until:
                yield _notice(cluster, each, owners[each.namespace])


def _told_times(cluster: Cluster, uids: Any) -> dict[str, list[datetime]]:
    found: dict[str, list[datetime]] = defaultdict(list)
    told = Notice.objects.filter(cluster=cluster, kind=Kind.INTERRUPTED, subject__in=uids)
    for uid, at in told.order_by("at").values_list("subject", "at"):
        found[uid].append(at)
    return found


def _untold(broken: Iterable[Interruption], told: Iterable[datetime]) -> list[Interruption]:
    """What is left when each notice has taken the nearest interruption of its hold or of one before: times become known
    better, and some are found late."""
    left = list(broken)
    for at in told:
        begun = [each for each in left if each.span.reserved_at <= at]
        if begun:
            left.remove(min(begun, key=lambda each: abs(each.before - at)))
    return left


def _notice(cluster: Cluster, broken: Interruption, team: int) -> Notice:
    workload = broken.workload
    return notice(
        Kind.INTERRUPTED,
        cluster,
        workload.uid,
        once=f"{broken.span.reserved_at} {broken.after} {broken.before}",
        at=broken.before,
        team_id=team,
        title=workload.title,
        submitted_by=workload.submitter,
        details={"namespace": broken.namespace, **_told(broken)},
    )


def _told(broken: Interruption) -> dict[str, Any]:
    return {
        "cause": broken.cause,
        "reason": broken.reason,
        "exit_code": broken.exit_code,
        "pods": broken.pods,
        "nodes": broken.nodes[:_MOST_NODES],
        "more_nodes": len(broken.nodes) > _MOST_NODES,
        "replaced": broken.replaced_at is not None,
    }
