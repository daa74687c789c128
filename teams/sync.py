"""The cluster's queues, flavors, priority classes and nodes into dated rows."""

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

import structlog

from gateways.records import NodeRecord
from portal.sync_runs import SyncRefused
from portal.write_path import exclusive
from scheduling import names
from scheduling.objects import (
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    LocalQueue,
    PriorityClass,
    ResourceFlavor,
    ResourceGroup,
)
from scheduling.quantities import saturate
from teams.models import Cluster, NodeCapacity, QuotaLine, SpecVersion

log = structlog.get_logger(__name__)

QueueRecord: TypeAlias = ClusterQueue | Cohort | LocalQueue | ResourceFlavor | PriorityClass | AdmissionCheck
Kind = SpecVersion.Kind

KIND_OF: Mapping[type[QueueRecord], Kind] = {
    ClusterQueue: Kind.CLUSTER_QUEUE,
    Cohort: Kind.COHORT,
    LocalQueue: Kind.LOCAL_QUEUE,
    ResourceFlavor: Kind.RESOURCE_FLAVOR,
    PriorityClass: Kind.PRIORITY_CLASS,
    AdmissionCheck: Kind.ADMISSION_CHECK,
}


def check_identity(cluster: Cluster, identity: str) -> None:
    """Refuse to sync when the address now leads to another cluster than before. Raises SyncRefused."""
    if not cluster.identity:
        Cluster.objects.filter(pk=cluster.pk, identity="").update(identity=identity)
        cluster.refresh_from_db(fields=["identity"])  # another process may have been first
    if cluster.identity != identity:
        raise SyncRefused(
            f"The connection of {cluster.slug} leads to another cluster than before (kube-system is {identity}, "
            f"was {cluster.identity}). Nothing is read from it until the connection is corrected."
        )


def line_name(record: QueueRecord) -> str:
    """The name under which versions of the object continue: NAMESPACE/NAME for LocalQueues."""
    return f"{record.namespace}/{record.name}" if isinstance(record, LocalQueue) else record.name


def write_specs(cluster: Cluster, kind: Kind, records: Sequence[QueueRecord], now: datetime) -> set[str]:
    """Open a new version of each object whose spec, uid or conditions changed; returns the names whose spec did.

    Call inside `exclusive(cluster)`. Objects older than what is stored are skipped.
    """
    stored = _open_versions(cluster, kind, [line_name(record) for record in records])
    changed = set()
    for record in records:
        name, version = line_name(record), stored.get(line_name(record))
        if version and record.resource_version <= version.resource_version:
            continue
        if version and not version.deleted and (version.uid, version.spec) == (record.uid, record.spec):
            _keep_status(version, record)
            continue
        _open_version(cluster, kind, name, version, record, now)
        changed.add(name)
    if changed:
        _draw_version(cluster)
    return changed


def write_deleted(cluster: Cluster, kind: Kind, gone: Mapping[str, int], now: datetime) -> set[str]:
    """Open a `deleted` version of each object not seen since the resourceVersion at which it was known to be gone;
    returns the names it closed. Call inside `exclusive(cluster)`."""
    closed = set()
    for name, version in _open_versions(cluster, kind, list(gone)).items():
        if version.deleted or version.resource_version > gone[name]:
            continue
        start = _close(version, now)
        SpecVersion.objects.create(
            cluster=cluster,
            kind=kind,
            name=name,
            uid=version.uid,
            resource_version=gone[name],
            spec={},
            deleted=True,
            valid_from=start,
        )
        _write_quota_lines(cluster, kind, name, {}, start)
        closed.add(name)
    if closed:
        _draw_version(cluster)
    return closed


def _draw_version(cluster: Cluster) -> None:
    cluster.specs_version = secrets.randbits(62)
    cluster.save(update_fields=["specs_version"])


def live_names(cluster: Cluster, kind: Kind) -> set[str]:
    """Names of the objects of a kind that exist, as far as the ledger knows."""
    live = SpecVersion.objects.current().filter(cluster=cluster, kind=kind, deleted=False)
    return set(live.values_list("name", flat=True))


def _open_versions(cluster: Cluster, kind: Kind, wanted: list[str]) -> dict[str, SpecVersion]:
    found = SpecVersion.objects.current().filter(cluster=cluster, kind=kind, name__in=wanted)
    return {version.name: version for version in found}


def _keep_status(version: SpecVersion, record: QueueRecord) -> None:
    status = _status_of(record)
    if version.status != status:
        SpecVersion.objects.filter(pk=version.pk).update(status=status, resource_version=record.resource_version)


def _status_of(record: QueueRecord) -> dict[str, Any]:
    """What pages show of a queue's own status: its conditions, without the counters that change all the time."""
    if not isinstance(record, ClusterQueue | LocalQueue | AdmissionCheck):
        return {}
    return {
        "conditions": {
            kind: {"status": condition.status, "reason": condition.reason, "message": condition.message}
            for kind, condition in record.conditions.items()
        }
    }


