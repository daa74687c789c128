"""A workload's conditions as rows of a table."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from jobs.models import Workload
from jobs.redaction import Redaction
from scheduling.parsing import parse_time


@dataclass(frozen=True, slots=True)
class ConditionRow:
    """`status` is True, False or None for Unknown; the message is redacted."""

    type: str
    status: bool | None
    reason: str
    message: str
    since: datetime | None


def condition_rows(workload: Workload, redaction: Redaction) -> list[ConditionRow]:
    """Newest first."""
    rows = list(_rows(workload, redaction))
    return sorted(rows, key=lambda row: (row.since is None, -(row.since.timestamp() if row.since else 0), row.type))


def _rows(workload: Workload, redaction: Redaction) -> Iterator[ConditionRow]:
    for kind, condition in workload.conditions.items():
        yield ConditionRow(
            kind,
            condition["status"],
            condition["reason"],
            redaction.apply(condition["message"]),
            parse_time(condition["since"]),
        )
