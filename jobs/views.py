"""Pages about single workloads."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.requests import Request
from jobs.access import get_workload_or_404
from jobs.conditions import condition_rows
from jobs.models import Workload
from jobs.reasons import waiting_reason
from jobs.redaction import redaction_for
from jobs.states import WAITING
from jobs.sync import LIVE
from portal.sync_runs import freshness
from teams.models import NamespaceBinding
from teams.permissions import Permission


@require_safe
def workload_page(request: Request, cluster: str, uid: str) -> HttpResponse:
    """One workload: its state in words, its holds of quota, its conditions."""
    workload = get_workload_or_404(request, cluster, uid)
    sees_raw = Workload.objects.visible_to(request.user, Permission.SEE_RAW).filter(pk=workload.pk).exists()
    messages = [condition["message"] for condition in workload.conditions.values()]
    redaction = redaction_for(request.user, workload.cluster, messages)
    fresh, now = freshness(LIVE, workload.cluster.slug), timezone.now()
    context = {
        "workload": workload,
        "team": _team_of(workload),
        "reason": waiting_reason(workload) if workload.state in WAITING and not workload.is_over else None,
        "conditions": condition_rows(workload, redaction) if sees_raw else [],
        "sees_raw": sees_raw,
        "spans": workload.spans.order_by("-reserved_at").prefetch_related("usages"),
        "freshness": fresh,
        "is_stale": fresh.is_stale(now),
        "now": now,
    }
    return render(request, "jobs/workload.html", context)


def _team_of(workload: Workload) -> object:
    owned = NamespaceBinding.objects.current().filter(cluster=workload.cluster, namespace=workload.namespace)
    binding = owned.select_related("team").first()
    return binding.team if binding else None
