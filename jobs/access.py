"""The loader of a single workload."""

from django.http import Http404

from accounts.requests import Request
from jobs.models import Workload
from teams.permissions import Permission


def get_workload_or_404(
    request: Request, cluster: str, uid: str, permission: Permission = Permission.SEE_TEAM
) -> Workload:
    """The workload, if the person holds the permission in its team. Raises Http404."""
    visible = Workload.objects.visible_to(request.user, permission).select_related("cluster")
    workload = visible.filter(cluster__slug=cluster, uid=uid).first()
    if workload is None:
        raise Http404("There is no such workload, or it belongs to another team.")
    return workload
