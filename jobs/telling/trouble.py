"""What platform admins are told of a cluster: it cannot be read, promises what is not there, jobs that are stuck or
loop, queues that are stopped."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings

from jobs.models.workloads import WorkloadQuerySet
from jobs.queues.attention import looping, stuck
from jobs.queues.platform_now import trees_of
from jobs.sync.sources import SOURCES
from notices.kinds import OF_PLATFORM, Kind
from notices.lasting import Trouble, bring_up_to
from portal.sync_runs import Freshness, freshness
from scheduling.names import STOP_NONE
from teams.models import Cluster, NamespaceBinding
from teams.queues import current_queues

STALLED_AFTER: Final = timedelta(minutes=5)
"""So long may a cluster go unread before somebody should look, or three intervals where those are longer."""


def look(cluster: Cluster, now: datetime) -> None:
    """Tell what is wrong with the cluster. While it cannot be read, all else stays as it was told."""
    if is_stalled(freshness(SOURCES, [cluster.slug])[cluster.slug], now):
        return bring_up_to(cluster, [Trouble(Kind.SYNC_STALLED, title=cluster.name)], now, [Kind.SYNC_STALLED])
    found = [*_nodes(cluster), *_queues(cluster), *_jobs(cluster, now)]
    bring_up_to(cluster, found, now, OF_PLATFORM)


def is_stalled(fresh: Freshness, now: datetime) -> bool:
    """Not for a cluster that was just set up and never asked."""
    last = fresh.as_of or fresh.failing_since
    return last is not None and now - last > max(STALLED_AFTER, timedelta(seconds=3 * settings.PULL_SECONDS))


def _nodes(cluster: Cluster) -> Iterator[Trouble]:
    for tree in trees_of(cluster):
        for gpu_type in tree.gpu_types:
            if gpu_type.missing:
                flavor = gpu_type.flavor
                yield Trouble(Kind.NODES_BELOW_QUOTAS, flavor, flavor, details={"missing": gpu_type.missing})


def _queues(cluster: Cluster) -> Iterator[Trouble]:
    queues = current_queues(cluster)
    stopped = [name for name, queue in queues.cluster_queues.items() if queue.stop_policy != STOP_NONE]
    for name in (*stopped, *queues.stopped_local_queues):
        yield Trouble(Kind.QUEUE_STOPPED, name[:253], name)


def _jobs(cluster: Cluster, now: datetime) -> Iterator[Trouble]:
    owners = NamespaceBinding.objects.team_ids(cluster)
    found: tuple[tuple[Kind, WorkloadQuerySet], ...] = (
        (Kind.STUCK, stuck(cluster, now)),
        (Kind.LOOPING, looping(cluster, now)),
    )
    for kind, workloads in found:
        for workload in workloads:
            team, submitter = owners.get(workload.namespace), workload.submitter
            details = {"namespace": workload.namespace}
            yield Trouble(kind, workload.uid, workload.title, team, submitter, details)
