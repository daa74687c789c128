"""Who runs on borrowed GPUs and nobody knows to save its work: if the lender takes them back, the whole run is lost."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from jobs.ledger.holds import splits
from jobs.lists.reach import Owner, Reach
from jobs.models import QueueNow, SpanUsage, Workload
from jobs.rules.lost_work import (
    CheckpointIgnored,
    Checkpoints,
    Held,
    Work,
    loss,
    read_checkpoint,
    read_interval,
)
from scheduling import names
from teams.models import Cluster, Team
from teams.queues import current_queues


@dataclass(frozen=True, slots=True)
class Borrower:
    """`gpus` are all that it holds, `borrowed` those of them that are of others. `at_stake`: GPU-seconds that an
    eviction now would cost; 0 before it is admitted."""

    workload: Workload
    owner: Owner | None
    gpus: int
    borrowed: int
    at_stake: int


class _Run(NamedTuple):
    admitted_at: datetime | None
    held: list[Held]


def borrowers_without_checkpoints(reach: Reach, now: datetime) -> list[Borrower]:
    """Those with the most at stake first. Endpoints and Spaces save no work, and are not among them."""
    shares: dict[tuple[int, str], int] = {}
    for cluster, cluster_queues in _borrowing(reach).items():
        shares |= _borrowed(cluster, cluster_queues)
    defaults = set(Team.objects.filter(checkpoint_seconds__isnull=False).values_list("slug", flat=True))
    uids = {uid for _, uid in shares}
    live = Workload.objects.live().filter(cluster__in={cluster for cluster, _ in shares}, uid__in=uids)
    found = []
    for workload in live.select_related("cluster").defer("labels", "pod_sets"):
        owner = reach.owners.get((workload.cluster_id, workload.namespace))
        if not _saves(workload, owner is not None and owner.slug in defaults, now):
            found.append((workload, owner, shares.get((workload.cluster_id, workload.uid), 0)))
    runs = _runs([workload.pk for workload, _, _ in found])
    borrowers = [_borrower(*each, runs[each[0].pk], now) for each in found if each[2] and each[0].pk in runs]
    return sorted(borrowers, key=lambda each: (-each.at_stake, each.workload.created_at, each.workload.uid))


def _borrowing(reach: Reach) -> dict[Cluster, set[str]]:
    """The ClusterQueues that borrow accelerators now."""
    clusters = {cluster.pk: cluster for cluster in reach.clusters}
    found: dict[Cluster, set[str]] = defaultdict(set)
    rows = QueueNow.objects.filter(cluster__in=clusters, borrowed__gt=0)
    for cluster, cluster_queue, resource in rows.values_list("cluster", "cluster_queue", "resource"):
        if names.is_accelerator(resource):
            found[clusters[cluster]].add(cluster_queue)
    return found


def _borrowed(cluster: Cluster, cluster_queues: Collection[str]) -> dict[tuple[int, str], int]:
    """How many accelerators are borrowed, by cluster key and uid."""
    found = {}
    for uid, shares in splits(cluster, current_queues(cluster), cluster_queues).items():
        borrowed = sum(split.borrowed for (_, resource), split in shares.items() if names.is_accelerator(resource))
        if borrowed:
            found[cluster.pk, uid] = borrowed
    return found


def _saves(workload: Workload, has_default: bool, now: datetime) -> bool:
    """Whether it is known to save its work, or has none to save."""
    if has_default or workload.status.get("work", Work.TRAINING) != Work.TRAINING:
        return True
    try:
        read_interval(workload.status.get("checkpoint_interval", ""))
    except CheckpointIgnored:
        return _told_a_checkpoint(workload, now)
    return True


def _told_a_checkpoint(workload: Workload, now: datetime) -> bool:
    try:
        read_checkpoint(workload.status.get("last_checkpoint", ""), now)
    except CheckpointIgnored:
        return False
    return True


def _runs(workloads: Collection[int]) -> Mapping[int, _Run]:
    """What each holds and since when, by the workload's key."""
    found: dict[int, _Run] = {}
    open_ones = SpanUsage.objects.filter(span__workload__in=workloads, span__released_before__isnull=True)
    values = open_ones.values_list(
        "span__workload", "span__admitted_at", "resource", "amount", "valid_from", "valid_to"
    )
    for key, admitted_at, resource, amount, start, end in values:
        if names.is_accelerator(resource):
            found.setdefault(key, _Run(admitted_at, [])).held.append(Held(amount, start, end))
    return found


def _borrower(workload: Workload, owner: Owner | None, borrowed: int, run: _Run, now: datetime) -> Borrower:
    gpus = sum(each.gpus for each in run.held if each.end is None)
    at_stake = loss(Work.TRAINING, run.held, run.admitted_at, now, Checkpoints()).high
    return Borrower(workload, owner, gpus, borrowed, at_stake)
