"""What one team has, uses, waits for and runs at this moment: the reads behind the team page."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Case, Count, F, OuterRef, Q, QuerySet, Subquery, When, Window
from django.db.models.functions import Coalesce, RowNumber

from jobs.ledger.holds import OnGpus, gpu_shares
from jobs.models import QueueNow, TeamNow, Workload
from jobs.states import HOLDING, WAITING
from scheduling import names
from scheduling.accounting import Split
from teams.models import Cluster, NamespaceBinding, Team
from teams.queues import CurrentQueues, current_queues


@dataclass(frozen=True, slots=True)
class TeamLine:
    """One (ClusterQueue, flavor, resource) that the team's jobs may use: the queue's figures, and the team's part of
    them where other teams' namespaces feed the same queue (`is_shared`)."""

    now: QueueNow
    is_shared: bool
    team_uses: int


@dataclass(frozen=True, slots=True)
class ClusterNow:
    """The team in one cluster."""

    cluster: Cluster
    namespaces: tuple[str, ...]
    cluster_queues: tuple[str, ...]
    lines: tuple[TeamLine, ...]

    @property
    def gpu_lines(self) -> list[TeamLine]:
        """Of each queue the largest quota first."""
        return [line for line in self.lines if names.is_accelerator(line.now.resource)]

    @property
    def other_lines(self) -> list[TeamLine]:
        """Type by type: cores and bytes have no order among each other."""
        others = [line for line in self.lines if not names.is_accelerator(line.now.resource)]
        return sorted(others, key=lambda line: (line.now.cluster_queue, line.now.flavor, line.now.resource))


def clusters_of(team: Team) -> list[ClusterNow]:
    """Where the team has namespaces, with the quota there."""
    bound = NamespaceBinding.objects.current().filter(team=team, cluster__archived_at__isnull=True)
    namespaces: dict[Cluster, set[str]] = defaultdict(set)
    for binding in bound.select_related("cluster").order_by("cluster__slug"):
        namespaces[binding.cluster].add(binding.namespace)
    return [_cluster_now(team, cluster, owned) for cluster, owned in namespaces.items()]


def _cluster_now(team: Team, cluster: Cluster, namespaces: set[str]) -> ClusterNow:
    queues = current_queues(cluster)
    mine = queues.cluster_queues_of(namespaces)
    rows = list(_queue_rows(team, cluster, mine))
    lines = tuple(TeamLine(row, is_shared(queues, row.cluster_queue, namespaces), row.team_uses) for row in rows)
    cluster_queues = {*mine, *(row.cluster_queue for row in rows)}
    return ClusterNow(cluster, tuple(sorted(namespaces)), tuple(sorted(cluster_queues)), lines)


def _queue_rows(team: Team, cluster: Cluster, cluster_queues: list[str]) -> "QuerySet[QueueNow, Any]":
    """Of these queues, and of those that gave what the team holds: a LocalQueue may have gone or point elsewhere
    since. Each row has its `team_uses`."""
    held = TeamNow.objects.filter(team=team, cluster=cluster)
    same = {name: OuterRef(name) for name in ("cluster_queue", "flavor", "resource")}
    uses = held.filter(**same).values_list(F("own") + F("borrowed"))
    rows = QueueNow.objects.filter(cluster=cluster)
    rows = rows.filter(Q(cluster_queue__in=cluster_queues) | Q(cluster_queue__in=held.values("cluster_queue")))
    return rows.annotate(team_uses=Coalesce(Subquery(uses), 0)).order_by(
        "cluster_queue", "-nominal", "flavor", "resource"
    )


def is_shared(queues: CurrentQueues, cluster_queue: str, namespaces: set[str]) -> bool:
    """Whether other namespaces than these feed the queue, too."""
    return any(key.split("/")[0] not in namespaces for key in queues.local_queues_of(cluster_queue))


@dataclass(frozen=True, slots=True)
class TeamJobs:
    """The team's jobs in one cluster: the first that wait, in queue order, the first of those that hold quota, longest
    first, and how many there are in all."""

    waiting: "list[Waiting]"
    waiting_total: int
    running: "list[Running]"
    running_total: int


