"""The page of one node: which jobs ran on it, and when. Members see those of their own teams."""

from collections.abc import Collection

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

from accounts.requests import Request
from jobs.lists.reach import reach_of_person
from jobs.sync.sources import PODS
from jobs.workloads.node_history import read_window, runs_in_reach, runs_within
from portal.live import live, render_live

_RENEW_SECONDS = 60  # without an end in the address the page goes on with time
_MOST_RUNS = 200


def _clusters_shown(request: Request, cluster: str, name: str) -> Collection[str]:
    return [cluster]


@require_safe
@live((PODS,), _clusters_shown, renew_seconds=_RENEW_SECONDS)
def node_page(request: Request, cluster: str, name: str) -> HttpResponse:
    reach = reach_of_person(request.user)
    row = next((each for each in reach.clusters if each.slug == cluster), None)
    runs = runs_in_reach(reach, row, name) if row else None
    if row is None or runs is None or not runs.exists():
        raise Http404("No job of yours ran on such a node.")
    window, notes = read_window(request.GET.dict(), request.facts.now)
    found = list(runs_within(runs, window)[: _MOST_RUNS + 1])
    context = {
        "cluster": row,
        "node": name,
        "window": window,
        "notes": notes,
        "runs": [(run, reach.owners.get((row.pk, run.workload.namespace))) for run in found[:_MOST_RUNS]],
        "has_more": len(found) > _MOST_RUNS,
        "most": _MOST_RUNS,
        "sees_all": reach.is_everything,
        "freshness": request.facts.by_cluster[cluster],
        "is_stale": request.facts.is_stale(cluster),
    }
    return render_live(request, "portal/node.html", context)
