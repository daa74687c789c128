"""A workload's conditions as rows of a table."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext

from jobs.models import Workload
from jobs.redaction import Redaction
from scheduling import names
from scheduling.parsing import parse_time


@dataclass(frozen=True, slots=True)
class ConditionRow:
    """`meaning` is empty for a type that the portal does not know; `status` is True, False or None for Unknown; the
    message is redacted."""

    type: str
    meaning: str
    status: bool | None
    reason: str
    message: str
    since: datetime | None


def condition_rows(workload: Workload, redaction: Redaction) -> list[ConditionRow]:
    """Newest first."""
    rows = list(_rows(workload, redaction))
    return sorted(rows, key=lambda row: (row.since is None, -(row.since.timestamp() if row.since else 0), row.type))


def _rows(workload: Workload, redaction: Redaction) -> Iterator[ConditionRow]:
    meanings = _meanings()
    for kind, condition in workload.conditions.items():
        yield ConditionRow(
            kind,
            meanings.get(kind, ""),
            condition["status"],
            condition["reason"],
            redaction.apply(condition["message"]),
            parse_time(condition["since"]),
        )


def _meanings() -> dict[str, str]:
    return {
        names.QUOTA_RESERVED: gettext("holds quota"),
        names.ADMITTED: gettext("may start: quota and all checks"),
        names.PODS_READY: gettext("all pods are ready"),
        names.EVICTED: gettext("lost its quota"),
        names.PREEMPTED: gettext("made way for another job"),
        names.REQUEUED: gettext("back in the queue"),
        names.FINISHED: gettext("has ended"),
        names.WAITING_FOR_REPLACEMENT_PODS: gettext("waits for new pods in place of lost ones"),
    }
