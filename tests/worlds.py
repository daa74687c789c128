"""A cluster of the ledger that tests tell what to have seen, and what its rows say afterwards."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from jobs.ledger import now as caches
from jobs.ledger.writing import Vanished, write_workloads
from jobs.models import Eviction, QueueNow, Span, SpanUsage, TeamNow, Workload
from jobs.sync.listings import Kind, write_queue_changes
from jobs.sync.sources import SOURCES
from portal.models import SourceState
from portal.write_path import exclusive
from scheduling import objects
from teams.models import Cluster, NamespaceBinding, Team
from teams.sync import KIND_OF, QueueRecord
from tests.stories import GPU, P5, START, Job, cluster_queue, cohort, local_queue, next_version


@dataclass
class World:
    """`now` is the portal's clock: tests set it, nothing else moves it."""

    cluster: Cluster
    now: datetime = START
    problems: list[str] = field(default_factory=list)

    def queues(self, *records: QueueRecord) -> int:
        """These queue objects were listed or changed; returns how many specs did."""
        by_kind: dict[Kind, list[QueueRecord]] = {}
        for record in records:
            by_kind.setdefault(KIND_OF[type(record)], []).append(record)
        return sum(write_queue_changes(self.cluster, kind, found, {}, self.now) for kind, found in by_kind.items())

    def queues_gone(self, *names: str, kind: Kind = Kind.CLUSTER_QUEUE) -> int:
        """A list begun after the last look did not hold these."""
        return write_queue_changes(self.cluster, kind, (), dict.fromkeys(names, next_version()), self.now)

    def bind(self, team: Team, *namespaces: str) -> None:
        for namespace in namespaces:
            NamespaceBinding.objects.create(cluster=self.cluster, namespace=namespace, team=team, valid_from=self.now)

    def see(
        self,
        *jobs: Job | objects.Workload,
        now: datetime | None = None,
        last_seen: datetime | None = None,
        as_of: int | None = None,
    ) -> int:
        """One look at each job; `last_seen` as the listing or the watch would give it. Returns how many changed."""
        self.now = now or self.now
        records = [job.record if isinstance(job, Job) else job for job in jobs]
        written, self.problems = write_workloads(
            self.cluster, records, as_of=as_of, now=self.now, last_seen=last_seen or self.now
        )
        return written

    def lose(self, *jobs: Job, now: datetime, after: datetime, version: int | None = None) -> int:
        """A whole list of `version` did not hold these jobs."""
        self.now = now
        version = next_version() if version is None else version
        gone = [Vanished(job.uid, version, after, now, watched=False) for job in jobs]
        return write_workloads(self.cluster, (), gone, now=now, last_seen=after)[0]

    def see_deleted(self, job: Job, now: datetime) -> int:
        """The watch told that the job was deleted, with its last state."""
        self.now = now
        record = job.touch().record
        gone = [Vanished(record.uid, record.resource_version, now, now, watched=True)]
        return write_workloads(self.cluster, [record], gone, now=now, last_seen=now)[0]

    def row(self, job: Job) -> Workload:
        return Workload.objects.get(cluster=self.cluster, uid=job.uid)

    def spans(self, job: Job) -> list[Span]:
        return list(Span.objects.filter(workload__uid=job.uid).order_by("reserved_at"))

    def usages(self, job: Job, resource: str = GPU) -> list[tuple[int, datetime, datetime | None]]:
        """(amount, from, to) of one resource over all spans."""
        rows = SpanUsage.objects.filter(span__workload__uid=job.uid, resource=resource)
        return list(rows.order_by("valid_from").values_list("amount", "valid_from", "valid_to"))

    def queue_now(self, name: str = "research-queue", flavor: str = P5, resource: str = GPU) -> QueueNow:
        return QueueNow.objects.get(cluster=self.cluster, cluster_queue=name, flavor=flavor, resource=resource)

    def team_now(self, team: Team, queue: str, resource: str = GPU) -> tuple[int, int]:
        """(own, borrowed)."""
        row = TeamNow.objects.filter(cluster=self.cluster, team=team, cluster_queue=queue, resource=resource).first()
        return (row.own, row.borrowed) if row else (0, 0)

    def cache_faults(self) -> int:
        """How many cached rows differ from what the ledger makes of them; mends them."""
        with exclusive(self.cluster.slug):
            return caches.refresh(self.cluster)

    def is_read(self, at: datetime | None = None) -> None:
        """Every source was just read."""
        for source in SOURCES:
            SourceState.objects.update_or_create(
                cluster=self.cluster.slug, source=source, defaults={"last_good_at": at or self.now}
            )


def two_queues(world: World, research: Team, vision: Team) -> World:
    """Research with 12 GPUs and vision with 8, sharing one cohort, a namespace and a LocalQueue each."""
    world.queues(
        cohort(),
        cluster_queue("research-queue", 12),
        cluster_queue("vision-queue", 8),
        local_queue("hyperpod-ns-research", "research-queue"),
        local_queue("hyperpod-ns-vision", "vision-queue"),
    )
    world.bind(research, "hyperpod-ns-research")
    world.bind(vision, "hyperpod-ns-vision")
    return world


def ledger(cluster: Cluster) -> dict[str, list[tuple[Any, ...]]]:
    """Every row that the ledger keeps of a cluster, without database keys and without when it was first seen."""
    spans = Span.objects.filter(workload__cluster=cluster)
    tables: dict[str, Iterable[tuple[Any, ...]]] = {
        "workloads": Workload.objects.filter(cluster=cluster).values_list(
            "uid", "resource_version", "state", "priority", "finished_at", "gone_before", "gone_version"
        ),
        "spans": spans.values_list(
            "workload__uid", "cluster_queue", "reserved_at", "admitted_at", "evicted_at", "released_before", "end"
        ),
        "usages": SpanUsage.objects.filter(span__in=spans).values_list(
            "span__workload__uid", "span__reserved_at", "flavor", "resource", "amount", "valid_to"
        ),
        "evictions": Eviction.objects.filter(cluster=cluster).values_list(
            "workload__uid", "reason", "cause", "ordinal", "observed", "decided_before", "lost_high", "stopping"
        ),
        "queues": QueueNow.objects.filter(cluster=cluster).values_list(
            "cluster_queue", "flavor", "resource", "reservation", "usage", "borrowed", "lent_low", "lent_high"
        ),
        "teams": TeamNow.objects.filter(cluster=cluster).values_list("team__slug", "cluster_queue", "own", "borrowed"),
    }
    return {name: sorted(rows, key=repr) for name, rows in tables.items()}
