"""Who is told that a job was interrupted while it kept its quota: once for each interruption, when it is settled.

A pod that stops may be the first that is seen of an eviction or of the job's end. So its people are told only when both
workloads and pods were read long enough after it, and it still was neither.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final

from jobs.interruptions import SETTLES
from jobs.models import Interruption
from jobs.sync import PODS, WORKLOADS, last_good_read
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
        found = {each.pk: each for each in _settled(cluster, min(reads) - SETTLES, now - _NEWS_FOR)}
        told = Notice.objects.filter(pk__in=found).values_list("pk", flat=True)
        post(found[pk] for pk in found.keys() - set(told))


def _settled(cluster: Cluster, until: datetime, since: datetime) -> Iterator[Notice]:
    """Not those of before the portal saw the job."""
    owners = NamespaceBinding.objects.team_ids(cluster)
    of_teams = Interruption.objects.filter(cluster=cluster, namespace__in=owners)
    spans = of_teams.filter(before__gte=since, before__lte=until).values("span")
    rows = Interruption.objects.filter(span__in=spans).select_related("workload", "span")
    light = rows.defer("workload__labels", "workload__pod_sets", "workload__conditions")
    for _span, of_it in groupby(light.order_by("span", "after", "before"), lambda each: each.span_id):
        for ordinal, each in enumerate(of_it):
            if max(since, each.workload.first_seen_at - GAP_AFTER) <= each.before <= until:
                yield _notice(cluster, each, ordinal, owners[each.namespace])


def _notice(cluster: Cluster, broken: Interruption, ordinal: int, team: int) -> Notice:
    """Its ordinal tells it from others of the hold: its times and its pods may become known better."""
    workload = broken.workload
    return notice(
        Kind.INTERRUPTED,
        cluster,
        workload.uid,
        once=f"{broken.span.reserved_at} {ordinal}",
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
