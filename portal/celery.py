"""The Celery app and the whole schedule of periodic work."""

import os
import time
from typing import Any

import structlog
from celery import Celery, Task
from celery.signals import setup_logging, task_postrun, task_prerun
from django.conf import settings
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

log = structlog.get_logger(__name__)

app = Celery("portal")
app.conf.update(
    broker_url=settings.CELERY_BROKER_URL,
    broker_connection_retry_on_startup=True,
    task_ignore_result=True,
    task_acks_late=False,  # a lost task costs one interval
    task_time_limit=600,
    task_soft_time_limit=540,
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    worker_max_tasks_per_child=500,
    beat_schedule_filename=str(settings.VAR_DIR / "beat-schedule"),
    beat_schedule={
        # expires: a pull that waited a whole interval is dropped, the next one does its work
        "pull-all": {
            "task": "jobs.pull_all",
            "schedule": settings.PULL_SECONDS,
            "options": {"expires": settings.PULL_SECONDS},
        },
        "look-for-trouble": {"task": "jobs.look_for_trouble", "schedule": 60, "options": {"expires": 60}},
        "tell-beyond-limits": {"task": "jobs.tell_beyond_limits", "schedule": 300, "options": {"expires": 300}},
        "tell-people": {"task": "jobs.tell_people", "schedule": 15, "options": {"expires": 15}},
        "close-hours": {"task": "jobs.close_all_hours", "schedule": 300, "options": {"expires": 300}},
        "read-identity-providers": {"task": "accounts.read_providers", "schedule": 900, "options": {"expires": 900}},
        "read-directories": {"task": "accounts.read_directories", "schedule": 900, "options": {"expires": 900}},
        "prune-runs": {"task": "jobs.prune_runs", "schedule": 3600, "options": {"expires": 3600}},
        "prune-notices": {"task": "jobs.prune_notices", "schedule": 3600, "options": {"expires": 3600}},
    },
    timezone="UTC",
)
if settings.CELERY_BROKER_URL.startswith("filesystem"):
    TRANSPORT_ALIASES["filesystem"] = "portal.folder_broker:Transport"  # kombu's own reads files half written
    folder = settings.BROKER_DIR / "queue"
    folder.mkdir(parents=True, exist_ok=True)
    app.conf.broker_transport_options = {"folder": str(folder), "polling_interval": 0.2}
    app.conf.worker_enable_remote_control = False  # it needs messages to everybody, which a folder has not
else:
    app.conf.broker_transport_options = {"visibility_timeout": 900}
app.autodiscover_tasks(["accounts", "jobs"])


@setup_logging.connect
def _keep_logging(**kwargs: Any) -> None:
    """Django's logging stands; Celery would install its own."""


_began: dict[str, float] = {}


@task_prerun.connect
def _begin(task_id: str, **kwargs: Any) -> None:
    structlog.contextvars.bind_contextvars(task_id=task_id)
    _began[task_id] = time.monotonic()


@task_postrun.connect
def _end(task_id: str, task: Task[..., Any], state: str | None = None, **kwargs: Any) -> None:
    """One line per task, without arguments and results."""
    seconds = round(time.monotonic() - _began.pop(task_id), 3)
    log.info("task", name=task.name, seconds=seconds, outcome=(state or "unknown").lower())
    structlog.contextvars.unbind_contextvars("task_id")
