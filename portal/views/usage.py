"""A team's use of GPUs over time, as charts and as the tables that they are drawn from."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.requests import Request
from jobs.usage.chart import Period, usage_of
from teams.access import get_team_or_404


@require_safe
def team_usage(request: Request, slug: str) -> HttpResponse:
    team = get_team_or_404(request, slug)
    asked = request.GET.get("period", "")
    period = Period(asked) if asked in Period else Period.WEEK
    context = {"team": team, "period": period, "periods": list(Period), "sections": usage_of(team, period)}
    return render(request, "portal/usage.html", context)
