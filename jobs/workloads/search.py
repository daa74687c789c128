"""Finding what a person may see by its name: teams, workloads, queues, nodes. What they may not see is never looked
at, so that neither what is found, nor how much, nor how long it takes tells of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from accounts.models import User
from jobs.lists.reach import Reach, reach_of_person
from jobs.models import Workload
from jobs.workloads.filter import WorkloadFilter
from jobs.workloads.list import narrowed
from jobs.workloads.node_history import nodes_called
from jobs.workloads.rows import WorkloadRow, rows_of
from scheduling import names
from scheduling.objects import ClusterQueue
from teams.models import Cluster, Team
from teams.permissions import Permission
from teams.queues import CurrentQueues, current_queues

MOST = 20
"""So many of each kind are shown."""


@dataclass(frozen=True, slots=True)
class QueueFound:
    """A LocalQueue of a `namespace`, or a ClusterQueue with one of its accelerators (flavor, resource), if it has any.
    `team` is the slug of one that uses it, empty where none does."""

    name: str
    cluster: Cluster
    team: str
    namespace: str = ""
    accelerator: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """At most one more than MOST of each, to tell that there are more."""

    teams: list[Team]
    workloads: list[WorkloadRow]
    queues: list[QueueFound]
    nodes: list[tuple[Cluster, str]]
    sees_all: bool


def search(user: User, text: str, now: datetime) -> Found:
    """Teams and queues whose names hold the text, in any case, nodes whose names begin with it, and workloads as lists
    find them."""
    reach = reach_of_person(user)
    wanted, folded = WorkloadFilter(q=text, of_all=reach.is_everything), text.casefold()
    keys = narrowed(reach, wanted, now).values("pk")[: MOST + 1]
    workloads = Workload.objects.filter(pk__in=keys).defer("labels").select_related("cluster")
    teams = Team.objects.active().visible_to(user, Permission.SEE_TEAM)
    return Found(
        [team for team in teams if folded in team.name.casefold() or folded in team.slug][: MOST + 1],
        sorted(rows_of(workloads, reach), key=attrgetter("workload.title")),
        sorted(_queues(reach, folded), key=attrgetter("name", "namespace"))[: MOST + 1],
        nodes_called(reach, text, MOST + 1),
        reach.is_everything,
    )


def _queues(reach: Reach, text: str) -> Iterator[QueueFound]:
    namespaces = reach.namespaces()
    for cluster in reach.clusters:
        queues = current_queues(cluster)
        owned = set(namespaces.get(cluster.pk, ()))
        seen = queues.cluster_queues if reach.is_everything else queues.cluster_queues_of(owned)
        for name in seen:
            if text in name and name in queues.cluster_queues:
                team = _team_using(reach, cluster, queues, name)
                yield QueueFound(name, cluster, team, accelerator=_accelerator(queues.cluster_queues[name]))
        for key in queues.cluster_queue_of:
            namespace, _, name = key.partition("/")
            if text in name and (reach.is_everything or namespace in owned):
                owner = reach.owners.get((cluster.pk, namespace))
                yield QueueFound(name, cluster, owner.slug if owner else "", namespace)


def _team_using(reach: Reach, cluster: Cluster, queues: CurrentQueues, cluster_queue: str) -> str:
    """One of the teams in reach whose namespaces feed the queue."""
    places = ((cluster.pk, key.partition("/")[0]) for key in queues.local_queues_of(cluster_queue))
    return next((reach.owners[place].slug for place in places if place in reach.owners), "")


def _accelerator(queue: ClusterQueue) -> tuple[str, str] | None:
    for group in queue.groups:
        for flavor in group.flavors:
            for resource in filter(names.is_accelerator, flavor.resources):
                return flavor.name, resource
    return None
