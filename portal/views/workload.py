"""The page of one workload: its state in words, its holds of quota, its conditions."""

from collections.abc import Collection

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from accounts.requests import Request
from jobs.access import get_workload_or_404
from jobs.conditions import condition_rows
from jobs.models import Workload
from jobs.reasons import waiting_reason
from jobs.redaction import redaction_for
from jobs.states import WAITING
from jobs.sync import LIVE
from portal.live import live, render_live
from teams.models import NamespaceBinding, Team
from teams.permissions import Permission


def _clusters_shown(request: Request, cluster: str, uid: str) -> Collection[str]:
    return [cluster]


@require_safe
@live(LIVE, _clusters_shown)
def workload_page(request: Request, cluster: str, uid: str) -> HttpResponse:
    workload = get_workload_or_404(request, cluster, uid)
    sees_raw = Workload.objects.visible_to(request.user, Permission.SEE_RAW).filter(pk=workload.pk).exists()
    messages = [condition["message"] for condition in workload.conditions.values()]
    redaction = redaction_for(request.user, workload.cluster, messages)
    context = {
        "workload": workload,
        "team": _team_of(workload),
        "reason": waiting_reason(workload) if workload.state in WAITING and not workload.is_over else None,
        "conditions": condition_rows(workload, redaction) if sees_raw else [],
        "sees_raw": sees_raw,
        "spans": workload.spans.order_by("-reserved_at").prefetch_related("usages"),
        "freshness": request.facts.by_cluster[cluster],
        "is_stale": request.facts.is_stale(cluster),
    }
    return render_live(request, "portal/workload.html", context)


def _team_of(workload: Workload) -> Team | None:
    owned = NamespaceBinding.objects.current().filter(cluster=workload.cluster, namespace=workload.namespace)
    binding = owned.select_related("team").first()
    return binding.team if binding else None