def jobs_of(here: ClusterNow, most: int) -> TeamJobs:
    """At most so many of each."""
    rows = list(_first_jobs(here, most))
    waiting, holding = ([row for row in rows if row.waits is waits] for waits in (True, False))
    positions = with_positions(here.cluster, waiting)
    positions.sort(key=lambda w: (w.position is None, w.cluster_queue, w.position or 0, w.workload.created_at))
    shares = with_shares(here.cluster, holding)
    shares.sort(key=lambda r: (r.since is None, r.since or r.workload.created_at))
    totals = {row.waits: row.total for row in rows}
    return TeamJobs(positions, totals.get(True, 0), shares, totals.get(False, 0))


def _first_jobs(here: ClusterNow, most: int) -> Any:
    """Rows that wait (`waits`) and rows that hold quota, at most so many of each, with the `total` of their kind."""
    waits = Case(When(state__in=WAITING, then=True), default=False)
    of_waiting = [Case(When(waits=True, then=F(name))) for name in ("priority", "queued_at")]
    order: Any = ["-is_queued", "-is_preempting", of_waiting[0].desc(), of_waiting[1].asc(), "created_at", "uid"]
    here_now = Workload.objects.live().filter(cluster=here.cluster, namespace__in=here.namespaces)
    of_both = here_now.filter(state__in=(*WAITING, *HOLDING)).annotate(waits=waits)
    numbered: Any = of_both.annotate(
        place=Window(RowNumber(), partition_by="waits", order_by=order),
        total=Window(Count("*"), partition_by="waits"),
    )
    return numbered.filter(place__lte=most).select_related("cluster").order_by("place")  # the cluster for their links


@dataclass(frozen=True, slots=True)
class Waiting:
    """`position` counts from 1 among `of` in the ClusterQueue; None where no order is known."""

    workload: Workload
    cluster_queue: str
    position: int | None
    of: int


def with_positions(cluster: Cluster, workloads: Iterable[Workload]) -> list[Waiting]:
    """Where these workloads of one cluster stand in their ClusterQueues' lines."""
    queues = current_queues(cluster)
    places: dict[str, dict[int, int]] = {}
    found = []
    for workload in workloads:
        queue = queues.cluster_queue_of.get(f"{workload.namespace}/{workload.queue_name}", "")
        if queue not in places:
            order = queue_order(cluster, queues, queue)
            places[queue] = {pk: index + 1 for index, pk in enumerate(order)}
        found.append(Waiting(workload, queue, places[queue].get(workload.pk), len(places[queue])))
    return found


def queue_order(cluster: Cluster, queues: CurrentQueues, cluster_queue: str) -> list[int]:
    """Keys of all waiting workloads of a ClusterQueue, whosoever they are, in Kueue's order; empty where Kueue orders
    by past usage, which no object tells."""
    queue = queues.cluster_queues.get(cluster_queue)
    if queue is None or queue.spec.get("admissionScope"):
        return []
    waiting = Workload.objects.live().filter(cluster=cluster, is_queued=True).in_queues(queues.feeding(cluster_queue))
    order = list(waiting.order_by("-priority", "queued_at", "uid").values_list("pk", "is_preempting"))
    if queue.strategy == names.BEST_EFFORT_FIFO:
        first = next((pk for pk, is_preempting in order if is_preempting), None)
        order.sort(key=lambda entry: entry[0] != first)
    return [pk for pk, _ in order]


@dataclass(frozen=True, slots=True)
class Running(OnGpus):
    """A workload that holds quota, with its accelerators by flavor, own and borrowed."""

    workload: Workload
    since: datetime | None
    gpus: Mapping[str, Split]


def with_shares(cluster: Cluster, workloads: Iterable[Workload]) -> list[Running]:
    """Since when these workloads of one cluster hold quota, and how their accelerators split into own and borrowed."""
    held = list(workloads)
    shares = gpu_shares(cluster, held)
    return [Running(workload, workload.since, shares.get(workload.uid, {})) for workload in held]
