"""The use of GPUs over time, from the hours rolled up: the sums, and what a team's page reads. Buckets are UTC."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, Final

from django.db.models import Case, Exists, IntegerField, OuterRef, Q, QuerySet, Value, When

from jobs.ledger.late import hour_of
from jobs.ledger.wide_sums import halves, whole
from jobs.models import ClosedHours, PendingHour, QueueHour, TeamHour
from jobs.queues.team_now import is_shared
from jobs.usage.stretches import Stretch, edges_of
from scheduling.hour_rows import micros
from teams.models import Cluster, NamespaceBinding, Team
from teams.queues import current_queues


@dataclass(slots=True)
class Bucket:
    """From `start` until before `end`. Sums in amount·microseconds, but `lost_unknown` counts evictions of unknown
    cost. `past`: microseconds of it up to the end of the last closed hour; `counted`: of them those since the cluster
    was first read; `unknown`: of them those in which not everything was seen."""

    start: datetime
    end: datetime
    past: int = 0
    counted: int = 0
    unknown: int = 0
    own: int = 0
    borrowed: int = 0
    guaranteed: int = 0
    lent_low: int = 0
    lent_high: int = 0
    waiting: int = 0
    lost_low: int = 0
    lost_expected: int = 0
    lost_high: int = 0
    lost_unknown: int = 0

    @property
    def is_known(self) -> bool:
        """Whether anything of it was seen."""
        return self.unknown < self.past

    def add(self, **sums: int) -> None:
        for name, amount in sums.items():
            setattr(self, name, getattr(self, name) + amount)


@dataclass(frozen=True, slots=True)
class Usage:
    """One (ClusterQueue, flavor, resource): the team's part of what was used, and what the queue was guaranteed and
    lent; `is_shared` where other teams' jobs come to the same queue. What waits has no flavor yet. With an empty
    flavor: what was lost by jobs that nobody saw run."""

    cluster: Cluster
    cluster_queue: str
    flavor: str
    resource: str
    is_shared: bool
    buckets: Sequence[Bucket]

    @property
    def rows(self) -> Sequence[Bucket]:
        """Those of its table: of what nobody saw run, the stretches in which something was lost."""
        return self.buckets if self.flavor else [each for each in self.buckets if each.lost_high or each.lost_unknown]

    @property
    def total(self) -> Bucket:
        total = Bucket(self.buckets[0].start, self.buckets[-1].end)
        for bucket in self.buckets:
            total.add(**{name: getattr(bucket, name) for name in Bucket.__slots__ if name not in ("start", "end")})
        return total


@dataclass(frozen=True, slots=True)
class ClusterUsage:
    """`until`: the end of the last closed hour; None before the first. `is_seen`: whether any hour of the time is
    closed and was read."""

    cluster: Cluster
    until: datetime | None
    usages: Sequence[Usage]
    is_seen: bool = False


Key = tuple[str, str, str]
_KEY: Final = ("cluster_queue", "flavor", "resource")
_OF_TEAM: Final = ("own", "borrowed", "lost_low", "lost_expected", "lost_high", "lost_unknown")
_OF_QUEUE: Final = ("guaranteed", "lent_low", "lent_high", "unknown")


def usage_of(team: Team, stretch: Stretch) -> list[ClusterUsage]:
    """In each cluster where the team has namespaces."""
    bound = NamespaceBinding.objects.current().filter(team=team, cluster__archived_at__isnull=True)
    namespaces: dict[Cluster, set[str]] = defaultdict(set)
    for binding in bound.select_related("cluster__closed_hours").order_by("cluster__slug"):
        namespaces[binding.cluster].add(binding.namespace)
    return [_in_cluster(team, cluster, owned, stretch) for cluster, owned in namespaces.items()]


def _in_cluster(team: Team, cluster: Cluster, namespaces: set[str], stretch: Stretch) -> ClusterUsage:
    closed = getattr(cluster, "closed_hours", None)
    if closed is None or closed.until <= closed.begun_at:
        return ClusterUsage(cluster, None, [])
    queues = current_queues(cluster)
    edges = edges_of(stretch, closed.until)
    reader = _Reader(team, HourSums(cluster, closed, edges))
    found = reader.read(queues.cluster_queues_of(namespaces))
    usages = [
        Usage(cluster, *key, is_shared(queues, key[0], namespaces), found[key])
        for key in sorted(found, key=lambda key: (key[0], -sum(each.guaranteed for each in found[key]), key))
    ]
    is_seen = edges[0] < closed.until and closed.begun_at < edges[-1]
    return ClusterUsage(cluster, closed.until, usages, is_seen)


class HourSums:
    """Adds a cluster's hours up to buckets, which lie between the edges."""

    def __init__(self, cluster: Cluster, closed: ClosedHours, edges: Sequence[datetime]) -> None:
        self.cluster, self.closed, self.edges = cluster, closed, edges

    @property
    def window(self) -> Q:
        return Q(cluster=self.cluster, hour__gte=self.edges[0], hour__lt=self.edges[-1])

    def of(
        self, rows: "QuerySet[Any]", key: Sequence[str], names: Sequence[str]
    ) -> Iterator[tuple[tuple[str, ...], int, dict[str, int]]]:
        """The sums of these columns by key and bucket."""
        ends = [When(hour__lt=end, then=Value(number)) for number, end in enumerate(self.edges[1:])]
        sums = {f"sum_{number}": each for number, each in enumerate(chain.from_iterable(map(halves, names)))}
        grouped = rows.annotate(bucket=Case(*ends, output_field=IntegerField()))
        for row in grouped.values_list(*key, "bucket").annotate(**sums):
            *of, bucket = row[: len(key) + 1]
            parts = row[len(key) + 1 :]
            totals = [whole(high, low) for high, low in zip(parts[::2], parts[1::2], strict=True)]
            yield tuple(of), bucket, dict(zip(names, totals, strict=True))

    def buckets(self) -> list[Bucket]:
        """With what is known of them all: how much is over, and what of it lies before the first read."""
        begun, until = self.closed.begun_at, self.closed.until
        return [
            Bucket(
                start,
                end,
                past=_micros(start, min(end, until)),
                counted=_micros(max(start, begun), min(end, until)),
                unknown=_micros(start, min(end, until, hour_of(begun))),
            )
            for start, end in zip(self.edges, self.edges[1:], strict=False)
        ]


