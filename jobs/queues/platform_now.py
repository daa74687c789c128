"""Every queue of a cluster side by side, per GPU type, with the nodes behind them: the reads of the overview."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jobs.models import QueueNow
from jobs.queues.outside_quotas import promised
from jobs.rules.quota_bar import natural_scale
from scheduling import names
from teams.models import Cluster, NamespaceBinding, NodeCapacity, Team
from teams.queues import CurrentQueues, current_queues


@dataclass(frozen=True, slots=True)
class QueueLine:
    """One ClusterQueue's line; `teams` are those whose namespaces feed it."""

    now: QueueNow
    teams: tuple[Team, ...]
    is_idle_pool: bool


@dataclass(frozen=True, slots=True)
class GpuType:
    """One flavor's accelerators in one tree of cohorts. Sums are over this flavor alone. `capacity` is None where no
    node of the type is known; `promised_of_type` counts whatever is guaranteed of its nodes, by any queue or cohort."""

    flavor: str
    resource: str
    lines: tuple[QueueLine, ...]
    capacity: NodeCapacity | None
    promised_of_type: int

    @property
    def in_use(self) -> int:
        return sum(line.now.reservation for line in self.lines)

    @property
    def promised(self) -> int:
        return sum(line.now.nominal for line in self.lines)

    @property
    def scale(self) -> int:
        return max(natural_scale(line.now.bar_amounts) for line in self.lines)

    @property
    def missing(self) -> int:
        """GPUs that quotas promise and healthy nodes do not have; 0 where there are enough or nothing is known."""
        if self.capacity is None:
            return 0
        return max(0, self.promised_of_type - self.capacity.healthy_accelerators)

    @property
    def outside(self) -> int:
        """GPUs on healthy nodes that no quota covers."""
        if self.capacity is None:
            return 0
        return max(0, self.capacity.healthy_accelerators - self.promised_of_type)


@dataclass(frozen=True, slots=True)
class Tree:
    """The queues under one root cohort; `root` is empty for queues outside any."""

    root: str
    gpu_types: tuple[GpuType, ...]


def trees_of(cluster: Cluster) -> list[Tree]:
    """All queues that have accelerators, by tree and type; the biggest type first."""
    most_are_left_out = QueueNow.objects.filter(cluster=cluster).exclude(resource__in=(names.CPU, names.MEMORY))
    rows = [row for row in most_are_left_out if names.is_accelerator(row.resource)]
    queues = current_queues(cluster)
    teams, of_type = teams_feeding(cluster, queues), promised(queues)
    grouped: dict[str, dict[tuple[str, str], list[QueueNow]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        grouped[row.root][row.flavor, row.resource].append(row)
    return [
        Tree(root, tuple(_by_size(_gpu_type(key, found, teams, queues, of_type) for key, found in types.items())))
        for root, types in sorted(grouped.items())
    ]


def _by_size(types: Iterable[GpuType]) -> list[GpuType]:
    return sorted(types, key=lambda each: (-each.promised, each.flavor))


def _gpu_type(
    key: tuple[str, str],
    rows: list[QueueNow],
    teams: Mapping[str, tuple[Team, ...]],
    queues: CurrentQueues,
    promised_of: Mapping[str, int],
) -> GpuType:
    instance_type = queues.instance_type_of.get(key[0], key[0])
    lines = tuple(
        QueueLine(row, teams.get(row.cluster_queue, ()), names.is_idle_queue(row.cluster_queue))
        for row in sorted(rows, key=lambda row: (names.is_idle_queue(row.cluster_queue), row.cluster_queue))
    )
    return GpuType(*key, lines, queues.nodes.get(instance_type), promised_of.get(instance_type, 0))


def teams_feeding(cluster: Cluster, queues: CurrentQueues) -> dict[str, tuple[Team, ...]]:
    """The teams that feed each ClusterQueue."""
    bound = NamespaceBinding.objects.current().filter(cluster=cluster).select_related("team")
    owner = {binding.namespace: binding.team for binding in bound}
    feeding: dict[str, dict[int, Team]] = defaultdict(dict)
    for key, cluster_queue in queues.cluster_queue_of.items():
        team = owner.get(key.split("/")[0])
        if team:
            feeding[cluster_queue][team.pk] = team
    return {name: tuple(found.values()) for name, found in feeding.items()}
