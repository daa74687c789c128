"""A list of evictions as CSV: all its pages in their order, one header row, machine numbers and ISO times in UTC."""

from collections.abc import Callable, Iterator, Mapping

from jobs.evictions.filter import EvictionFilter
from jobs.evictions.list import Evictions, order_by, with_objects
from jobs.evictions.told import Told, told
from jobs.lists.csv_text import Cell, csv_text
from jobs.lists.reach import Owners
from jobs.models import Eviction
from jobs.sight import Sight
from portal.write_path import batches


def csv_lines(found: Evictions, wanted: EvictionFilter, sight: Sight, owners: Owners) -> Iterator[str]:
    """The text in pieces of some hundred rows. Which evictions, and their order, is settled before the first one."""
    keys = list(found.order_by(*order_by(wanted)).values_list("pk", flat=True))
    yield csv_text([HEADER])
    for some in batches(keys):
        rows = with_objects(Eviction.objects.all()).in_bulk(some)
        shown = told((rows[key] for key in some if key in rows), sight, owners)
        yield csv_text([cell(row) for cell in _CELLS.values()] for row in shown)


def _decided(row: Told) -> Cell:
    return row.eviction.decided_before if row.eviction.is_dated else None


def _released(row: Told) -> Cell:
    span = row.eviction.span
    return span.released_before if span and span.released_after == span.released_before else None


def _gpus(row: Told) -> Cell:
    """What a hold that nobody saw gave up is not known, unless its loss is."""
    eviction = row.eviction
    return None if eviction.span is None and eviction.lost_expected is None else eviction.gpus


_CELLS: Mapping[str, Callable[[Told], Cell]] = {
    "decided_at": _decided,
    "decided_after": lambda row: row.eviction.decided_after,
    "decided_before": lambda row: row.eviction.decided_before,
    "released_at": _released,
    "resumed_at": lambda row: row.resumed_at,
    "team": lambda row: row.owner.slug if row.owner else "",
    "cluster": lambda row: row.eviction.cluster.slug,
    "namespace": lambda row: row.eviction.namespace,
    "job": lambda row: row.eviction.workload.title,
    "kind": lambda row: row.eviction.workload.owner_kind,
    "uid": lambda row: row.eviction.workload.uid,
    "state_now": lambda row: row.eviction.workload.state,
    "priority_class": lambda row: row.eviction.priority_class,
    "priority": lambda row: row.eviction.priority,
    "reason": lambda row: row.eviction.reason,
    "cause": lambda row: row.eviction.cause,
    "rule": lambda row: row.eviction.preemption,
    "ordinal": lambda row: row.eviction.ordinal,
    "loop": lambda row: row.loop.size if row.loop else None,
    "taken_by": lambda row: row.taken_by.text if row.taken_by else "",
    "queue": lambda row: row.eviction.span.cluster_queue if row.eviction.span else "",
    "gpus": _gpus,
    "ran_seconds": lambda row: int(row.ran.total_seconds()) if row.ran is not None else None,
    "loss_known_by": lambda row: row.eviction.basis,
    "lost_gpu_seconds": lambda row: row.eviction.lost_expected,
    "lost_gpu_seconds_at_least": lambda row: row.eviction.lost_low,
    "lost_gpu_seconds_at_most": lambda row: row.eviction.lost_high,
    "stopping_gpu_seconds": lambda row: row.eviction.stopping,
}
HEADER = tuple(_CELLS)
