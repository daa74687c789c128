"""Logs: one line of keys and values per event on standard error, never payloads."""

import logging
from typing import Any

import structlog
from structlog.typing import Processor

_SHARED: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso"),
    structlog.processors.format_exc_info,
]


class WithoutAddresses(logging.Filter):
    """Takes out of Django's own lines what people typed, addresses and host names; refused requests need no traceback.

    `portal.middleware.request_line` tells of every request, also of those that found nothing.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("django.security"):
            record.msg, record.args, record.exc_info = f"refused: {record.name.rpartition('.')[2]}", (), None
            record.levelno, record.levelname = logging.WARNING, "WARNING"
        elif record.name == "django.request":
            record.msg, record.args = "request failed", ()
        return True


def configured(level: str) -> dict[str, Any]:
    """Sets structlog up and returns the LOGGING dictionary for Django, Celery and the libraries beside it."""
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": _SHARED,
        "processors": [
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "logger", "event"]),
        ],
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": formatter},
        "filters": {"without addresses": {"()": WithoutAddresses}},
        "handlers": {
            "console": {"class": "logging.StreamHandler", "formatter": "lines", "filters": ["without addresses"]},
        },
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            "django.server": {"handlers": [], "propagate": True},
            "django.request": {"level": "ERROR"},  # what was not found or refused has its line
            "celery.worker.strategy": {"level": "WARNING"},  # each task has one line, from portal.celery
            "celery.app.trace": {"level": "WARNING"},
        },
    }
