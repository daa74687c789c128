"""Whom evictions hit hardest, for platform roles: the jobs evicted again and again, and those that would lose all."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from accounts.requests import Request
from jobs.evictions.borrowers import borrowers_without_checkpoints
from jobs.evictions.filter import EvictionFilter
from jobs.evictions.list import narrowed
from jobs.evictions.repeat_victims import MOST, repeat_victims
from jobs.lists.addresses import Age
from jobs.lists.reach import Reach, reach_of_all
from jobs.sight import sight_of
from jobs.sync.sources import LIVE
from portal.live import live, render_live
from portal.views.overview import active_clusters
from teams.access import require_platform_permission
from teams.permissions import Permission

_RENEW_SECONDS = 60  # what happened “in the last 24 hours”, and how much is at stake, depends on time alone
_AGES = (Age.DAY, Age.WEEK, Age.MONTH)


@require_safe
@live(LIVE, active_clusters, renew_seconds=_RENEW_SECONDS)
def victims(request: Request) -> HttpResponse:
    require_platform_permission(request, Permission.SEE_PLATFORM)
    reach = reach_of_all()
    asked = request.GET.get("time", "")
    age = Age(asked) if asked in _AGES else Age.WEEK
    wanted = EvictionFilter(time=age, of_all=True)
    found = narrowed(reach, wanted, sight_of(request.user, reach.clusters), request.facts.now)
    context = {
        "age": age,
        "ages": _AGES,
        "rows": [(victim, victim.history(age)) for victim in repeat_victims(found, reach)],
        "most": MOST,
        **_shown(request, reach),
    }
    return render_live(request, "portal/victims.html", context)


@require_safe
@live(LIVE, active_clusters, renew_seconds=_RENEW_SECONDS)
def borrowers(request: Request) -> HttpResponse:
    require_platform_permission(request, Permission.SEE_PLATFORM)
    reach = reach_of_all()
    rows = borrowers_without_checkpoints(reach, request.facts.now)
    return render_live(request, "portal/borrowers.html", {"rows": rows, **_shown(request, reach)})


def _shown(request: Request, reach: Reach) -> dict[str, object]:
    return {"shows_cluster": len(reach.clusters) > 1, "clusters_shown": request.facts.told(reach.clusters)}
