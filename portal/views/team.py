"""The team page: what the team has, what waits and why, what runs."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.requests import Request
from jobs.reasons import Reason, waiting_reason
from jobs.redaction import redaction_for
from jobs.sync import LIVE
from jobs.team_now import ClusterNow, Running, Waiting, clusters_of, running_of, waiting_of
from portal.sync_runs import Freshness, freshness
from teams.access import get_team_or_404
from teams.models import Team
from teams.permissions import Permission


@dataclass(frozen=True, slots=True)
class WaitingRow:
    waiting: Waiting
    reason: Reason
    raw: str


@dataclass(frozen=True, slots=True)
class ClusterSection:
    """One cluster's part of the page."""

    now: ClusterNow
    freshness: Freshness
    is_stale: bool
    waiting: list[WaitingRow]
    running: list[Running]

    @property
    def is_known(self) -> bool:
        """Whether everything was read at least once: before that nothing is 0."""
        return self.freshness.as_of is not None


@require_safe
def team_page(request: Request, slug: str) -> HttpResponse:
    team = get_team_or_404(request, slug)
    sees_raw = Team.objects.visible_to(request.user, Permission.SEE_RAW).filter(pk=team.pk).exists()
    now = timezone.now()
    sections = [_section(request, team, here, now, sees_raw=sees_raw) for here in clusters_of(team)]
    context = {"team": team, "sections": sections, "sees_raw": sees_raw, "now": now}
    return render(request, "portal/team.html", context)


def _section(request: Request, team: Team, here: ClusterNow, now: datetime, *, sees_raw: bool) -> ClusterSection:
    fresh = freshness(LIVE, here.cluster.slug)
    rows = _waiting_rows(request, here, waiting_of(here), sees_raw=sees_raw)
    return ClusterSection(here, fresh, fresh.is_stale(now), rows, running_of(here))


def _waiting_rows(
    request: Request, here: ClusterNow, waiting: Iterable[Waiting], *, sees_raw: bool
) -> list[WaitingRow]:
    reasons = [(each, waiting_reason(each.workload)) for each in waiting]
    redaction = redaction_for(request.user, here.cluster, (reason.raw for _, reason in reasons))
    return [WaitingRow(each, reason, redaction.apply(reason.raw) if sees_raw else "") for each, reason in reasons]
