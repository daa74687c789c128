"""The loader of a single workload."""

from typing import Any

from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce, JSONObject
from django.http import Http404

from accounts.requests import Request
from jobs.models import Eviction, Workload
from teams.models import NamespaceBinding, Team
from teams.permissions import Permission
from teams.roles import roles_of

_OWNER = JSONObject(pk="team__pk", slug="team__slug", name="team__name")


def get_workload_and_team_or_404(
    request: Request, cluster: str, uid: str, permission: Permission = Permission.SEE_TEAM
) -> tuple[Workload, Team | None]:
    """The workload, if the person holds the permission in its team, with the team that owns its namespace now, and with
    `eviction_count`, in one query; of the team pk, slug and name are read. Raises Http404."""
    bound = NamespaceBinding.objects.current().filter(cluster=OuterRef("cluster"), namespace=OuterRef("namespace"))
    visible: Any = Workload.objects.visible_to(request.user, permission).select_related("cluster")
    suffered = Eviction.objects.filter(workload=OuterRef("pk")).order_by().values("workload").values_list(Count("pk"))
    owned = visible.annotate(
        owning_team=Subquery(bound.values_list(_OWNER)), eviction_count=Coalesce(Subquery(suffered), 0)
    )
    workload = owned.filter(cluster__slug=cluster, uid=uid).first()
    if workload is None:
        raise Http404("There is no such workload, or it belongs to another team.")
    return workload, Team(**workload.owning_team) if workload.owning_team else None


def may_see_raw(request: Request, team: Team | None) -> bool:
    """Whether the person may read manifests, events and raw texts of the team's workloads; None: of those without."""
    roles = roles_of(request.user)
    return roles.hold(Permission.SEE_RAW, team.pk) if team else roles.everywhere(Permission.SEE_RAW)
