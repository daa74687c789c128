"""Evictions of a batch of workloads: which are news, and the rows to write."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max, Q

from jobs.ledger.eviction_loops import renew_loops
from jobs.ledger.eviction_losses import hours_of_loss, write_losses, write_unseen_loss
from jobs.ledger.json_keys import in_json
from jobs.ledger.late import reopen
from jobs.ledger.observed import checkpoint_interval, requested_gpus, work_of
from jobs.ledger.preemptors import Preemptors, fill, learn_lacking, name_late
from jobs.models import Eviction, Span, Workload
from jobs.models.evictions import Source
from jobs.rules.episodes import Episode, Known, new_episodes, tells_of_evictions
from jobs.rules.lost_work import Basis, CheckpointIgnored, Work, read_checkpoint, read_interval
from scheduling import names, objects
from scheduling.preemption_messages import PreemptionNotice, parse_preemption
from scheduling.queue_order import is_preempting
from teams.models import Cluster, NamespaceBinding

News = dict[int, list[tuple[objects.Workload, Episode]]]


class EvictionWriter:
    """Collects the evictions that one batch tells of; `write` stores them. Make it before the workloads' rows are
    written, and use it inside `exclusive(cluster)`. `ids`: keys of those workloads that are stored, by uid."""

    def __init__(
        self,
        cluster: Cluster,
        looks: Iterable[objects.Workload],
        ids: Mapping[str, int],
        *,
        now: datetime,
        last_seen: datetime,
    ) -> None:
        self.cluster, self.now, self.last_seen = cluster, now, last_seen
        telling = [ids[look.uid] for look in looks if look.uid in ids and tells_of_evictions(look)]
        self.known = _known(telling)
        self.seconds = _accumulated(telling)
        self.preempting = {
            look.uid: look.conditions[names.QUOTA_RESERVED].message for look in looks if is_preempting(look)
        }
        self.first_seen = {look.uid for look in looks} - ids.keys()
        self.news: News = defaultdict(list)

    def look(self, workload_id: int, workload: objects.Workload, held_since: datetime | None) -> int:
        """How many evictions one look tells of that were not known. `held_since`: the latest hold stored before it."""
        if not tells_of_evictions(workload):
            return 0
        known = self.known[workload_id]
        known.held_since = held_since
        is_first = workload.uid in self.first_seen and workload.created_at is not None
        since = workload.created_at if is_first and workload.created_at else self.last_seen
        found = new_episodes(workload, known, since=since, now=self.now)
        self.news[workload_id] += [(workload, episode) for episode in found]
        return len(found)

    def write(self, held_before: Collection[int], unseen: Mapping[int, datetime]) -> dict[str, list[Eviction]]:
        """Store them, after the spans; returns them by their workloads' uids. `unseen`: per workload the hold whose
        end nobody saw, by its beginning; of workloads that `held_before` earlier evictions are priced anew, whose quota
        may have come back."""
        if self.first_seen:
            name_late(self.cluster, self.first_seen)
        written = Eviction.objects.bulk_create(self._rows(unseen))
        renew_loops({row.workload_id for row in written})
        reopen(self.cluster, [hours_of_loss(row) for row in written if row.span is None and row.lost_high != 0])
        learn_lacking(self.cluster, self.preempting)
        touched = {*held_before, *(pk for pk, found in self.news.items() if found)}
        if touched:
            is_open = Q(stopping__isnull=True) | Q(span__released_before__isnull=True)
            unfinished = Eviction.objects.filter(is_open, workload_id__in=touched, span__isnull=False)
            write_losses(unfinished.select_related("span"))
        return self._by_uid(written)

    def _by_uid(self, written: Iterable[Eviction]) -> dict[str, list[Eviction]]:
        uids = {pk: workload.uid for pk, found in self.news.items() for workload, _ in found}
        by_uid: dict[str, list[Eviction]] = defaultdict(list)
        for eviction in written:
            by_uid[uids[eviction.workload_id]].append(eviction)
        return by_uid

    def _rows(self, unseen: Mapping[int, datetime]) -> list[Eviction]:
        told = [(pk, workload, each) for pk, found in self.news.items() for workload, each in found]
        if not told:
            return []
        notices = {each.message: parse_preemption(each.message) for _, _, each in told}
        preemptors = Preemptors(self.cluster, notices.values())
        spans = _Ended({pk: [each for _, each in found] for pk, found in self.news.items()}, unseen)
        defaults = default_intervals(self.cluster, {workload.namespace for _, workload, _ in told})
        rows = []
        for pk, workload, episode in told:
            notice = notices[episode.message]
            row = Eviction(cluster=self.cluster, workload_id=pk, **_columns(workload, episode, notice))
            row.checkpoint_seconds, row.checkpoint_source = interval_in_force(
                checkpoint_interval(workload), defaults.get(workload.namespace)
            )
            row.checkpoint_at = _last_checkpoint(workload, episode)
            row.span = spans.by(pk, episode)
            if row.span is None:
                self._price_without_span(row, workload, len(self.news[pk]))
            fill(row, preemptors.of(notice, episode.before))
            rows.append(row)
        return rows

    def _price_without_span(self, row: Eviction, workload: objects.Workload, news: int) -> None:
        """By the time for which Kueue says that it was admitted since the last look, if only one eviction ended it."""
        ran = timedelta(seconds=workload.accumulated_seconds - self.seconds.get(row.workload_id, 0))
        if ran > timedelta() and news == 1:
            write_unseen_loss(row, ran, requested_gpus(workload))
        elif row.observed and not ran:
            _costs_nothing(row)


def _columns(workload: objects.Workload, episode: Episode, notice: PreemptionNotice) -> dict[str, Any]:
    return {
        "namespace": workload.namespace,
        "reason": episode.reason,
        "cause": episode.cause,
        "ordinal": episode.ordinal,
        "observed": episode.observed,
        "decided_after": episode.after,
        "decided_before": episode.before,
        "message": episode.message,
        "priority": workload.effective_priority,
        "priority_class": workload.priority_class,
        "preemption": _preemption(workload, episode, notice),
        "preemptor_uid": notice.uid or "",
        "preemptor_job_uid": notice.job_uid or "",
        "preemptor_path": list(notice.preemptor_path or ()),
        "preemptee_path": list(notice.preemptee_path or ()),
        "work": work_of(workload) or Work.TRAINING,
    }


def _preemption(workload: objects.Workload, episode: Episode, notice: PreemptionNotice) -> str:
    """Preempted's own reason, from its condition or from the wording."""
    if episode.reason != names.PREEMPTED:
        return ""
    condition = workload.conditions.get(names.PREEMPTED)
    told = condition.reason if condition and condition.status and episode.observed else notice.reason
    return told or ""


