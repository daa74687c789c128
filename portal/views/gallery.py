"""Every component in every state, for people who build or check pages. The numbers are made up and stored nowhere."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from accounts.requests import Request
from jobs.models import QueueNow
from jobs.queues.team_now import ClusterNow, TeamLine
from jobs.rules.time_to_start import Actor, Attempt, Phase
from jobs.states import JobState
from jobs.workloads.filter import Column, WorkloadFilter
from portal.sync_runs import Freshness
from teams.access import require_platform_permission
from teams.models import Cluster, NodeCapacity
from teams.permissions import Permission


@require_safe
def gallery(request: Request) -> HttpResponse:
    """For platform roles; in the demo for everybody."""
    if not settings.DEMO:
        require_platform_permission(request, Permission.SEE_PLATFORM)
    now = timezone.now()
    cluster = Cluster(slug="gallery", name="gallery")
    context = {
        "now": now,
        "cluster": cluster,
        "here": ClusterNow(cluster, (), ("queue",), ()),
        "lines": [(words, TeamLine(row, is_shared, 2)) for words, row, is_shared in _bars()],
        "scale": 40,
        "states": [*JobState, "SomethingNew"],
        "actors": list(Actor),
        "attempts": _attempts(now),
        "freshness": _freshness(now),
        "wanted": WorkloadFilter(sort="-gpus"),
        "columns": [Column.JOB, Column.STATE, Column.GPUS],
        "capacity": NodeCapacity(instance_type="ml.g6e.12xlarge", total=16, healthy=14),
        "many_nodes": NodeCapacity(instance_type="ml.g6e.12xlarge", total=400, healthy=399),
        "moments": [now - timedelta(seconds=12), now - timedelta(minutes=71), now - timedelta(days=11, hours=4)],
    }
    return render(request, "portal/gallery.html", context)


def _freshness(now: datetime) -> list[tuple[Freshness, bool]]:
    current = Freshness(now - timedelta(seconds=12), None, "", 1)
    old = Freshness(now - timedelta(minutes=11), now - timedelta(minutes=10), "the server does not answer", 1)
    never = replace(current, as_of=None)
    return [(current, False), (old, True), (never, True)]


def _attempts(now: datetime) -> list[tuple[str, Attempt]]:
    """(what it shows, the attempt to start)."""
    queued, reserved, admitted, ready = (now - timedelta(minutes=minutes) for minutes in (90, 60, 50, 20))
    return [
        (gettext("started"), Attempt(queued, reserved, admitted, ready)),
        (gettext("waits for others"), Attempt(queued, phase=Phase.QUEUE)),
        (gettext("waits for its owner"), Attempt(queued, phase=Phase.QUEUE, waits_for=Actor.OWNER)),
        (gettext("waits for the platform admin"), Attempt(queued, phase=Phase.QUEUE, waits_for=Actor.PLATFORM)),
        (gettext("pods not ready"), Attempt(queued, reserved, admitted, phase=Phase.PODS)),
        (gettext("not all is known"), Attempt(queued, None, admitted, ready)),
        (gettext("given up"), Attempt(queued, reserved, ended_at=ready, phase=Phase.CHECKS)),
        (gettext("nothing is known"), Attempt(queued)),
    ]


def _row(**changes: Any) -> QueueNow:
    plain: dict[str, Any] = {
        "cluster_queue": "queue",
        "flavor": "ml.p5.48xlarge",
        "resource": "nvidia.com/gpu",
        "cohort": "cohort",
        "listed": True,
        "nominal": 16,
        "borrowing_limit": 24,
        "reservation": 12,
        "usage": 12,
        "borrowed": 0,
        "lendable": 4,
        "available": 12,
        "potential": 40,
        "lent_low": 0,
        "lent_high": 0,
    }
    return QueueNow(**{**plain, **changes})


def _bars() -> list[tuple[str, QueueNow, bool]]:
    """(what it shows, the row, whether the queue is shared)."""
    return [
        (gettext("own only"), _row(), False),
        (gettext("borrowing"), _row(reservation=32, borrowed=16, available=0), False),
        (gettext("no limit"), _row(borrowing_limit=None, reservation=9, available=14), False),
        (gettext("limit 0"), _row(borrowing_limit=0, reservation=16, available=0), False),
        (gettext("lent, exact"), _row(reservation=3, lent_low=4, lent_high=4, available=9), False),
        (gettext("lent, a range"), _row(reservation=2, lent_low=2, lent_high=6, available=10), False),
        (gettext("over the limit"), _row(borrowing_limit=12, reservation=32, borrowed=16, available=0), False),
        (gettext("over-committed"), _row(over_committed=True, lent_low=None, lent_high=None, available=0), False),
        (gettext("cannot be known"), _row(lent_low=None, lent_high=None, available=None, lendable=None), False),
        (gettext("outside any cohort"), _row(cohort="", borrowing_limit=None, available=4), False),
        (gettext("nothing guaranteed"), _row(nominal=0, reservation=4, borrowed=4), False),
        (gettext("no longer listed"), _row(listed=False, nominal=0, reservation=2, borrowed=2, available=0), False),
        (gettext("shared by teams"), _row(), True),
        (gettext("hundreds"), _row(nominal=800, borrowing_limit=800, reservation=1024, borrowed=224), False),
    ]
