"""Evictions, one team's, or all of them for platform roles: the list with its totals and sums, as a page that keeps
itself current and as CSV; and what the last week took, for the team's page."""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.models import Scope
from accounts.requests import Request
from accounts.tokens import answers_tokens
from jobs.evictions.csv import csv_lines
from jobs.evictions.filter import Column, EvictionFilter, SumBy, read_filter
from jobs.evictions.form import choices_of, sum_links
from jobs.evictions.list import Evictions, narrowed, options_of, page_of, tally
from jobs.evictions.lost_week import WEEK, interrupted, stopped_otherwise
from jobs.evictions.sums import sums
from jobs.evictions.told import collapsed, told
from jobs.evictions.told_alone import told_alone
from jobs.lists.addresses import PER_PAGE, Age, page_links
from jobs.lists.reach import Reach, reach_of_all, reach_of_team
from jobs.models import Eviction
from jobs.sight import Sight, sight_of
from jobs.sync.sources import LIVE
from portal.live import is_part, live, render_live
from portal.views.overview import active_clusters
from portal.views.team import clusters_of_team
from portal.web import csv_file
from teams.access import get_team_or_404, require_platform_permission
from teams.permissions import Permission

_RENEW_SECONDS = 60  # what was decided “in the last hour” depends on time alone
_MOST_OF_WEEK = 10


@require_safe
@live(LIVE, clusters_of_team, renew_seconds=_RENEW_SECONDS)
def team_evictions(request: Request, slug: str) -> HttpResponse:
    team = get_team_or_404(request, slug)
    csv_url = reverse("team-evictions-csv", args=[slug])
    unseen = reverse("team-unseen-evictions", args=[slug])
    return _page(request, reach_of_team(slug), {"team": team, "csv_url": csv_url, "unseen": unseen})


@require_safe
@live(LIVE, active_clusters, renew_seconds=_RENEW_SECONDS)
def all_evictions(request: Request) -> HttpResponse:
    require_platform_permission(request, Permission.SEE_PLATFORM)
    urls = {"csv_url": reverse("all-evictions-csv"), "unseen": reverse("all-unseen-evictions")}
    return _page(request, reach_of_all(), urls)


@require_safe
@answers_tokens(Scope.READ)
def team_evictions_csv(request: Request, slug: str) -> HttpResponseBase:
    get_team_or_404(request, slug)
    return _csv(request, reach_of_team(slug), f"{slug}-evictions.csv")


@require_safe
@answers_tokens(Scope.READ)
def all_evictions_csv(request: Request) -> HttpResponseBase:
    require_platform_permission(request, Permission.SEE_PLATFORM)
    return _csv(request, reach_of_all(), "all-evictions.csv")


def _page(request: Request, reach: Reach, context: dict[str, Any]) -> HttpResponse:
    sight = sight_of(request.user, reach.clusters)
    now = request.facts.now
    wanted, notes, found = _wanted(request, reach, sight, now)
    lines, counts = sums(found, SumBy(wanted.sums), sight, reach.owners) if wanted.sums else ([], tally(found))
    page = page_of(found, wanted, counts.count)
    list_context: dict[str, Any] = {
        "wanted": wanted,
        "notes": notes,
        "tally": counts,
        "page": page,
        "pages": page_links(wanted, page.number, page.pages),
        "rows": told(page.rows, sight, reach.owners),
        "choices": choices_of(wanted, options_of(reach, sight, now), reach, now),
        "per_page": [(number, wanted.link(per=number)) for number in PER_PAGE],
        "sorts": [(column, wanted.link(sort=column)) for column in Column],
        "sum_links": sum_links(wanted),
        "sum_by": SumBy(wanted.sums) if wanted.sums else None,
        "sums": lines,
        "without_sums": wanted.link(sums=""),
        "without_text": wanted.link(q=""),
        "shows_cluster": len(reach.clusters) > 1,
        "clusters_shown": request.facts.told(reach.clusters),
        "reach": reach,
    }
    return render_live(request, "portal/evictions.html", context | list_context)


def _csv(request: Request, reach: Reach, filename: str) -> StreamingHttpResponse:
    """All pages of what the list of the same address shows."""
    sight = sight_of(request.user, reach.clusters)
    wanted, _notes, found = _wanted(request, reach, sight, timezone.now())
    return csv_file(csv_lines(found, wanted, sight, reach.owners), filename)


@require_safe
@live(LIVE, clusters_of_team, renew_seconds=_RENEW_SECONDS)
def team_lost(request: Request, slug: str) -> HttpResponse:
    """The last seven days: what was evicted, what failed and what was stopped."""
    team = get_team_or_404(request, slug)
    reach = reach_of_team(slug)
    sight = sight_of(request.user, reach.clusters)
    now = request.facts.now
    week = EvictionFilter(time=Age.WEEK)
    found = narrowed(reach, week, sight, now)
    counts = tally(found)
    context = {
        "team": team,
        "week": week,
        "tally": counts,
        "rows": list(islice(collapsed(told(_newest(found, counts.count), sight)), _MOST_OF_WEEK)),
        "interruptions": list(interrupted(reach, now)[: _MOST_OF_WEEK + 1]),
        "told_alone": list(told_alone(reach, now - WEEK)[: _MOST_OF_WEEK + 1]),
        "most": _MOST_OF_WEEK,
        "others": stopped_otherwise(reach, now, _MOST_OF_WEEK),
        "is_known": request.facts.as_of is not None,
        "now": now,
    }
    template = "portal/lost.html"
    return render(request, f"{template}#part" if is_part(request) else template, context)


def _newest(found: Evictions, total: int) -> Sequence[Eviction]:
    """Enough of them to fill a panel even where most belong to a loop."""
    return page_of(found, EvictionFilter(per=PER_PAGE[-1]), total).rows


def _wanted(request: Request, reach: Reach, sight: Sight, now: datetime) -> tuple[EvictionFilter, list[str], Evictions]:
    wanted, notes = read_filter(request.GET.dict(), of_all=reach.is_everything)
    return wanted, notes, narrowed(reach, wanted, sight, now)
