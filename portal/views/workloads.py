"""Lists of workloads: one team's, or all of them for platform roles; as a page that keeps itself current and as CSV."""

from typing import Any

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.models import Scope
from accounts.requests import Request
from accounts.tokens import answers_tokens
from jobs.lists.addresses import PER_PAGE, page_links
from jobs.lists.reach import Reach, reach_of_all, reach_of_team
from jobs.sync.sources import LIVE
from jobs.workloads.csv import csv_lines
from jobs.workloads.filter import Group, read_filter
from jobs.workloads.form import choices_of
from jobs.workloads.list import narrowed, options_of, page_of, tally
from jobs.workloads.rows import rows_of
from portal.live import live, render_live
from portal.views.overview import active_clusters
from portal.views.team import clusters_of_team
from portal.web import csv_file
from teams.access import get_team_or_404, require_platform_permission
from teams.permissions import Permission

_RENEW_SECONDS = 60  # what was created “in the last hour” depends on time alone


@require_safe
@live(LIVE, clusters_of_team, renew_seconds=_RENEW_SECONDS)
def team_workloads(request: Request, slug: str) -> HttpResponse:
    team = get_team_or_404(request, slug)
    csv_url = reverse("team-workloads-csv", args=[slug])
    return _page(request, reach_of_team(slug), {"team": team, "csv_url": csv_url})


@require_safe
@live(LIVE, active_clusters, renew_seconds=_RENEW_SECONDS)
def all_workloads(request: Request) -> HttpResponse:
    require_platform_permission(request, Permission.SEE_PLATFORM)
    return _page(request, reach_of_all(), {"csv_url": reverse("all-workloads-csv")})


@require_safe
@answers_tokens(Scope.READ)
def team_workloads_csv(request: Request, slug: str) -> HttpResponseBase:
    get_team_or_404(request, slug)
    return _csv(request, reach_of_team(slug), f"{slug}-jobs.csv")


@require_safe
@answers_tokens(Scope.READ)
def all_workloads_csv(request: Request) -> HttpResponseBase:
    require_platform_permission(request, Permission.SEE_PLATFORM)
    return _csv(request, reach_of_all(), "all-jobs.csv")


def _page(request: Request, reach: Reach, context: dict[str, Any]) -> HttpResponse:
    wanted, notes = read_filter(request.GET.dict(), of_all=reach.is_everything)
    found = narrowed(reach, wanted, request.facts.now)
    counts = tally(found)
    page = page_of(found, wanted, counts.of_wanted(wanted))
    options = options_of(reach)
    shows_places = wanted.group == Group.WAITING and not reach.is_everything
    list_context = {
        "wanted": wanted,
        "notes": notes,
        "groups": [(group, count, wanted.group_link(group)) for group, count in counts.tabs(wanted)],
        "page": page,
        "pages": page_links(wanted, page.number, page.pages),
        "rows": rows_of(
            page.rows, reach, with_places=shows_places, with_shares=wanted.group in (Group.NOW, Group.RUNNING)
        ),
        "shows_places": shows_places,
        "shows_queue": not reach.is_everything and len(options.queues) > 1,
        "shows_cluster": len(reach.clusters) > 1,
        "choices": choices_of(wanted, options, reach),
        "per_page": [(number, wanted.link(per=number)) for number in PER_PAGE],
        "clusters_shown": request.facts.told(reach.clusters),
        "without_text": wanted.link(q=""),
        "reach": reach,
    }
    return render_live(request, "portal/workloads.html", context | list_context)


def _csv(request: Request, reach: Reach, filename: str) -> StreamingHttpResponse:
    """All pages of what the list of the same address shows."""
    wanted, _notes = read_filter(request.GET.dict(), of_all=reach.is_everything)
    return csv_file(csv_lines(narrowed(reach, wanted, timezone.now()), wanted, reach), filename)
