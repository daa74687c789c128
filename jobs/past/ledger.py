"""A past written into a ledger beside the real one, and carried into that at once: whatever ends it in the middle, the
real one never holds half of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from django.core.management import call_command
from django.db import connection, models
from django.db.models import Exists, Min, OuterRef

from jobs.ledger.eviction_loops import renew_all_loops
from jobs.ledger.writing import Vanished, write_workloads
from jobs.models import ClosedHours, Eviction, Span, SpanUsage, Workload
from jobs.past.cluster import Told
from jobs.sync.watch import WorkloadStore
from portal.sync_runs import count_setup_change
from portal.write_path import BATCH, exclusive
from teams.models import Cluster, CostCentre, NamespaceBinding, NodeCapacity, QuotaLine, SpecVersion, Team

_SET_UP: Final[tuple[type[models.Model], ...]] = (
    CostCentre,
    Team,
    Cluster,
    SpecVersion,
    NodeCapacity,
    NamespaceBinding,
)
_DATED: Final[Mapping[type[models.Model], Sequence[str]]] = {
    SpecVersion: ("kind", "name"),
    QuotaLine: ("owner_kind", "owner", "flavor", "resource"),
    NamespaceBinding: ("namespace",),
}
"""What stands from a moment on, and what its rows have in common."""


@dataclass(frozen=True, slots=True)
class Past:
    """Rows with the keys that they have in the ledger beside."""

    workloads: Sequence[Workload]
    spans: Sequence[Span]
    usages: Sequence[SpanUsage]
    evictions: Sequence[Eviction]


def known_from(cluster: Cluster) -> datetime | None:
    """Since when its queues are known."""
    found: datetime | None = SpecVersion.objects.filter(cluster=cluster).aggregate(first=Min("valid_from"))["first"]
    return found


@contextmanager
def ledger_beside(path: Path) -> Iterator[None]:
    """In the block the database is another one, of SQLite, in that file: with the teams, clusters and queues of the
    real one, and nothing else. It is removed afterwards."""
    set_up = [list(model._default_manager.all()) for model in _SET_UP]
    real = connection.settings_dict["NAME"]
    _remove(path)
    _use(path)
    try:
        call_command("migrate", verbosity=0)
        for rows in filter(None, set_up):
            type(rows[0])._default_manager.bulk_create(rows)
        yield
    finally:
        _use(real)
        _remove(path)


def _use(name: Any) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name


def _remove(path: Path) -> None:
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink()


def write(cluster: Cluster, told: Iterable[Told], until: datetime) -> Past:
    """What a cluster told, by the comparison that the watch uses, as of each step; whatever is not over by the end is
    then gone."""
    version, step = 0, None
    for step in told:
        store = WorkloadStore(cluster, None, lambda now=step.now: now)  # type: ignore[arg-type, misc]
        store.write(step.batch, step.since)
        version = step.batch.resource_version
    left = Workload.objects.filter(cluster=cluster, gone_before__isnull=True).values_list("uid", flat=True)
    gone = [Vanished(uid, version, until, until, watched=False) for uid in left]
    write_workloads(cluster, (), gone, now=until, last_seen=until)
    return Past(*(list(model.objects.order_by("pk")) for model in (Workload, Span, SpanUsage, Eviction)))


def carry(cluster: Cluster, past: Past, begin: datetime) -> None:
    """Bring it into the real ledger, where queues, nodes and teams have then stood since `begin` as they were first
    seen. The hours must be closed anew."""
    with exclusive(cluster.slug):
        workloads = _insert(past.workloads)
        spans = _insert(past.spans, workload=workloads)
        _insert(past.usages, span=spans)
        _insert(past.evictions, workload=workloads, span=spans, preemptor=workloads)
        renew_all_loops(cluster)
        for model, key in _DATED.items():
            _stands_since(begin, model, key, cluster)
        ClosedHours.objects.filter(cluster=cluster).delete()
        count_setup_change(cluster.slug)


def _insert(rows: Sequence[models.Model], **keys: Mapping[int, int]) -> dict[int, int]:
    """Under new keys; `keys` are those that what they point to was given. Returns the new ones by the old ones."""
    old = [row.pk for row in rows]
    for row in rows:
        row.pk = None
        for name, new in keys.items():
            pointed = getattr(row, f"{name}_id")
            setattr(row, f"{name}_id", None if pointed is None else new[pointed])
    if not rows:
        return {}
    type(rows[0])._default_manager.bulk_create(rows, batch_size=BATCH)
    return dict(zip(old, (row.pk for row in rows), strict=True))


def _stands_since(begin: datetime, model: type[models.Model], key: Sequence[str], cluster: Cluster) -> None:
    rows = model._default_manager.filter(cluster=cluster)
    same = {name: OuterRef(name) for name in key}
    earlier = rows.filter(**same, valid_from__lt=OuterRef("valid_from"))
    rows.filter(~Exists(earlier)).update(valid_from=begin)
