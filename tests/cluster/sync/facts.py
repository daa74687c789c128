"""What Kueue's own objects say of a scene, and what a ledger holds of it, in the same words."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from jobs.models import QueueNow, Span, Workload
from teams.models import Cluster, QuotaLine, SpecVersion
from tests.cluster import jobs
from tests.cluster.objects import GPU
from tests.cluster.sync.scene import QUOTA, Scene

Json = dict[str, Any]
EVENT_DELAY = timedelta(seconds=2)
"""So much later than the condition an event may date an eviction."""
_KINDS = ("ClusterQueue", "LocalQueue", "Cohort")

Limits: TypeAlias = tuple[int, int | None, int | None]
Hold: TypeAlias = tuple[str, datetime, datetime | None, datetime | None, dict[str, int]]


@dataclass(frozen=True)
class Facts:
    """`specs`: uid and spec by kind and name. `quotas`: nominal, borrowing and lending limit by queue and flavor.
    `amounts`: what is reserved, used and borrowed by queue and flavor. `workloads`: uid and version by namespace/name.
    `holds`: queue, reserved_at, admitted_at, evicted_at and GPUs by flavor of each Workload that holds quota."""

    specs: dict[tuple[str, str], tuple[str, Json]]
    quotas: dict[tuple[str, str], Limits]
    amounts: dict[tuple[str, str], tuple[int, int, int]]
    workloads: dict[str, tuple[str, int]]
    holds: dict[str, Hold]


def told_by_kueue(scene: Scene) -> Facts:
    queues = _of(scene, scene.admin.items("clusterqueues"))
    namespaces = [scene.place(team) for team in QUOTA]
    local_queues = [queue for namespace in namespaces for queue in scene.admin.items("localqueues", namespace)]
    cohorts = [cohort for cohort in scene.admin.items("cohorts") if cohort["metadata"]["name"] == scene.name]
    workloads = [workload for namespace in namespaces for workload in scene.admin.items("workloads", namespace)]
    return Facts(
        specs={
            **{("ClusterQueue", _key(queue)): _spec(queue) for queue in queues},
            **{("LocalQueue", _key(queue)): _spec(queue) for queue in local_queues},
            **{("Cohort", _key(cohort)): _spec(cohort) for cohort in cohorts},
        },
        quotas={key: limits for queue in queues for key, limits in _quotas(queue)},
        amounts={key: amounts for queue in queues for key, amounts in _amounts(queue)},
        workloads={_key(workload): _version(workload) for workload in workloads},
        holds={_key(workload): _hold(workload) for workload in workloads if _holds_quota(workload)},
    )


def _of(scene: Scene, items: list[Json]) -> list[Json]:
    names = {scene.place(team) for team in QUOTA}
    return [item for item in items if item["metadata"]["name"] in names]


def _key(obj: Json) -> str:
    meta = obj["metadata"]
    return f"{meta['namespace']}/{meta['name']}" if "namespace" in meta else str(meta["name"])


def _spec(obj: Json) -> tuple[str, Json]:
    return obj["metadata"]["uid"], obj["spec"]


def _version(obj: Json) -> tuple[str, int]:
    return obj["metadata"]["uid"], int(obj["metadata"]["resourceVersion"])


def _quotas(queue: Json) -> Iterable[tuple[tuple[str, str], Limits]]:
    for group in queue["spec"].get("resourceGroups", ()):
        for flavor in group["flavors"]:
            quota = next(resource for resource in flavor["resources"] if resource["name"] == GPU)
            limits = [quota.get(field) for field in ("borrowingLimit", "lendingLimit")]
            borrowing, lending = (None if limit is None else int(limit) for limit in limits)
            yield (queue["metadata"]["name"], flavor["name"]), (int(quota["nominalQuota"]), borrowing, lending)


def _amounts(queue: Json) -> Iterable[tuple[tuple[str, str], tuple[int, int, int]]]:
    """Nothing is held of a flavor that the status does not tell of yet."""
    reserved, used = (_totals(queue, field) for field in ("flavorsReservation", "flavorsUsage"))
    for key, _ in _quotas(queue):
        total, borrowed = reserved.get(key[1], (0, 0))
        yield key, (total, used.get(key[1], (0, 0))[0], borrowed)


def _totals(queue: Json, field: str) -> dict[str, tuple[int, int]]:
    """Total and borrowed GPUs by flavor."""
    flavors = {flavor["name"]: flavor["resources"] for flavor in queue.get("status", {}).get(field, ())}
    gpus = {name: next(r for r in resources if r["name"] == GPU) for name, resources in flavors.items()}
    return {name: (int(line["total"]), int(line.get("borrowed", 0))) for name, line in gpus.items()}


def _holds_quota(workload: Json) -> bool:
    is_active = workload["spec"].get("active", True)
    return jobs.is_true(workload, "QuotaReserved") and not jobs.is_true(workload, "Finished") and is_active


def _hold(workload: Json) -> Hold:
    admission = workload["status"]["admission"]
    amounts = {a["flavors"][GPU]: _held(workload, a) for a in admission["podSetAssignments"]}
    reserved = since(workload, "QuotaReserved")
    assert reserved is not None
    return admission["clusterQueue"], reserved, since(workload, "Admitted"), since(workload, "Evicted"), amounts


def _held(workload: Json, assignment: Json) -> int:
    """Of pods that are done, Kueue has the quota back."""
    done = sum(p["count"] for p in workload["status"].get("reclaimablePods", ()) if p["name"] == assignment["name"])
    count: int = assignment["count"]
    return int(assignment["resourceUsage"][GPU]) // count * (count - done)


def since(workload: Json, kind: str, status: str = "True") -> datetime | None:
    """When the condition took that status; None if it has another."""
    found = jobs.condition(workload, kind)
    return datetime.fromisoformat(found["lastTransitionTime"]) if found and found["status"] == status else None


def kept_by(cluster: Cluster, scene: Scene) -> Facts:
    places = [scene.place(team) for team in QUOTA]
    versions = SpecVersion.objects.current().filter(cluster=cluster, deleted=False, kind__in=_KINDS)
    lines = QuotaLine.objects.current().filter(cluster=cluster, owner_kind="ClusterQueue", owner__in=places)
    now = QueueNow.objects.filter(cluster=cluster, cluster_queue__in=places, listed=True)
    workloads = Workload.objects.live().filter(cluster=cluster, namespace__in=places)
    spans = Span.objects.filter(workload__in=workloads, released_before__isnull=True)
    return Facts(
        specs={(v.kind, v.name): (v.uid, v.spec) for v in versions if _is_of(scene, v.name)},
        quotas={(o.owner, o.flavor): (o.nominal, o.borrowing_limit, o.lending_limit) for o in lines},
        amounts={(n.cluster_queue, n.flavor): (n.reservation, n.usage, n.borrowed) for n in now},
        workloads={str(workload): (workload.uid, workload.resource_version) for workload in workloads},
        holds={str(span.workload): _open_span(span) for span in spans.select_related("workload")},
    )


def _is_of(scene: Scene, name: str) -> bool:
    return name == scene.name or name.startswith(f"{scene.name}-")


def _open_span(span: Span) -> Hold:
    open_usages = span.usages.filter(valid_to__isnull=True, resource=GPU)
    amounts = dict(open_usages.values_list("flavor", "amount"))
    return span.cluster_queue, span.reserved_at, span.admitted_at, span.evicted_at, amounts
