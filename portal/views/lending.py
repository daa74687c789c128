"""Lenders and borrowers of GPUs, for platform roles: over some time, and now."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from accounts.requests import Request
from jobs.sync.sources import SOURCES
from jobs.usage.lending import lending_of
from jobs.usage.stretches import Period, months_to_choose, read_stretch, stretch_text
from portal.live import live, render_live
from portal.views.overview import active_clusters
from teams.access import require_platform_permission
from teams.models import Cluster
from teams.permissions import Permission

_PERIODS = (Period.DAY, Period.WEEK, Period.MONTH)


@require_safe
@live(SOURCES, active_clusters, renew_seconds=300)
def lending(request: Request) -> HttpResponse:
    require_platform_permission(request, Permission.SEE_PLATFORM)
    stretch = read_stretch(request.GET.get("period", ""))
    if stretch == Period.YEAR:
        stretch = Period.WEEK
    clusters = list(Cluster.objects.active().select_related("closed_hours"))
    context = {
        "stretch": stretch,
        "asked": stretch_text(stretch),
        "periods": _PERIODS,
        "months": months_to_choose(stretch, request.facts.now),
        "sections": [lending_of(cluster, stretch) for cluster in clusters],
        "clusters_shown": request.facts.told(clusters),
    }
    return render_live(request, "portal/lending.html", context)