class _Reader:
    """What one team's page tells of a cluster."""

    def __init__(self, team: Team, sums: HourSums) -> None:
        self.team, self.sums = team, sums

    def read(self, cluster_queues: Collection[str]) -> Mapping[Key, Sequence[Bucket]]:
        """By (ClusterQueue, flavor, resource), for these queues, and for others in the hours in which the team used
        them: at other times they were somebody else's."""
        found: dict[Key, list[Bucket]] = defaultdict(self.sums.buckets)
        used = TeamHour.objects.filter(self.sums.window, team=self.team)
        for (queue, flavor, resource), bucket, sums in self.sums.of(used, _KEY, _OF_TEAM):
            found[queue, flavor, resource][bucket].add(**sums)
        names = {*cluster_queues, *(queue for queue, _, _ in found)}
        queues = QueueHour.objects.filter(self.sums.window, cluster_queue__in=names)
        of_the_hour = {name: OuterRef(name) for name in ("cluster", "cluster_queue", "hour")}
        then_used = Exists(TeamHour.objects.filter(team=self.team, **of_the_hour))
        queues = queues.filter(Q(cluster_queue__in=cluster_queues) | then_used)
        for (queue, flavor, resource), bucket, sums in self.sums.of(queues, _KEY, _OF_QUEUE):
            found[queue, flavor, resource][bucket].add(**sums)
        pending = PendingHour.objects.filter(self.sums.window, team=self.team)
        for (queue, resource), bucket, sums in self.sums.of(pending, ("cluster_queue", "resource"), ("waiting",)):
            for key in found:
                if key[1] and (key[0], key[2]) == (queue, resource):
                    found[key][bucket].add(**sums)
        return found


def _micros(start: datetime, end: datetime) -> int:
    return max(0, micros(end) - micros(start))
