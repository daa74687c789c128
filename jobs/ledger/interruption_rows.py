"""Interruption rows, made anew of the pods and spans of workloads wherever one of these changed."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from django.db.models import Q

from jobs.models import Interruption, PodRun, Span, Workload
from jobs.rules.interruptions import Broken, End, Hold, Run, interruptions
from portal.write_path import batches
from teams.models import Cluster

_RUN = (
    "node", "bound_at", "stop_at", "ended_after", "ended_before", "end", "reason", "exit_code", "node_failed",
)  # fmt: skip
_BROKEN = ("span_id", "after", "before", "cause", "reason", "exit_code", "pods", "nodes", "replaced_at")


def renew(cluster: Cluster, workload_ids: Collection[int]) -> int:
    """Bring the interruptions of these workloads up to what is known of them; returns of how many they changed. Use
    inside `exclusive(cluster)`."""
    were_hit = PodRun.objects.filter(Q(stop_at__isnull=False) | Q(ended_before__isnull=False))
    hit = were_hit.filter(workload__in=workload_ids).exclude(end=End.SUCCEEDED)
    ids = set(hit.values_list("workload", flat=True).distinct()) if workload_ids else set()
    return _bring_up(cluster, ids) if ids else 0


def renew_all(cluster: Cluster) -> int:
    """As `renew`, of all workloads that are or should be interrupted."""
    runs = PodRun.objects.filter(cluster=cluster, ended_before__isnull=False).exclude(end=End.SUCCEEDED)
    stored = Interruption.objects.filter(cluster=cluster).values_list("workload", flat=True)
    ids = sorted({*runs.values_list("workload", flat=True).distinct(), *stored})
    return sum(_bring_up(cluster, some) for some in batches(ids))


def _bring_up(cluster: Cluster, ids: Collection[int]) -> int:
    wanted, stored = _wanted(ids), _stored(ids)
    changed = [pk for pk in ids if wanted.get(pk, []) != stored.get(pk, [])]
    Interruption.objects.filter(workload__in=changed).delete()
    namespaces = dict(Workload.objects.filter(pk__in=changed).values_list("pk", "namespace"))
    Interruption.objects.bulk_create(
        _row(cluster, pk, namespaces[pk], broken) for pk in changed for broken in wanted.get(pk, [])
    )
    return len(changed)


def _wanted(ids: Collection[int]) -> dict[int, list[Broken]]:
    runs: dict[int, list[Run]] = defaultdict(list)
    rows = PodRun.objects.filter(workload__in=ids).order_by("bound_at", "pk")
    for workload, *run in rows.values_list("workload", *_RUN):
        runs[workload].append(Run(*run))
    holds: dict[int, list[Hold]] = defaultdict(list)
    for span in Span.objects.filter(workload__in=ids).order_by("reserved_at"):
        ends = [time for time in (span.evicted_at, span.released_after) if time]
        holds[span.workload_id].append(Hold(span.pk, span.reserved_at, min(ends, default=None)))
    return {pk: interruptions(runs[pk], holds[pk]) for pk in ids}


def _stored(ids: Collection[int]) -> dict[int, list[Broken]]:
    found: dict[int, list[Broken]] = defaultdict(list)
    rows = Interruption.objects.filter(workload__in=ids).order_by("span__reserved_at", "after", "before", "pk")
    for workload, broken in _read(rows.values_list("workload", *_BROKEN)):
        found[workload].append(broken)
    return found


def _read(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, Broken]]:
    for workload, span, after, before, cause, reason, code, pods, nodes, replaced_at in rows:
        yield workload, Broken(span, after, before, cause, reason, code, pods, tuple(nodes), replaced_at)


def _row(cluster: Cluster, workload_id: int, namespace: str, broken: Broken) -> Interruption:
    return Interruption(
        cluster=cluster,
        namespace=namespace,
        workload_id=workload_id,
        span_id=broken.span,
        after=broken.after,
        before=broken.before,
        cause=broken.cause,
        reason=broken.reason,
        exit_code=broken.exit_code,
        pods=broken.pods,
        nodes=list(broken.nodes),
        replaced_at=broken.replaced_at,
    )