def _costs_nothing(row: Eviction) -> None:
    """It held no quota that its pods could use."""
    row.basis = Basis.NOTHING
    row.lost_low = row.lost_expected = row.lost_high = row.stopping = 0


def interval_in_force(told: str, default: int | None) -> tuple[int | None, str]:
    """The checkpoint interval, in seconds, and who says so: the job as it `told`, else the team."""
    try:
        return int(read_interval(told).total_seconds()), Source.JOB
    except CheckpointIgnored:
        return default, Source.TEAM if default is not None else ""


def _last_checkpoint(workload: objects.Workload, episode: Episode) -> datetime | None:
    """When it had last saved its work; None where nobody says, or nobody saw when it was evicted."""
    try:
        return read_checkpoint(workload.last_checkpoint, episode.before) if episode.observed else None
    except CheckpointIgnored:
        return None


def default_intervals(cluster: Cluster, namespaces: Iterable[str]) -> dict[str, int | None]:
    """The teams' own defaults by namespace."""
    owned = NamespaceBinding.objects.current().filter(cluster=cluster, namespace__in=namespaces)
    return dict(owned.values_list("namespace", "team__checkpoint_seconds"))


class _Ended:
    """Which span each eviction of the batch ended."""

    def __init__(self, news: Mapping[int, list[Episode]], unseen: Mapping[int, datetime]) -> None:
        spans = list(Span.objects.filter(workload_id__in=news).order_by("reserved_at"))
        self.by_decision = {(span.workload_id, span.evicted_at): span for span in spans if span.evicted_at}
        by_start = {(span.workload_id, span.reserved_at): span for span in spans}
        self.of_unseen = {
            (pk, first): by_start.get((pk, unseen[pk]))
            for pk, episodes in news.items()
            if pk in unseen and (first := _first_unseen(episodes)) is not None
        }

    def by(self, workload_id: int, episode: Episode) -> Span | None:
        if episode.observed:
            return self.by_decision.get((workload_id, episode.before))
        return self.of_unseen.get((workload_id, episode))


def _first_unseen(episodes: Iterable[Episode]) -> Episode | None:
    """What ended the hold that was known; None where several counters moved and their order is not known."""
    unseen = [each for each in episodes if not each.observed]
    counters = {(each.reason, each.cause) for each in unseen}
    return min(unseen, key=lambda each: each.ordinal) if len(counters) == 1 else None


def _known(workload_ids: Iterable[int]) -> dict[int, Known]:
    found: dict[int, Known] = defaultdict(Known)
    rows = Eviction.objects.filter(workload_id__in=workload_ids).values_list("workload_id", "reason", "cause")
    seen = Max("decided_before", filter=Q(observed=True))
    for pk, reason, cause, ordinal, latest, decision in rows.annotate(Max("ordinal"), Max("decided_before"), seen=seen):
        found[pk].learn(reason, cause, ordinal, latest, decision)
    return found


def _accumulated(workload_ids: Iterable[int]) -> dict[int, int]:
    """Seconds that each had been admitted for before its present run, as of the last look."""
    stored = Workload.objects.filter(pk__in=workload_ids)
    return {pk: seconds or 0 for pk, seconds in stored.values_list("pk", in_json("status", "accumulated_seconds"))}
