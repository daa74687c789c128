"""The platform overview: all queues side by side per GPU type, the nodes behind them, and what needs an admin."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from accounts.requests import Request
from accounts.saml import expiry
from accounts.scim import credentials
from jobs.queues.attention import Attention, attention
from jobs.queues.platform_now import Tree, trees_of
from jobs.sync.sources import SOURCES
from portal.live import Slugs, live, render_live
from portal.sync_runs import Freshness, SlugQuery
from teams.access import require_platform_permission
from teams.models import Cluster, NodeCapacity
from teams.permissions import Permission
from teams.queues import current_queues
from teams.roles import roles_of


@dataclass(frozen=True, slots=True)
class ClusterOverview:
    cluster: Cluster
    freshness: Freshness
    is_stale: bool
    trees: list[Tree]
    nodes: list[NodeCapacity]
    attention: Attention

    @property
    def is_read(self) -> bool:
        """Was it ever read whole? Until then what is counted may be 0 for want of reading."""
        return self.freshness.as_of is not None

    @property
    def quotas_fit(self) -> bool:
        """Healthy nodes are known to have every GPU that quotas promise."""
        types = [gpu for tree in self.trees for gpu in tree.gpu_types]
        return self.is_read and not self.missing and all(gpu.capacity or not gpu.promised_of_type for gpu in types)

    @property
    def missing(self) -> list[tuple[str, int]]:
        """Flavors whose quotas promise more GPUs than healthy nodes have, and how many."""
        return [(gpu.flavor, gpu.missing) for tree in self.trees for gpu in tree.gpu_types if gpu.missing]

    @property
    def nodes_in_recovery(self) -> int:
        return sum(node.total - node.healthy for node in self.nodes)


_ACTIVE = SlugQuery("SELECT slug FROM teams_cluster WHERE archived_at IS NULL")


def active_clusters(request: Request) -> Slugs:
    """What pages over the whole platform show."""
    return _ACTIVE


@require_safe
@live(SOURCES, active_clusters, renew_seconds=300)
def overview(request: Request) -> HttpResponse:
    require_platform_permission(request, Permission.SEE_PLATFORM)
    clusters = [_cluster(request, cluster) for cluster in Cluster.objects.active()]
    sets_up = roles_of(request.user).everywhere(Permission.SET_UP)
    ending: dict[str, Any] = _ending(request.facts.now) if sets_up else {}
    return render_live(request, "portal/overview.html", {"clusters": clusters, **ending})


def _ending(now: datetime) -> dict[str, Any]:
    """By what identity providers sign people in, or write them, and that has to be replaced."""
    return {"certificates": expiry.running_out(now), "secrets": credentials.running_out(now)}


def _cluster(request: Request, cluster: Cluster) -> ClusterOverview:
    facts = request.facts
    return ClusterOverview(
        cluster=cluster,
        freshness=facts.by_cluster[cluster.slug],
        is_stale=facts.is_stale(cluster.slug),
        trees=trees_of(cluster),
        nodes=list(current_queues(cluster).nodes.values()),
        attention=attention(cluster, facts.now),
    )
