"""Periodic work that a worker does now instead of at its next turn, because of what was just written."""

from functools import partial
from typing import Any

import structlog
from celery import current_app
from django.db import transaction

log = structlog.get_logger(__name__)


def nudge(task: str, *args: Any) -> None:
    """Sends the task once the transaction is committed. A broker that is down costs the wait until the task's next
    turn, and says so in one line of the log."""
    transaction.on_commit(partial(_send, task, args))


def _send(task: str, args: tuple[Any, ...]) -> None:
    try:
        current_app.send_task(task, args, retry=False)
    except Exception as error:  # whatever the broker's client raises; what was written stands
        log.warning("not nudged: it is done at its next turn", task=task, args=args, error=str(error))
