"""Events as rows of a table."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from gateways.records import EventRecord
from jobs.live.secret_shapes import without_secrets
from jobs.redaction import Redaction

_KUEUE = "kueue"


@dataclass(frozen=True, slots=True)
class EventRow:
    """The message is redacted and without secrets; it was noted `count` times, last at `last_at`."""

    about: str
    is_warning: bool
    reason: str
    message: str
    reporter: str
    count: int
    first_at: datetime | None
    last_at: datetime | None


def event_rows(events: Iterable[EventRecord], redaction: Redaction) -> list[EventRow]:
    """In the order given."""
    return [
        EventRow(
            event.kind,
            event.is_warning,
            event.reason,
            redaction.apply(without_secrets(event.message), by_kueue=event.reporter.startswith(_KUEUE)),
            event.reporter,
            event.count,
            event.first_at,
            event.last_at,
        )
        for event in events
    ]
