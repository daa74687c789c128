"""For whom a workload was preempted, as far as it can be known at that time: its object goes, what it was called stays.

A preemptor that no list and no watch told of is known by its ClusterQueue at least, and so mostly by its team.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.db.models import Q

from jobs.models import Eviction, Workload
from scheduling import names
from scheduling.messages import Obstacle, parse_pending
from scheduling.preemption_messages import PreemptionNotice
from teams.models import Cluster, NamespaceBinding
from teams.queues import CurrentQueues, current_queues

_NEEDED = ("uid", "job_uid", "namespace", "queue_name", "priority", "priority_class", "conditions")
_FIELDS = (
    "preemptor",
    "preemptor_team",
    "preemptor_queue",
    "preemptor_priority",
    "preemptor_priority_class",
    "lacking",
)


@dataclass(frozen=True, slots=True)
class Preemptor:
    """`team` is a key, None where it cannot be told."""

    workload: Workload | None
    team: int | None
    cluster_queue: str


class Preemptors:
    """Of one cluster. Use inside `exclusive(cluster)`."""

    def __init__(self, cluster: Cluster, notices: Iterable[PreemptionNotice]) -> None:
        told = [notice for notice in notices if notice.uid or notice.job_uid]
        uids = {notice.uid for notice in told if notice.uid}
        job_uids = {notice.job_uid for notice in told if notice.job_uid and not notice.uid}
        found = Workload.objects.filter(cluster=cluster).filter(Q(uid__in=uids) | Q(job_uid__in=job_uids))
        self.cluster = cluster
        self.workloads = {
            key: workload
            for workload in (found.only(*_NEEDED).order_by("created_at", "pk") if told else ())
            for key in (workload.uid, workload.job_uid)
        }

    def of(self, notice: PreemptionNotice, at: datetime) -> Preemptor:
        """The preemptor that a message names, and its team then."""
        workload = self.workloads.get(notice.uid or notice.job_uid or "")
        path = notice.preemptor_path
        queue = path[-1] if path else self._queue_of(workload)
        namespaces = {workload.namespace} if workload else self._namespaces_of(queue)
        teams = {team for namespace in namespaces if (team := self._team(namespace, at)) is not None}
        return Preemptor(workload, teams.pop() if len(teams) == 1 else None, queue)

    def _queue_of(self, workload: Workload | None) -> str:
        if workload is None:
            return ""
        return self._queues.cluster_queue_of.get(f"{workload.namespace}/{workload.queue_name}", "")

    def _namespaces_of(self, cluster_queue: str) -> set[str]:
        return {key.split("/")[0] for key in self._queues.local_queues_of(cluster_queue)} if cluster_queue else set()

    @cached_property
    def _queues(self) -> CurrentQueues:
        self.cluster.refresh_from_db(fields=["specs_version"])  # another process may have written
        return current_queues(self.cluster)

    def _team(self, namespace: str, at: datetime) -> int | None:
        """The namespace's owner then, or its first one: bindings begin when somebody wrote them down."""
        owned = self._bindings.get(namespace, [])
        held = [each for each in owned if each.valid_from <= at and (each.valid_to is None or each.valid_to > at)]
        later = [each for each in owned if each.valid_from > at]
        return next((each.team_id for each in (*held, *later)), None)

    @cached_property
    def _bindings(self) -> dict[str, list[NamespaceBinding]]:
        found: dict[str, list[NamespaceBinding]] = defaultdict(list)
        for binding in NamespaceBinding.objects.filter(cluster=self.cluster).order_by("valid_from"):
            found[binding.namespace].append(binding)
        return found


def name_late(cluster: Cluster, uids: Collection[str]) -> None:
    """These workloads are seen for the first time: name them where they had preempted others before."""
    unnamed = Eviction.objects.filter(cluster=cluster, preemptor__isnull=True, preemptor_uid__in=uids)
    evictions = list(unnamed)
    if not evictions:
        return
    preemptors = Preemptors(cluster, map(_notice_of, evictions))
    for eviction in evictions:
        fill(eviction, preemptors.of(_notice_of(eviction), eviction.decided_before))
        eviction.save(update_fields=_FIELDS)


def _notice_of(eviction: Eviction) -> PreemptionNotice:
    path = tuple(eviction.preemptor_path) or None
    return PreemptionNotice(eviction.preemptor_uid, None, None, None, path, None, is_past=False)


def fill(eviction: Eviction, found: Preemptor) -> None:
    eviction.preemptor = found.workload
    eviction.preemptor_team_id = found.team
    eviction.preemptor_queue = found.cluster_queue
    if found.workload is not None:
        eviction.preemptor_priority = found.workload.priority
        eviction.preemptor_priority_class = found.workload.priority_class
        eviction.lacking = lacking(found.workload.condition(names.QUOTA_RESERVED).get("message") or "")


def lacking(message: str) -> int | None:
    """How many accelerators a workload is short of whose victims are being stopped; None where its message does not
    say: Kueue writes it after the victims' own."""
    told = parse_pending(message)
    short = {
        (each.pod_set, each.flavor): each.missing
        for each in told.mentions
        if each.obstacle is Obstacle.INSUFFICIENT_UNUSED_QUOTA and names.is_accelerator(each.resource) and each.missing
    }
    return sum(short.values()) if told.preempting and short else None


def learn_lacking(cluster: Cluster, preempting: Mapping[str, str]) -> None:
    """`preempting`: messages, by uid, of workloads that wait for their victims."""
    for uid, message in preempting.items():
        short = lacking(message)
        if short is not None:
            unknown = Eviction.objects.filter(cluster=cluster, preemptor_uid=uid, lacking__isnull=True)
            unknown.update(lacking=short)
