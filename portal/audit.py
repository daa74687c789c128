"""The audit trail: called inside actions, in their transaction."""

from datetime import datetime
from typing import Any

import structlog

from portal.models import AuditEvent


def record(event: str, *, target: str, by: str, now: datetime, **details: Any) -> None:
    """Store that `by` did `event` to `target` (ids and slugs, e.g. `team/research`)."""
    request_id = structlog.contextvars.get_contextvars().get("request_id", "")
    AuditEvent.objects.create(at=now, actor=by, event=event, target=target, details=details, request_id=request_id)
