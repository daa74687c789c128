"""The team page: what the team has, what waits and why, what runs."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from accounts.actions import remember_team
from accounts.requests import Request
from jobs.queues.limits import NO_LIMITS, limits_in
from jobs.queues.outside_quotas import outside_quotas
from jobs.queues.team_now import ClusterNow, Running, Waiting, clusters_of, jobs_of
from jobs.redaction import redaction_for
from jobs.sync.sources import LIVE
from jobs.words.reasons import Reason, waiting_reason
from portal.live import Slugs, is_part, live, render_live
from portal.sync_runs import Freshness, SlugQuery
from teams.access import get_team_or_404
from teams.permissions import Permission
from teams.queues import current_queues
from teams.roles import roles_of

_MOST_ROWS = 10


@dataclass(frozen=True, slots=True)
class WaitingRow:
    """`raw` is redacted for the reader, or empty."""

    waiting: Waiting
    reason: Reason
    raw: str


@dataclass(frozen=True, slots=True)
class ClusterSection:
    """One cluster's part of the page; of long tables the first rows."""

    now: ClusterNow
    freshness: Freshness
    is_stale: bool
    waiting: list[WaitingRow]
    waiting_total: int
    running: list[Running]
    running_total: int
    outside_quotas: dict[str, int]

    @property
    def is_known(self) -> bool:
        """Whether everything was read at least once: before that nothing is 0."""
        return self.freshness.as_of is not None


_BOUND = """
    SELECT DISTINCT cluster.slug FROM teams_cluster AS cluster
    JOIN teams_namespacebinding AS bound ON bound.cluster_id = cluster.id JOIN teams_team AS team ON team.id = team_id
    WHERE team.slug = %s AND bound.valid_to IS NULL AND cluster.archived_at IS NULL
"""


def clusters_of_team(request: Request, slug: str) -> Slugs:
    return SlugQuery(_BOUND, (slug,))


@require_safe
@live(LIVE, clusters_of_team)
def team_page(request: Request, slug: str) -> HttpResponse:
    team = get_team_or_404(request, slug)
    roles = roles_of(request.user)
    sees_raw = roles.hold(Permission.SEE_RAW, team.pk)
    sections = [_section(request, here, sees_raw=sees_raw) for here in clusters_of(team)]
    role = roles.teams.get(team.pk)
    if role and not is_part(request):
        remember_team(user=request.user, slug=slug)
    context = {"team": team, "sections": sections, "sees_raw": sees_raw, "my_role": role.label if role else ""}
    return render_live(request, "portal/team.html", context)


def _section(request: Request, here: ClusterNow, *, sees_raw: bool) -> ClusterSection:
    slug = here.cluster.slug
    jobs = jobs_of(here, _MOST_ROWS)
    return ClusterSection(
        now=here,
        freshness=request.facts.by_cluster[slug],
        is_stale=request.facts.is_stale(slug),
        waiting=_waiting_rows(request, here, jobs.waiting, sees_raw=sees_raw),
        waiting_total=jobs.waiting_total,
        running=jobs.running,
        running_total=jobs.running_total,
        outside_quotas=outside_quotas(current_queues(here.cluster)) if jobs.waiting else {},
    )


def _waiting_rows(
    request: Request, here: ClusterNow, waiting: Iterable[Waiting], *, sees_raw: bool
) -> list[WaitingRow]:
    limits = limits_in(line.now for line in here.lines)
    reasons = [
        (each, waiting_reason(each.workload, limits.get((here.cluster.pk, each.cluster_queue), NO_LIMITS)))
        for each in waiting
    ]
    if not sees_raw:
        return [WaitingRow(each, reason, "") for each, reason in reasons]
    redaction = redaction_for(request.user, here.cluster, (reason.raw for _, reason in reasons))
    return [WaitingRow(each, reason, redaction.apply(reason.raw)) for each, reason in reasons]
