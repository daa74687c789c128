"""What is known of reading a source: its age, its failures, the gaps it left, and who may read it now."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import LiteralString, NamedTuple

import structlog
from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.query import RawQuerySet

from gateways.errors import GatewayError
from portal.models import Gap, Lease, SourceState, SyncRun

log = structlog.get_logger(__name__)

GAP_AFTER = timedelta(seconds=150)
"""A source unread for longer leaves a Gap. Two missed pulls of a minute and some slack."""

STALE_AFTER = timedelta(seconds=120)
"""Facts older than that are shown with a warning."""

KEEP_RUNS = timedelta(days=14)
KEEP_FAILED_RUNS = timedelta(days=90)
_LONGEST_ERROR = 1000
_LOGGED_MALFORMED = 5


@dataclass(slots=True)
class Counts:
    """What one run did. `malformed` holds a sentence per object that could not be read."""

    seen: int = 0
    written: int = 0
    absent: int = 0
    malformed: list[str] = field(default_factory=list)
    resource_version: int = 0


@contextmanager
def sync_run(source: str, cluster: str, clock: Callable[[], datetime]) -> Iterator[Counts]:
    """Leave a SyncRun row of what happens inside, and the source's new state.

    A GatewayError (and any other error) is recorded and raised again. The body fills the Counts it is given.
    """
    started_at, counts = clock(), Counts()
    try:
        yield counts
    except Exception as error:
        record_failure(source, cluster, now=clock(), error=error)
        _leave_run(source, cluster, started_at, clock(), counts, SyncRun.Status.FAILED, describe(error))
        raise
    complete_run(source, cluster, counts, started_at=started_at, now=clock())


def complete_run(source: str, cluster: str, counts: Counts, *, started_at: datetime, now: datetime) -> None:
    """A list was read whole and stored. What it told was so when it began: later changes may have gone past it."""
    record_success(source, cluster, now=started_at, counts=counts)
    status = SyncRun.Status.CHANGED if counts.written or counts.absent else SyncRun.Status.UNCHANGED
    _leave_run(source, cluster, started_at, now, counts, status, "")
    for sentence in counts.malformed[:_LOGGED_MALFORMED]:
        log.warning("object skipped", source=source, cluster=cluster, why=sentence)


def _leave_run(
    source: str, cluster: str, started_at: datetime, now: datetime, counts: Counts, status: SyncRun.Status, error: str
) -> None:
    SyncRun.objects.create(
        source=source,
        cluster=cluster,
        started_at=started_at,
        ended_at=now,
        status=status,
        seen=counts.seen,
        written=counts.written,
        absent=counts.absent,
        malformed=len(counts.malformed),
        error=error,
    )


SETUP = "setup"
"""The source of what the set-up file says of a cluster: its version counts changes of names and ownership."""

UNDATED = (SETUP, "about", "events", "owners")
"""Sources of which nothing is kept with dates, or that tell of the last hour whenever they are asked: time in which
they were not asked is no Gap."""


class SlugQuery(NamedTuple):
    """SELECT of clusters' slugs. In SQL, since every poll asks for them: the ORM needs longer to put it together than
    the database to answer."""

    sql: LiteralString
    parameters: tuple[str, ...] = ()


def freshness(sources: Collection[str], clusters: Collection[str] | SlugQuery) -> dict[str, "Freshness"]:
    """How old what these sources feed is, by cluster: the age of the oldest. One query, also where `clusters` is one
    for slugs. The versions are those of all sources: hardly a page shows what a single one tells."""
    found: dict[str, dict[str, SourceState]] = {}
    states: Iterable[SourceState]
    if isinstance(clusters, SlugQuery):
        states = _states_of(clusters)
    else:
        states, found = SourceState.objects.filter(cluster__in=clusters), {cluster: {} for cluster in clusters}
    for state in states:
        found.setdefault(state.cluster, {})[state.source] = state
    return {cluster: _freshness(sources, by_source) for cluster, by_source in found.items()}


def _states_of(slugs: SlugQuery) -> "RawQuerySet[SourceState]":
    """With one of no source for a cluster that was never read."""
    sql = f"""
        SELECT id, c.slug AS cluster, source, last_good_at, failing_since, last_error, COALESCE(version, 0) AS version
        FROM ({slugs.sql}) AS c LEFT JOIN portal_sourcestate AS s ON s.cluster = c.slug
    """  # noqa: S608 (no part of it comes from outside)
    return SourceState.objects.raw(sql, slugs.parameters)


def _freshness(sources: Collection[str], states: Mapping[str, SourceState]) -> "Freshness":
    reads = [states[source].last_good_at if source in states else None for source in sources]
    known = [read for read in reads if read is not None]
    failing = next((states[source] for source in sources if source in states and states[source].failing_since), None)
    return Freshness(
        as_of=min(known) if len(known) == len(reads) else None,
        failing_since=failing.failing_since if failing else None,
        error=failing.last_error if failing else "",
        version=sum(state.version for state in states.values()),
    )


def count_setup_change(cluster: str) -> None:
    """Pages that show the cluster differ from before, though nothing was read: names or ownership changed."""
    state, _created = SourceState.objects.get_or_create(source=SETUP, cluster=cluster)
    SourceState.objects.filter(pk=state.pk).update(version=F("version") + 1)


@dataclass(frozen=True, slots=True)
class Freshness:
    """`as_of` is None when something was never read; `version` grows with every change of the facts."""

    as_of: datetime | None
    failing_since: datetime | None
    error: str
    version: int

    def is_stale(self, now: datetime) -> bool:
        return self.as_of is None or now - self.as_of > STALE_AFTER


def describe(error: Exception) -> str:
    """A sentence for people; unexpected errors show their type only, since their text may hold anything."""
    text = str(error) if isinstance(error, GatewayError | SyncRefused) else f"unexpected {type(error).__name__}"
    return text[:_LONGEST_ERROR]


class SyncRefused(Exception):
    """The sync must not go on; the text says why and what to do."""


def record_success(source: str, cluster: str, *, now: datetime, counts: Counts, lossless: bool = False) -> None:
    """What is stored is the source as of `now`, by a list that began then, or by a watch that told everything until
    then (`lossless`): nothing went unseen, however long ago the last good read was."""
    with transaction.atomic():
        state, _created = SourceState.objects.get_or_create(source=source, cluster=cluster)
        if lossless:
            _open_gaps(source, cluster).delete()
        else:
            _close_gap(state, now)
        state.last_good_at = now
        state.resource_version = max(counts.resource_version, state.resource_version)
        state.malformed = len(counts.malformed) + (state.malformed if lossless else 0)
        state.failing_since, state.last_error = None, ""
        state.save(update_fields=["last_good_at", "resource_version", "malformed", "failing_since", "last_error"])
        if counts.written or counts.absent:
            SourceState.objects.filter(pk=state.pk).update(version=F("version") + 1)


def record_failure(source: str, cluster: str, *, now: datetime, error: Exception) -> None:
    """Reading failed at `now`; opens a Gap once the source has been unseen for GAP_AFTER."""
    log.warning("sync failed", source=source, cluster=cluster, error=describe(error))
    with transaction.atomic():
        state, _created = SourceState.objects.get_or_create(source=source, cluster=cluster)
        state.failing_since = state.failing_since or now
        state.last_error = describe(error)
        state.save(update_fields=["failing_since", "last_error"])
        start = _unseen_since(state, now)
        if start and not _open_gaps(source, cluster).exists():
            Gap.objects.create(source=source, cluster=cluster, start=start, cause=Gap.Cause.UNREACHABLE)


def _unseen_since(state: SourceState, now: datetime) -> datetime | None:
    """Since when the source has gone unseen, if for so long that it leaves a Gap."""
    seen = state.last_good_at
    return seen if seen and state.source not in UNDATED and now - seen > GAP_AFTER else None


def _open_gaps(source: str, cluster: str) -> "QuerySet[Gap]":
    return Gap.objects.filter(source=source, cluster=cluster, end__isnull=True)


def _close_gap(state: SourceState, now: datetime) -> None:
    gap = _open_gaps(state.source, state.cluster).first()
    if gap is not None:
        gap.end = max(now, gap.start + timedelta(microseconds=1))  # clocks are set back, too
        gap.save(update_fields=["end"])
    elif start := _unseen_since(state, now):
        cause = Gap.Cause.UNREACHABLE if state.failing_since else Gap.Cause.NOT_RUNNING
        Gap.objects.create(source=state.source, cluster=state.cluster, start=start, end=now, cause=cause)


def hold_lease(source: str, cluster: str, *, holder: str, now: datetime, seconds: int) -> bool:
    """Take or renew the right to run `source` on `cluster`; False while somebody else holds it."""
    expires_at = now + timedelta(seconds=seconds)
    mine = Lease.objects.filter(source=source, cluster=cluster).filter(Q(holder=holder) | Q(expires_at__lte=now))
    if mine.update(holder=holder, expires_at=expires_at):
        return True
    try:
        with transaction.atomic():
            Lease.objects.create(source=source, cluster=cluster, holder=holder, expires_at=expires_at)
    except IntegrityError:
        return False
    return True


def release_lease(source: str, cluster: str, *, holder: str) -> None:
    """Give the lease back; no effect if somebody else holds it by now."""
    Lease.objects.filter(source=source, cluster=cluster, holder=holder).delete()


def prune_runs(now: datetime) -> int:
    """Delete old SyncRun rows; returns how many."""
    failed = Q(status=SyncRun.Status.FAILED)
    old = (~failed & Q(started_at__lt=now - KEEP_RUNS)) | (failed & Q(started_at__lt=now - KEEP_FAILED_RUNS))
    return SyncRun.objects.filter(old).delete()[0]
