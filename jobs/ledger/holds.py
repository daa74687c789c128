"""Who runs on own and who on borrowed quota: the accounting rule over the ledger's open spans."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from django.db.models import BigIntegerField, Value
from django.db.models.functions import Coalesce
from django.db.models.query import QuerySet

from jobs.ledger.observed import Key
from jobs.models import SpanUsage, Workload
from scheduling import names
from scheduling.accounting import Hold, Split, split_own_and_borrowed
from scheduling.forest import quotas
from teams.models import Cluster
from teams.queues import CurrentQueues, current_queues


def usages_of_open_spans(cluster: Cluster, cluster_queues: Collection[str] | None = None) -> "QuerySet[SpanUsage]":
    """Amounts of the open spans in these ClusterQueues or in all: those that hold, and former ones, with a `valid_to`.

    Let the caller leave the former ones out: a condition on `valid_to` singles out nothing, since a span's last usage
    stays open, yet PostgreSQL would begin with it while it has no statistics, and take minutes. Nor is the cluster of
    named queues told as a plain column: SQLite would begin with all workloads of the cluster.
    """
    usages = SpanUsage.objects.filter(span__released_before__isnull=True)
    if cluster_queues is None:
        return usages.filter(span__workload__cluster=cluster)
    where = Coalesce("span__workload__cluster", Value(None), output_field=BigIntegerField())
    return usages.alias(where=where).filter(span__cluster_queue__in=cluster_queues, where=cluster.pk)


def nominal_of(queues: CurrentQueues, cluster_queue: str, key: Key) -> tuple[int, bool]:
    """The guaranteed amount and whether the queue may borrow at all; (0, False) for a queue that is gone."""
    queue = queues.cluster_queues.get(cluster_queue)
    if queue is None:
        return 0, False
    listed = quotas(queue.groups)
    return (listed[key].nominal if key in listed else 0), queue.cohort is not None


def splits(
    cluster: Cluster, queues: CurrentQueues, cluster_queues: Collection[str], resources: Collection[str] | None = None
) -> dict[str, dict[Key, Split]]:
    """Own and borrowed by workload uid and (flavor, resource)."""
    usages = usages_of_open_spans(cluster, cluster_queues)
    if resources is not None:
        usages = usages.filter(resource__in=resources)
    holds: dict[tuple[str, Key], list[Hold]] = defaultdict(list)
    values = usages.values_list(
        "span__cluster_queue", "flavor", "resource", "span__workload__uid", "span__reserved_at", "amount", "valid_to"
    )
    for queue, flavor, resource, uid, reserved_at, amount, valid_to in values:
        if valid_to is None:
            holds[queue, (flavor, resource)].append(Hold(uid, reserved_at, amount))
    found: dict[str, dict[Key, Split]] = defaultdict(dict)
    for (queue, key), held in holds.items():
        for uid, split in split_own_and_borrowed(held, *nominal_of(queues, queue, key)).items():
            found[uid][key] = split
    return found


class OnGpus:
    """Something that runs on accelerators; `gpus` are their shares by flavor."""

    __slots__ = ()
    gpus: Mapping[str, Split]

    @property
    def own(self) -> int:
        return sum(split.own for split in self.gpus.values())

    @property
    def borrowed(self) -> int:
        return sum(split.borrowed for split in self.gpus.values())


def gpu_shares(cluster: Cluster, workloads: Iterable[Workload]) -> dict[str, dict[str, Split]]:
    """How the accelerators that these workloads of one cluster hold split into own and borrowed, by uid and flavor.
    Several kinds of one flavor (MIG slices) count together."""
    uids: set[str] = set()
    cluster_queues: set[str] = set()
    resources: set[str] = set()
    for workload in workloads:
        uids.add(workload.uid)
        cluster_queues.add(workload.status.get("cluster_queue", ""))
        resources.update(*(assigned["usage"] for assigned in workload.status.get("assignments", ())))
    accelerators = [resource for resource in resources if names.is_accelerator(resource)]
    if not accelerators:
        return {}
    found: dict[str, dict[str, Split]] = defaultdict(dict)
    for uid, shares in splits(cluster, current_queues(cluster), cluster_queues, accelerators).items():
        for (flavor, _), split in shares.items() if uid in uids else ():
            before = found[uid].get(flavor, Split(0, 0))
            found[uid][flavor] = Split(before.own + split.own, before.borrowed + split.borrowed)
    return found
