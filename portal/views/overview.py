"""The platform overview: every cohort's queues side by side, per GPU type, and the nodes behind them."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from accounts.requests import Request
from jobs.models import QueueNow
from jobs.sync import SOURCES
from portal.live import live, render_live
from portal.sync_runs import Freshness
from scheduling import names
from teams.access import require_platform_permission
from teams.models import Cluster, NodeCapacity
from teams.permissions import Permission


@dataclass(slots=True)
class GpuType:
    """One flavor's accelerators in one tree of cohorts. Sums are over queues of this flavor alone."""

    flavor: str
    resource: str
    rows: list[QueueNow] = field(default_factory=list)

    @property
    def guaranteed(self) -> int:
        return sum(row.nominal for row in self.rows)

    @property
    def in_use(self) -> int:
        return sum(row.reservation for row in self.rows)


@dataclass(slots=True)
class CohortGroup:
    """A tree of cohorts by its root; empty for queues outside any."""

    root: str
    gpu_types: list[GpuType]


@dataclass(frozen=True, slots=True)
class ClusterOverview:
    cluster: Cluster
    freshness: Freshness
    is_stale: bool
    groups: list[CohortGroup]
    nodes: list[NodeCapacity]


def _clusters_shown(request: Request) -> Collection[str]:
    return list(Cluster.objects.active().values_list("slug", flat=True))


@require_safe
@live(SOURCES, _clusters_shown)
def overview(request: Request) -> HttpResponse:
    require_platform_permission(request, Permission.SEE_PLATFORM)
    clusters = [_cluster(request, cluster) for cluster in Cluster.objects.active()]
    return render_live(request, "portal/overview.html", {"clusters": clusters})


def _cluster(request: Request, cluster: Cluster) -> ClusterOverview:
    facts = request.facts
    nodes = NodeCapacity.objects.current().filter(cluster=cluster, total__gt=0).order_by("instance_type")
    return ClusterOverview(
        cluster, facts.by_cluster[cluster.slug], facts.is_stale(cluster.slug), _groups(cluster), list(nodes)
    )


def _groups(cluster: Cluster) -> list[CohortGroup]:
    trees: dict[str, dict[tuple[str, str], GpuType]] = defaultdict(dict)
    for row in QueueNow.objects.filter(cluster=cluster).order_by("root", "flavor", "resource", "cluster_queue"):
        if names.is_accelerator(row.resource):
            key = (row.flavor, row.resource)
            trees[row.root].setdefault(key, GpuType(*key)).rows.append(row)
    return [CohortGroup(root, list(types.values())) for root, types in trees.items()]
