"""A list of workloads as CSV: all its pages in their order, one header row, machine numbers and ISO times in UTC."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice

from jobs.models import Workload
from jobs.models.workloads import WorkloadQuerySet
from jobs.states import HOLDING, OVER, WAITING
from jobs.workload_filter import WorkloadFilter
from jobs.workload_list import Reach, of_states, order_by
from jobs.workload_rows import WorkloadRow, rows_of

Cell = str | int | datetime | None

_AT_A_TIME = 500
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_lines(workloads: WorkloadQuerySet, wanted: WorkloadFilter, reach: Reach) -> Iterator[str]:
    """The text in pieces of some hundred rows. Which workloads, and their order, is settled before the first one."""
    keys = list(of_states(workloads, wanted).order_by(*order_by(wanted)).values_list("pk", flat=True))
    yield _text([HEADER])
    for some in _pieces(keys):
        found = Workload.objects.select_related("cluster").defer("labels").in_bulk(some)
        shown = [found[key] for key in some if key in found]
        rows = rows_of(shown, reach, with_places=not reach.is_everything, with_shares=True)
        yield _text((safe(cell(row)) for cell in _CELLS.values()) for row in rows)


def safe(cell: Cell) -> str | int:
    """What a spreadsheet may open: a text that it would take for a formula is marked as text."""
    if cell is None:
        return ""
    if isinstance(cell, datetime):
        return cell.astimezone(UTC).isoformat()
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


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


def _text(rows: Iterable[Iterable[str | int]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def _pieces(keys: list[int]) -> Iterator[list[int]]:
    left = iter(keys)
    while some := list(islice(left, _AT_A_TIME)):
        yield some
