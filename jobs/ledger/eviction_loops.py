"""The loops that stored evictions make, as rows: a list need not walk through thousands of them to tell of one."""

from collections import defaultdict
from collections.abc import Collection

from jobs.models import Eviction, EvictionLoop
from jobs.rules.loops import Decision, Loop, loops_of
from portal.write_path import batches
from teams.models import Cluster


def renew_loops(workload_ids: Collection[int]) -> int:
    """Bring the loops of these workloads up to their evictions, which were written or dated; returns of how many
    workloads they changed. Use inside `exclusive(cluster)`."""
    wanted, stored = _wanted(workload_ids), EvictionLoop.objects.filter(workload__in=workload_ids).by_workload()
    changed = [pk for pk in workload_ids if wanted.get(pk, []) != stored.get(pk, [])]
    EvictionLoop.objects.filter(workload__in=changed).delete()
    EvictionLoop.objects.bulk_create(
        EvictionLoop(workload_id=pk, **loop._asdict()) for pk in changed for loop in wanted.get(pk, [])
    )
    return len(changed)


def renew_all_loops(cluster: Cluster) -> int:
    """As `renew_loops`, of all workloads that were evicted."""
    evicted = Eviction.objects.filter(cluster=cluster).order_by("workload").values_list("workload", flat=True)
    return sum(map(renew_loops, batches(list(evicted.distinct()))))


def _wanted(ids: Collection[int]) -> dict[int, list[Loop]]:
    decisions: dict[int, list[Decision]] = defaultdict(list)
    rows = Eviction.objects.filter(workload__in=ids).order_by()
    for workload, *decision in rows.values_list("workload", "decided_after", "decided_before"):
        decisions[workload].append(Decision(*decision))
    return {pk: loops_of(found) for pk, found in decisions.items()}