def _open_version(
    cluster: Cluster, kind: Kind, name: str, before: SpecVersion | None, record: QueueRecord, now: datetime
) -> None:
    start = _close(before, now) if before else now
    SpecVersion.objects.create(
        cluster=cluster,
        kind=kind,
        name=name,
        uid=record.uid,
        resource_version=record.resource_version,
        spec=record.spec,
        status=_status_of(record),
        valid_from=start,
    )
    if isinstance(record, ClusterQueue | Cohort):
        _write_quota_lines(cluster, kind, name, _lines_of(record.groups), start)


def _close(version: SpecVersion | QuotaLine | NodeCapacity, now: datetime) -> datetime:
    """End a dated row and return when its successor starts: now, but always after its own start."""
    end = max(now, version.valid_from + timedelta(microseconds=1))
    type(version)._default_manager.filter(pk=version.pk).update(valid_to=end)
    return end


Line: TypeAlias = tuple[int, int | None, int | None]


def _lines_of(groups: tuple[ResourceGroup, ...]) -> dict[tuple[str, str], Line]:
    return {
        (flavor.name, resource): (quota.nominal, quota.borrowing_limit, quota.lending_limit)
        for group in groups
        for flavor in group.flavors
        for resource, quota in flavor.resources.items()
    }


def _amounts(line: QuotaLine) -> Line:
    return (line.nominal, line.borrowing_limit, line.lending_limit)


def _write_quota_lines(
    cluster: Cluster, kind: Kind, owner: str, wanted: Mapping[tuple[str, str], Line], now: datetime
) -> None:
    open_lines = QuotaLine.objects.current().filter(cluster=cluster, owner_kind=kind, owner=owner)
    stored = {(line.flavor, line.resource): line for line in open_lines}
    for key, line in stored.items():
        if wanted.get(key) != _amounts(line):
            _close(line, now)
    unchanged = {key for key, line in stored.items() if wanted.get(key) == _amounts(line)}
    for (flavor, resource), (nominal, borrowing, lending) in wanted.items():
        if (flavor, resource) in unchanged:
            continue
        QuotaLine.objects.create(
            cluster=cluster,
            owner_kind=kind,
            owner=owner,
            flavor=flavor,
            resource=resource,
            nominal=nominal,
            borrowing_limit=borrowing,
            lending_limit=lending,
            valid_from=now,
        )


def write_nodes(cluster: Cluster, nodes: Iterable[NodeRecord], now: datetime) -> int:
    """Bring the node counts per instance type up to date; returns how many types changed."""
    wanted = _capacities(nodes)
    with exclusive(cluster.slug):
        stored = {c.instance_type: c for c in NodeCapacity.objects.current().filter(cluster=cluster)}
        absent = {name: Counter[str]() for name in stored if name not in wanted}
        changed = 0
        for instance_type, counts in {**wanted, **absent}.items():
            changed += _write_capacity(cluster, instance_type, stored.get(instance_type), counts, now)
        if changed:
            _draw_version(cluster)
    return changed


def _capacities(nodes: Iterable[NodeRecord]) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {}
    for node in nodes:
        devices = sum(max(0, amount) for resource, amount in node.allocatable.items() if names.is_accelerator(resource))
        count = counts.setdefault(node.instance_type, Counter())
        count.update(total=1, accelerators=devices)
        if node.healthy:
            count.update(healthy=1, healthy_accelerators=devices)
    return {name: Counter({what: saturate(sum_) for what, sum_ in count.items()}) for name, count in counts.items()}


_COUNTS = ("total", "healthy", "accelerators", "healthy_accelerators")


def _write_capacity(
    cluster: Cluster, instance_type: str, stored: NodeCapacity | None, counts: Counter[str], now: datetime
) -> bool:
    if stored and all(getattr(stored, name) == counts[name] for name in _COUNTS):
        return False
    start = _close(stored, now) if stored else now
    NodeCapacity.objects.create(
        cluster=cluster, instance_type=instance_type, valid_from=start, **{name: counts[name] for name in _COUNTS}
    )
    return True


@dataclass(frozen=True, slots=True)
class About:
    """What a cluster says of itself and of the portal's rights there; `kueue` is empty where it cannot be told.
    `endpoint` and `authority` (base64): of its API server, where EKS tells them."""

    kubernetes: str
    kueue: str
    missing_rights: tuple[str, ...]
    endpoint: str = ""
    authority: str = ""


def write_about(cluster: Cluster, about: About) -> bool:
    """Keep versions and missing rights; returns whether they differ from before."""
    kept = {
        "kubernetes_version": about.kubernetes,
        "kueue_version": about.kueue,
        "missing_rights": list(about.missing_rights),
        "api_endpoint": about.endpoint,
        "api_authority": about.authority,
    }
    rows = Cluster.objects.filter(pk=cluster.pk)
    if rows.values(*kept).get() == kept:
        return False
    rows.update(**kept)
    return True
