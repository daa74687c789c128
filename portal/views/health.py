"""Whether this process lives, and whether it can serve. Anybody may ask, so nothing but ages and yes or no is told."""

from datetime import datetime
from typing import Any

import structlog
from django.db import Error as DatabaseFailure
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu.exceptions import OperationalError as BrokerFailure

from jobs.sync.sources import SOURCES
from portal.celery import app
from portal.models import SourceState
from portal.sync_runs import STALE_AFTER
from teams.models import Cluster

log = structlog.get_logger(__name__)

_BROKER_SECONDS = 2
_OK, _UNREACHABLE = "ok", "unreachable"


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers. It asks nothing else: a restart mends no database."""
    return HttpResponse("alive\n", content_type="text/plain")


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """200, or 503 while database or broker cannot be reached.

    Stale syncs are told but are no reason for 503. Every web process reads the same rows, so all would leave service at
    once, and people would lose pages that say themselves how old their facts are. Alerts belong to the metrics.
    """
    try:
        database, clusters = _OK, _clusters(timezone.now())
    except DatabaseFailure:
        database, clusters = _UNREACHABLE, {}
    broker = _OK if _broker_answers() else _UNREACHABLE
    is_ready = database == broker == _OK
    if not is_ready:
        log.warning("not ready", database=database, broker=broker)
    report = {"database": database, "broker": broker, "clusters": clusters}
    return JsonResponse(report, status=200 if is_ready else 503)


def _clusters(now: datetime) -> dict[str, dict[str, dict[str, Any]]]:
    """By active cluster and source: seconds since it was read (None: never), if that is long, if reads fail."""
    slugs = list(Cluster.objects.active().order_by("slug").values_list("slug", flat=True))
    states = {(s.cluster, s.source): s for s in SourceState.objects.filter(cluster__in=slugs, source__in=SOURCES)}
    return {slug: {source: _state(states.get((slug, source)), now) for source in SOURCES} for slug in slugs}


def _state(state: SourceState | None, now: datetime) -> dict[str, Any]:
    age = now - state.last_good_at if state and state.last_good_at else None
    return {
        "age_seconds": None if age is None else int(age.total_seconds()),
        "stale": age is None or age > STALE_AFTER,
        "failing": state is not None and state.failing_since is not None,
    }


def _broker_answers() -> bool:
    patience = {"socket_connect_timeout": _BROKER_SECONDS, "socket_timeout": _BROKER_SECONDS}
    try:
        with app.connection_for_write(connect_timeout=_BROKER_SECONDS, transport_options=patience) as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, interval_step=0)
    except BrokerFailure:
        return False
    return True
