"""A team's use of GPUs over time, as charts, as the tables that they are drawn from, and as CSV."""

from datetime import datetime

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.models import Scope
from accounts.requests import Request
from accounts.tokens import answers_tokens
from jobs.lists.months import latest_months
from jobs.usage.chart import MONTHS, Period, Stretch, read_stretch, usage_of
from jobs.usage.csv import csv_lines
from portal.web import csv_file
from teams.access import get_team_or_404


@require_safe
def team_usage(request: Request, slug: str) -> HttpResponse:
    team = get_team_or_404(request, slug)
    stretch = _stretch(request)
    context = {
        "team": team,
        "stretch": stretch,
        "asked": _text(stretch),
        "periods": list(Period),
        "months": _months(stretch),
        "sections": usage_of(team, stretch),
        "csv_url": f"{reverse('team-usage-csv', args=[slug])}?period={_text(stretch)}",
    }
    return render(request, "portal/usage.html", context)


@require_safe
@answers_tokens(Scope.READ)
def team_usage_csv(request: Request, slug: str) -> HttpResponseBase:
    """What the page of the same address shows."""
    team = get_team_or_404(request, slug)
    stretch = _stretch(request)
    return csv_file(csv_lines(usage_of(team, stretch)), f"{slug}-usage-{_text(stretch)}.csv")


def _months(stretch: Stretch) -> list[tuple[str, str]]:
    """To choose from: the latest, and the one that is shown."""
    found = latest_months(timezone.now(), MONTHS)
    text = _text(stretch)
    return found if text in dict(found) or not isinstance(stretch, datetime) else [*found, (text, text)]


def _stretch(request: Request) -> Stretch:
    return read_stretch(request.GET.get("period", ""))


def _text(stretch: Stretch) -> str:
    """As addresses tell it."""
    return f"{stretch:%Y-%m}" if isinstance(stretch, datetime) else stretch.value
