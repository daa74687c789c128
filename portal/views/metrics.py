"""Metrics for Prometheus: request times of this web server, the syncs of all clusters from their rows, evictions that
the portal cannot explain, and how long identity providers' certificates last.

Workers and the watcher leave rows, so one exporter tells of them too. Names of clusters and sources, never of teams.
"""

import math
import os
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from itertools import product
from urllib.parse import urlsplit

import structlog
from django.conf import settings
from django.db import Error as DatabaseFailure
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from accounts.models import IdentityProvider
from accounts.saml.expiry import signing_certificates
from jobs.evictions.lost_week import WEEK
from jobs.evictions.unexplained import unexplained_by_cluster
from jobs.sync.sources import SOURCES
from portal.middleware import is_loopback
from portal.models import SourceState, SyncRun
from portal.request_times import REQUEST_SECONDS
from teams.models import Cluster

log = structlog.get_logger(__name__)

_FAILED_WITHIN = timedelta(hours=1)
_FORWARDED = ("HTTP_FORWARDED", "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO")


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """For this machine and for those who bring the token; to others the address does not exist."""
    if not (_has_token(request) or _is_from_here(request)):
        raise Http404
    registry = CollectorRegistry()
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(REQUEST_SECONDS)
    registry.register(Syncs(timezone.now()))
    registry.register(Unexplained(timezone.now()))
    registry.register(Certificates(timezone.now()))
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _has_token(request: HttpRequest) -> bool:
    brought = request.headers.get("Authorization", "")
    return bool(settings.METRICS_TOKEN) and constant_time_compare(brought, f"Bearer {settings.METRICS_TOKEN}")


def _is_from_here(request: HttpRequest) -> bool:
    """From loopback, not through a proxy on this machine, which would make everybody local, and by this machine's own
    name: a page whose name was pointed at loopback meanwhile could read along."""
    address = request.META.get("REMOTE_ADDR", "")
    is_forwarded = settings.SECURE_PROXY_SSL_HEADER is not None or any(name in request.META for name in _FORWARDED)
    return bool(address) and is_loopback(address) and not is_forwarded and _asks_for_loopback(request)


def _asks_for_loopback(request: HttpRequest) -> bool:
    try:
        host = urlsplit(f"//{request.META.get('HTTP_HOST', '')}").hostname or "nowhere"
    except ValueError:
        return False
    return host == "localhost" or is_loopback(host)


class Syncs(Collector):
    """Age, failures, duration and rows per active cluster and source, in four queries."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def collect(self) -> Iterator[Metric]:
        try:
            clusters = list(Cluster.objects.active().order_by("slug").values_list("slug", flat=True))
            found = [*_reads(clusters, self.now), _failures(clusters, self.now), *_lists(clusters)]
        except DatabaseFailure:
            log.warning("metrics without syncs: the database does not answer")
            found = []
        yield from found


def _reads(clusters: Collection[str], now: datetime) -> Iterator[Metric]:
    age = _gauge("age_seconds", "Age of what is stored of the source; +Inf if it was never read whole.")
    failing = _gauge("failing_seconds", "For how long reading the source has failed; 0 while it does not.")
    malformed = _gauge("malformed_objects", "Objects of the source that cannot be read and are left out.")
    stored = SourceState.objects.filter(cluster__in=clusters, source__in=SOURCES)
    states = {(state.cluster, state.source): state for state in stored}
    for key in product(clusters, SOURCES):
        state = states.get(key, SourceState())
        age.add_metric(key, _seconds(state.last_good_at, now, otherwise=math.inf))
        failing.add_metric(key, _seconds(state.failing_since, now, otherwise=0))
        malformed.add_metric(key, state.malformed)
    yield from (age, failing, malformed)


def _failures(clusters: Collection[str], now: datetime) -> Metric:
    failures = _gauge("failed_runs", "Lists of the source that failed within the last hour.")
    failed = SyncRun.objects.filter(status=SyncRun.Status.FAILED, started_at__gt=now - _FAILED_WITHIN)
    counted = failed.filter(cluster__in=clusters, source__in=SOURCES).values_list("cluster", "source")
    numbers = {(cluster, source): number for cluster, source, number in counted.annotate(Count("pk"))}
    for key in product(clusters, SOURCES):
        failures.add_metric(key, numbers.get(key, 0))
    return failures


def _lists(clusters: Collection[str]) -> Iterator[Metric]:
    duration = _gauge("duration_seconds", "How long the last list of the source took.")
    rows = _gauge("rows", "Objects of the last list of the source, by what was done.", "outcome")
    for run in _last_runs(clusters):
        duration.add_metric((run.cluster, run.source), (run.ended_at - run.started_at).total_seconds())
        for outcome in ("seen", "written", "absent", "malformed"):
            rows.add_metric((run.cluster, run.source, outcome), getattr(run, outcome))
    yield from (duration, rows)


def _last_runs(clusters: Collection[str]) -> QuerySet[SyncRun]:
    """By way of the few states, each looking into the index: there are 14 days of runs."""
    runs = SyncRun.objects.filter(cluster=OuterRef("cluster"), source=OuterRef("source")).order_by("-started_at")
    states = SourceState.objects.filter(cluster__in=clusters, source__in=SOURCES)
    return SyncRun.objects.filter(pk__in=states.values(last=Subquery(runs.values("pk")[:1]))).order_by("pk")


def _gauge(name: str, text: str, *more: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"portal_sync_{name}", text, labels=("cluster", "source", *more))


def _seconds(since: datetime | None, now: datetime, *, otherwise: float) -> float:
    return otherwise if since is None else (now - since).total_seconds()


class Unexplained(Collector):
    """Evictions of active clusters that nobody here can explain, in one query."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def collect(self) -> Iterator[Metric]:
        found = GaugeMetricFamily(
            "portal_evictions_unexplained",
            "Evictions of the last seven days that Kueue tells of in words that the portal does not know.",
            labels=("cluster",),
        )
        try:
            for slug, number in unexplained_by_cluster(self.now - WEEK):
                found.add_metric((slug,), number)
        except DatabaseFailure:
            log.warning("metrics without evictions: the database does not answer")
        yield found


class Certificates(Collector):
    """Of enabled identity providers, in one query."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def collect(self) -> Iterator[Metric]:
        left = GaugeMetricFamily(
            "portal_identity_provider_certificate_seconds",
            "Until the last signing certificate of the provider ends; below 0 once it has.",
            labels=("provider",),
        )
        try:
            for provider in IdentityProvider.objects.filter(enabled=True):
                for last in signing_certificates(provider)[:1]:
                    left.add_metric((provider.slug,), (last.ends - self.now).total_seconds())
        except DatabaseFailure:
            log.warning("metrics without identity providers: the database does not answer")
        yield left
