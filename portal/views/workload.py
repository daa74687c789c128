"""The page of one workload: how it stands in plain words, how it started, what it held, what the cluster says."""

from collections.abc import Collection
from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from accounts.requests import Request
from jobs.access import get_workload_and_team_or_404, may_see_raw
from jobs.models import Workload
from jobs.queues.limits import NO_LIMITS, limits_of
from jobs.queues.team_now import Running, with_positions, with_shares
from jobs.redaction import redaction_for
from jobs.rules.time_to_start import Actor
from jobs.states import HOLDING, WAITING
from jobs.sync.sources import LIVE
from jobs.words.reasons import Reason, waiting_reason
from jobs.workloads.attempt import attempt_of, has_unseen_holds
from jobs.workloads.conditions import condition_rows
from jobs.workloads.earlier import of_same_job
from jobs.workloads.pod_history import pod_history_of
from jobs.workloads.pod_set_rows import pod_set_rows
from jobs.workloads.span_history import history_of
from jobs.workloads.standing import standing
from portal.live import live, render_live

_MOST_HOLDS = 20
_MOST_EARLIER = 10
_MOST_PODS = 50
_BAR_GROWS_SECONDS = 60


def _clusters_shown(request: Request, cluster: str, uid: str) -> Collection[str]:
    return [cluster]


@require_safe
@live(LIVE, _clusters_shown, renew_seconds=_BAR_GROWS_SECONDS)
def workload_page(request: Request, cluster: str, uid: str) -> HttpResponse:
    workload, team = get_workload_and_team_or_404(request, cluster, uid)
    sees_raw = may_see_raw(request, team)
    context = {
        "workload": workload,
        "team": team,
        "sees_raw": sees_raw,
        "conditions": _conditions(request, workload) if sees_raw else [],
        "pod_sets": list(pod_set_rows(workload)),
        "earlier": of_same_job(workload, _MOST_EARLIER),
        "freshness": request.facts.by_cluster[cluster],
        "is_stale": request.facts.is_stale(cluster),
        **_story(workload),
    }
    return render_live(request, "portal/workload.html", context)


def _conditions(request: Request, workload: Workload) -> list[Any]:
    messages = [condition["message"] for condition in workload.conditions.values()]
    return condition_rows(workload, redaction_for(request.user, workload.cluster, messages))


def _story(workload: Workload) -> dict[str, Any]:
    """How it stands, how it came to start, and what it held."""
    reason = _reason(workload)
    history = history_of(workload, _MOST_HOLDS)
    running = _running(workload)
    waits = with_positions(workload.cluster, [workload])[0] if reason else None
    return {
        "standing": standing(workload, reason, running.own, running.borrowed),
        "running": running,
        "waiting": waits,
        "history": history,
        "has_unseen_holds": has_unseen_holds(workload, history),
        "pod_history": pod_history_of(workload, history.holds, _MOST_PODS),
        "most_pods": _MOST_PODS,
        "attempt": attempt_of(workload, history, reason.actor if reason else Actor.UNKNOWN),
    }


def _reason(workload: Workload) -> Reason | None:
    """Why it waits, if it does."""
    if workload.is_over or workload.state not in WAITING:
        return None
    return waiting_reason(workload, limits_of([workload]).get(workload.pk, NO_LIMITS))


def _running(workload: Workload) -> Running:
    """What it holds now; nothing where it does not."""
    if workload.is_over or workload.state not in HOLDING:
        return Running(workload, None, {})
    return with_shares(workload.cluster, [workload])[0]
