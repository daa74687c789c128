"""The nodes of a cluster that somebody may look for: those with pods now, and those that failed under jobs lately."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count

from jobs.models import Interruption, PodRun
from jobs.rules.interruptions import Cause
from teams.models import Cluster

_WEEK: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class BusyNode:
    """What runs on it now, and how many jobs it interrupted by failing within the last seven days."""

    name: str
    jobs: int
    pods: int
    interrupted: int


def busy_nodes(cluster: Cluster, now: datetime) -> list[BusyNode]:
    """Those that interrupted most jobs first. It is for people who may see every team's jobs."""
    there = PodRun.objects.filter(cluster=cluster, ended_before__isnull=True).values_list("node")
    counts = there.annotate(Count("workload", distinct=True), Count("pk"))
    running = {node: (jobs, pods) for node, jobs, pods in counts}
    failed = _interrupted(cluster, now)
    found = []
    for node in {*running, *failed}:
        jobs, pods = running.get(node, (0, 0))
        found.append(BusyNode(node, jobs, pods, len(failed.get(node, ()))))
    return sorted(found, key=lambda node: (-node.interrupted, node.name))


def _interrupted(cluster: Cluster, now: datetime) -> dict[str, set[int]]:
    """By node, the keys of the jobs that lost pods to its failing."""
    found: dict[str, set[int]] = defaultdict(set)
    lately = Interruption.objects.filter(cluster=cluster, cause=Cause.NODE, before__gte=now - _WEEK)
    for nodes, workload in lately.values_list("nodes", "workload"):
        for node in nodes:
            found[node].add(workload)
    return found
