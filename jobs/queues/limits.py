"""Where a queue's own borrowing limit, not what others use, keeps jobs waiting."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from jobs.models import QueueNow, Workload
from scheduling import names
from scheduling.messages import Obstacle, parse_pending
from teams.queues import current_queues

Limits: TypeAlias = Mapping[tuple[str, str], QueueNow]
"""Of one queue, by flavor and resource: where its limit is in the way."""

NO_LIMITS: Final[Limits] = MappingProxyType({})


def limits_in(rows: Iterable[QueueNow]) -> Mapping[tuple[int, str], Limits]:
    """By the keys of clusters and the names of queues."""
    found: dict[tuple[int, str], dict[tuple[str, str], QueueNow]] = defaultdict(dict)
    for row in rows:
        if row.listed and row.left_by_limit is not None:
            found[row.cluster_id, row.cluster_queue][row.flavor, row.resource] = row
    return found


def limits_of(workloads: Iterable[Workload]) -> dict[int, Limits]:
    """Of those that wait for quota to come free, by their keys; read them with their clusters. At most one query."""
    queues = {each.pk: (each.cluster_id, _queue_of(each)) for each in workloads if _is_short(each)}
    if not queues:
        return {}
    rows = QueueNow.objects.filter(
        borrowing_limit__isnull=False, cluster_queue__in={name for _, name in queues.values()}
    )
    limits = limits_in(rows.filter(cluster__in=[cluster for cluster, _ in queues.values()]))
    return {pk: limits[key] for pk, key in queues.items() if key in limits}


def _is_short(workload: Workload) -> bool:
    message = workload.condition(names.QUOTA_RESERVED).get("message") or ""
    return any(each.obstacle is Obstacle.INSUFFICIENT_UNUSED_QUOTA for each in parse_pending(message).mentions)


def _queue_of(workload: Workload) -> str:
    queues = current_queues(workload.cluster)
    return queues.cluster_queue_of.get(f"{workload.namespace}/{workload.queue_name}", "")
