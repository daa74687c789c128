"""A team's use of GPUs over time, as charts, as the tables that they are drawn from, and as CSV."""

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.models import Scope
from accounts.requests import Request
from accounts.tokens import answers_tokens
from jobs.usage.chart import usage_of
from jobs.usage.csv import csv_lines
from jobs.usage.stretches import Period, Stretch, months_to_choose, read_stretch, stretch_text
from portal.web import csv_file
from teams.access import get_team_or_404


@require_safe
def team_usage(request: Request, slug: str) -> HttpResponse:
    team = get_team_or_404(request, slug)
    stretch = _stretch(request)
    context = {
        "team": team,
        "stretch": stretch,
        "asked": stretch_text(stretch),
        "periods": list(Period),
        "months": months_to_choose(stretch, timezone.now()),
        "sections": usage_of(team, stretch),
        "csv_url": f"{reverse('team-usage-csv', args=[slug])}?period={stretch_text(stretch)}",
    }
    return render(request, "portal/usage.html", context)


@require_safe
@answers_tokens(Scope.READ)
def team_usage_csv(request: Request, slug: str) -> HttpResponseBase:
    """What the page of the same address shows."""
    team = get_team_or_404(request, slug)
    stretch = _stretch(request)
    return csv_file(csv_lines(usage_of(team, stretch)), f"{slug}-usage-{stretch_text(stretch)}.csv")


def _stretch(request: Request) -> Stretch:
    return read_stretch(request.GET.get("period", ""))
