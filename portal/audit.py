"""The audit trail: called inside actions, in their transaction."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import structlog

from portal.models import AuditEvent


def record(event: str, *, target: str, by: str, now: datetime, **details: Any) -> None:
    """Store that `by` did `event` to `target` (ids and slugs, e.g. `team/research`)."""
    record_all([(event, target, details)], by=by, now=now)


def record_all(acts: Iterable[tuple[str, str, Mapping[str, Any]]], *, by: str, now: datetime) -> None:
    """Many at once: event, target and details of each."""
    request_id = structlog.contextvars.get_contextvars().get("request_id", "")
    AuditEvent.objects.bulk_create(
        (
            AuditEvent(at=now, actor=by, event=event, target=target, details=dict(details), request_id=request_id)
            for event, target, details in acts
        ),
        batch_size=500,
    )
