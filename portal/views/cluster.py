"""The page about one cluster: what it offers, in which versions, how its reading goes, which rights are missing, and
which of its nodes have jobs."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from accounts.requests import Request
from jobs.sync.owners import OWNERS
from jobs.sync.sources import ABOUT, EVENTS, PODS, PULLED, SOURCES
from jobs.workloads.busy_nodes import busy_nodes
from portal.live import live, render_live
from portal.models import Gap, SourceState
from portal.sync_runs import STALE_AFTER
from teams.access import require_platform_permission
from teams.models import Cluster, SpecVersion
from teams.permissions import Permission

CHECKED_KUEUE: Final = "0.19.2"
"""The Kueue that this release was checked against (tests/cluster)."""

_LATEST_GAPS = 20
_MOST_NODES = 50
_RENEW_SECONDS = 60  # pods move without any change in the sources that quotas depend on


@dataclass(frozen=True, slots=True)
class SourceLine:
    """How the reading of one source goes; `state` is None before the first attempt."""

    name: str
    state: SourceState | None
    is_stale: bool


def _clusters_shown(request: Request, slug: str) -> Collection[str]:
    return [slug]


@require_safe
@live(SOURCES, _clusters_shown, renew_seconds=_RENEW_SECONDS)
def cluster_page(request: Request, slug: str) -> HttpResponse:
    require_platform_permission(request, Permission.SEE_PLATFORM)
    cluster = get_object_or_404(Cluster.objects.active(), slug=slug)
    nodes, sources = busy_nodes(cluster, request.facts.now), _sources(request, cluster)
    context = {
        "cluster": cluster,
        "fresh": request.facts.by_cluster[slug],
        "is_stale": request.facts.is_stale(slug),
        "checked_kueue": CHECKED_KUEUE,
        "flavors": _specs(cluster, SpecVersion.Kind.RESOURCE_FLAVOR),
        "priority_classes": sorted(
            _specs(cluster, SpecVersion.Kind.PRIORITY_CLASS), key=lambda version: -version.spec.get("value", 0)
        ),
        "checks": _specs(cluster, SpecVersion.Kind.ADMISSION_CHECK),
        "nodes": nodes[:_MOST_NODES],
        "has_more_nodes": len(nodes) > _MOST_NODES,
        "most_nodes": _MOST_NODES,
        "pods_were_read": any(line.name == PODS and line.state and line.state.last_good_at for line in sources),
        "sources": sources,
        "gaps": Gap.objects.filter(cluster=slug).order_by("-start")[:_LATEST_GAPS],
    }
    return render_live(request, "portal/cluster.html", context)


def _specs(cluster: Cluster, kind: SpecVersion.Kind) -> list[Any]:
    versions = SpecVersion.objects.current().filter(cluster=cluster, kind=kind, deleted=False)
    return list(versions.order_by("name"))


def _sources(request: Request, cluster: Cluster) -> list[SourceLine]:
    states = {state.source: state for state in SourceState.objects.filter(cluster=cluster.slug)}
    return [
        SourceLine(name, states.get(name), name in PULLED and _is_stale(states.get(name), request))
        for name in (*PULLED, ABOUT, EVENTS, OWNERS)
    ]


def _is_stale(state: SourceState | None, request: Request) -> bool:
    seen = state.last_good_at if state else None
    return seen is None or request.facts.now - seen > STALE_AFTER
