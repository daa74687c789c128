"""Evictions of jobs that nobody saw, one team's, or all of them for platform roles: a page of what events tell."""

from typing import Any, Final

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from accounts.requests import Request
from jobs.evictions.told_alone import told_alone
from jobs.lists.addresses import page_links, read_page
from jobs.lists.paging import cut_page
from jobs.lists.reach import Reach, reach_of_all, reach_of_team
from jobs.sync.sources import LIVE
from portal.live import live, render_live
from portal.views.overview import active_clusters
from portal.views.team import clusters_of_team
from teams.access import get_team_or_404, require_platform_permission
from teams.permissions import Permission

_PER_PAGE: Final = 50


@require_safe
@live(LIVE, clusters_of_team)
def team_unseen_evictions(request: Request, slug: str) -> HttpResponse:
    team = get_team_or_404(request, slug)
    return _page(request, reach_of_team(slug), {"team": team})


@require_safe
@live(LIVE, active_clusters)
def all_unseen_evictions(request: Request) -> HttpResponse:
    require_platform_permission(request, Permission.SEE_PLATFORM)
    return _page(request, reach_of_all(), {})


def _page(request: Request, reach: Reach, context: dict[str, Any]) -> HttpResponse:
    found, wanted = told_alone(reach), read_page(request.GET.dict())
    page = cut_page(lambda start, end: found[start:end], found.count(), wanted.page, _PER_PAGE)
    list_context = {
        "page": page,
        "pages": page_links(wanted, page.number, page.pages),
        "rows": [(row, reach.owners.get((row.cluster_id, row.namespace))) for row in page.rows],
        "reach": reach,
        "shows_cluster": len(reach.clusters) > 1,
        "clusters_shown": request.facts.told(reach.clusters),
    }
    return render_live(request, "portal/unseen_evictions.html", context | list_context)
