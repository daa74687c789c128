"""The page of one eviction: what happened and why, when, what it cost, and what can be done about it."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

from accounts.requests import Request
from jobs.access import get_workload_and_team_or_404, may_see_raw
from jobs.evictions.list import with_objects
from jobs.evictions.story import advice, checkpoint_notes, outage, sentences, steps
from jobs.evictions.told import told
from jobs.models import Eviction, QueueNow, Workload
from jobs.redaction import redaction_for
from jobs.sight import sight_of
from jobs.sync.sources import LIVE
from portal.live import live, render_live
from scheduling import names
from teams.models import SpecVersion

_RENEW_SECONDS = 60


def _clusters_shown(request: Request, cluster: str, uid: str, key: int) -> Collection[str]:
    return [cluster]


@require_safe
@live(LIVE, _clusters_shown, renew_seconds=_RENEW_SECONDS)
def eviction_page(request: Request, cluster: str, uid: str, key: int) -> HttpResponse:
    workload, team = get_workload_and_team_or_404(request, cluster, uid)
    eviction = with_objects(Eviction.objects.filter(workload=workload, pk=key)).first()
    if eviction is None:
        raise Http404("There is no such eviction of this workload.")
    eviction.workload = workload
    (row,) = told([eviction], sight_of(request.user, [workload.cluster]))
    queued_at = _queued_at(eviction)
    sees_raw = may_see_raw(request, team)
    context: dict[str, Any] = {
        "workload": workload,
        "team": team,
        "row": row,
        "eviction": eviction,
        "flavors": [(flavor, amounts[0]) for flavor, amounts in eviction.by_flavor.items()],
        "sentences": sentences(row),
        "steps": steps(row, queued_at, _unseen_since(queued_at, eviction)),
        "advice": advice(eviction, _guaranteed(eviction), _classes(workload)),
        "notes": checkpoint_notes(eviction),
        "outage": outage(eviction, row.resumed_at or workload.gone_before or request.facts.now),
        "sees_raw": sees_raw,
        "message": _message(request, eviction) if sees_raw else "",
        "freshness": request.facts.by_cluster[cluster],
        "is_stale": request.facts.is_stale(cluster),
    }
    return render_live(request, "portal/eviction.html", context)


def _queued_at(eviction: Eviction) -> datetime:
    """When it began to wait for the run that was ended: after the run before, or at its creation."""
    start = eviction.span.reserved_at if eviction.span else eviction.decided_before
    before = eviction.workload.spans.filter(released_before__lte=start).order_by("-released_before").first()
    ended = before.released_before if before else None
    return ended or eviction.workload.created_at


def _unseen_since(queued_at: datetime, eviction: Eviction) -> int:
    """How many evictions ended holds that nobody saw, after it was queued and before the hold that this one ended."""
    if eviction.span is None:
        return 0
    unseen = eviction.workload.evictions.filter(observed=False, span__isnull=True)
    return unseen.filter(decided_before__gt=queued_at, decided_before__lte=eviction.span.reserved_at).count()


def _guaranteed(eviction: Eviction) -> dict[str, int]:
    if eviction.span is None:
        return {}
    rows = QueueNow.objects.filter(cluster=eviction.cluster_id, cluster_queue=eviction.span.cluster_queue)
    values = rows.values_list("flavor", "resource", "nominal")
    return {flavor: nominal for flavor, resource, nominal in values if names.is_accelerator(resource)}


def _classes(workload: Workload) -> dict[str, int]:
    current = SpecVersion.objects.current().filter(cluster=workload.cluster_id, deleted=False)
    found = current.filter(kind=SpecVersion.Kind.PRIORITY_CLASS).values_list("name", "spec")
    return {name: spec["value"] for name, spec in found}


def _message(request: Request, eviction: Eviction) -> str:
    """Kueue's own words, without other teams' names."""
    workload: Workload = eviction.workload
    own = (workload.uid, workload.owner_uid, workload.job_uid)
    return redaction_for(request.user, workload.cluster, [eviction.message], filter(None, own)).apply(eviction.message)
