"""What one team has, uses, waits for and runs at this moment: the reads behind the team page."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from jobs.holds import gpu_shares
from jobs.models import QueueNow, TeamNow, Workload
from jobs.models.workloads import WorkloadQuerySet
from scheduling import names
from scheduling.accounting import Split
from teams.models import Cluster, Team, namespaces_of
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
    clusters = Cluster.objects.active().filter(namespace_bindings__team=team, namespace_bindings__valid_to__isnull=True)
    return [_cluster_now(team, cluster) for cluster in clusters.distinct()]


def _cluster_now(team: Team, cluster: Cluster) -> ClusterNow:
    namespaces = namespaces_of([team], cluster)
    queues = current_queues(cluster)
    uses = {
        (now.cluster_queue, now.flavor, now.resource): now.own + now.borrowed
        for now in TeamNow.objects.filter(team=team, cluster=cluster)
    }
    # A LocalQueue may have gone or point elsewhere since: what is held counts in the queue that gave it.
    mine = sorted({*queues.cluster_queues_of(namespaces), *(queue for queue, *_ in uses)})
    rows = QueueNow.objects.filter(cluster=cluster, cluster_queue__in=mine).order_by(
        "cluster_queue", "-nominal", "flavor", "resource"
    )
    lines = tuple(
        TeamLine(
            now=row,
            is_shared=_is_shared(queues, row.cluster_queue, namespaces),
            team_uses=uses.get((row.cluster_queue, row.flavor, row.resource), 0),
        )
        for row in rows
    )
    return ClusterNow(cluster, tuple(sorted(namespaces)), tuple(mine), lines)


def _is_shared(queues: CurrentQueues, cluster_queue: str, namespaces: set[str]) -> bool:
    return any(key.split("/")[0] not in namespaces for key in queues.local_queues_of(cluster_queue))


def _workloads(here: ClusterNow) -> WorkloadQuerySet:
    found = Workload.objects.filter(cluster=here.cluster, namespace__in=here.namespaces)
    return found.select_related("cluster")  # for their addresses


@dataclass(frozen=True, slots=True)
class Waiting:
    """`position` counts from 1 among `of` in the ClusterQueue; None where no order is known."""

    workload: Workload
    cluster_queue: str
    position: int | None
    of: int


def waiting_of(here: ClusterNow, most: int) -> tuple[list[Waiting], int]:
    """The first of the team's waiting workloads in one cluster, in queue order, and how many wait in all."""
    waiting = _workloads(here).waiting()
    first = waiting.order_by("-is_queued", "-is_preempting", "-priority", "queued_at", "uid")[:most]
    found = with_positions(here.cluster, first)
    found.sort(key=lambda w: (w.position is None, w.cluster_queue, w.position or 0, w.workload.created_at))
    return found, waiting.count()


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
class Running:
    """A workload that holds quota, with its accelerators by flavor, own and borrowed."""

    workload: Workload
    since: datetime | None
    gpus: dict[str, Split]

    @property
    def own(self) -> int:
        return sum(split.own for split in self.gpus.values())

    @property
    def borrowed(self) -> int:
        return sum(split.borrowed for split in self.gpus.values())


def running_of(here: ClusterNow, most: int) -> tuple[list[Running], int]:
    """The oldest of the team's workloads that hold quota in one cluster, longest first, and how many there are."""
    holding = _workloads(here).holding()
    found = with_shares(here.cluster, holding.order_by("created_at", "uid")[:most])
    found.sort(key=lambda r: (r.since is None, r.since or r.workload.created_at))
    return found, holding.count()


def with_shares(cluster: Cluster, workloads: Iterable[Workload]) -> list[Running]:
    """Since when these workloads of one cluster hold quota, and how their accelerators split into own and borrowed."""
    held = list(workloads)
    shares = gpu_shares(cluster, held)
    return [Running(workload, workload.since, shares.get(workload.uid, {})) for workload in held]
