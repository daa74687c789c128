"""A list of workloads as CSV: all its pages in their order, one header row, machine numbers and ISO times in UTC."""

from collections.abc import Callable, Iterator, Mapping

from jobs.lists.csv_text import Cell, csv_text
from jobs.lists.reach import Reach
from jobs.models import Workload
from jobs.models.workloads import WorkloadQuerySet
from jobs.states import HOLDING, OVER, WAITING
from jobs.workloads.filter import WorkloadFilter
from jobs.workloads.list import of_states, order_by
from jobs.workloads.rows import WorkloadRow, rows_of
from portal.write_path import batches


def csv_lines(workloads: WorkloadQuerySet, wanted: WorkloadFilter, reach: Reach) -> Iterator[str]:
    """The text in pieces of some hundred rows. Which workloads, and their order, is settled before the first one."""
    keys = list(of_states(workloads, wanted).order_by(*order_by(wanted)).values_list("pk", flat=True))
    yield csv_text([HEADER])
    for some in batches(keys):
        found = Workload.objects.select_related("cluster").defer("labels").in_bulk(some)
        shown = [found[key] for key in some if key in found]
        rows = rows_of(shown, reach, with_places=not reach.is_everything, with_shares=True)
        yield csv_text([cell(row) for cell in _CELLS.values()] for row in rows)


_CELLS: Mapping[str, Callable[[WorkloadRow], Cell]] = {
    "team": lambda row: row.owner.slug if row.owner else "",
    "cluster": lambda row: row.workload.cluster.slug,
    "namespace": lambda row: row.workload.namespace,
    "job": lambda row: row.workload.title,
    "kind": lambda row: row.workload.owner_kind,
    "workload": lambda row: row.workload.name,
    "uid": lambda row: row.workload.uid,
    "state": lambda row: row.workload.state,
    "gpus": lambda row: row.workload.gpus,
    "flavors": lambda row: " ".join(row.gpus),
    "own_gpus": lambda row: row.own if row.workload.state in HOLDING else None,
    "borrowed_gpus": lambda row: row.borrowed if row.workload.state in HOLDING else None,
    "priority_class": lambda row: row.workload.priority_class,
    "priority": lambda row: row.workload.priority,
    "queue": lambda row: row.workload.queue_name,
    "position": lambda row: row.place.position if row.place else None,
    "position_of": lambda row: row.place.of if row.place else None,
    "why_it_waits": lambda row: " ".join(row.reason.sentences) if row.reason else "",
    "created_at": lambda row: row.workload.created_at,
    "waiting_since": lambda row: row.workload.since if row.workload.state in WAITING else None,
    "running_since": lambda row: row.workload.since if row.workload.state in HOLDING else None,
    "ended_at": lambda row: row.workload.since if row.workload.state in OVER else None,
}
HEADER = tuple(_CELLS)
