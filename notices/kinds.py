"""What people are told of, how urgent it is, and how they hear of it unless they chose otherwise."""

from typing import Final

from django.db import models
from django.utils.translation import gettext_lazy as _


class Kind(models.TextChoices):
    EVICTED = "evicted", _("A job was evicted")
    REQUEUED = "requeued", _("An evicted job waits again")
    READMITTED = "readmitted", _("An evicted job runs again")
    INTERRUPTED = "interrupted", _("A job was interrupted and kept its quota")
    FAILED = "failed", _("A job failed")
    FINISHED = "finished", _("A job finished")
    STUCK = "stuck", _("An evicted job does not give its GPUs back")
    WAITS_LONG = "waits_long", _("A job waits longer than you said")
    TEAM_LOSS = "team_loss", _("A team of yours lost more in a week than you said")
    LOOPING = "looping", _("A job is evicted again and again")
    SYNC_STALLED = "sync_stalled", _("A cluster cannot be read")
    NODES_BELOW_QUOTAS = "nodes_below", _("Quotas promise more than the healthy nodes have")
    QUEUE_STOPPED = "queue_stopped", _("A queue is stopped")


class Severity(models.TextChoices):
    INFO = "info", _("Information")
    WARNING = "warning", _("Warning")
    CRITICAL = "critical", _("Critical")


class How(models.TextChoices):
    AT_ONCE = "at_once", _("at once")
    DIGEST = "digest", _("in the digest")
    NEVER = "never", _("never")


OF_JOBS: Final = (
    Kind.EVICTED, Kind.REQUEUED, Kind.READMITTED, Kind.INTERRUPTED, Kind.FAILED, Kind.FINISHED, Kind.STUCK,
)  # fmt: skip
"""Told to the people of the job."""

OF_PERSON: Final = (Kind.WAITS_LONG, Kind.TEAM_LOSS)
"""Told to the one person whose own limit was passed."""

OF_PLATFORM: Final = (Kind.SYNC_STALLED, Kind.NODES_BELOW_QUOTAS, Kind.STUCK, Kind.LOOPING, Kind.QUEUE_STOPPED)
"""Told to platform admins. They last until they are over, and one of the admins says that they are looked after."""

SEVERITY: Final = {
    Kind.EVICTED: Severity.WARNING,
    Kind.REQUEUED: Severity.INFO,
    Kind.READMITTED: Severity.INFO,
    Kind.INTERRUPTED: Severity.WARNING,
    Kind.FAILED: Severity.WARNING,
    Kind.FINISHED: Severity.INFO,
    Kind.STUCK: Severity.WARNING,
    Kind.WAITS_LONG: Severity.INFO,
    Kind.TEAM_LOSS: Severity.WARNING,
    Kind.LOOPING: Severity.WARNING,
    Kind.SYNC_STALLED: Severity.CRITICAL,
    Kind.NODES_BELOW_QUOTAS: Severity.CRITICAL,
    Kind.QUEUE_STOPPED: Severity.WARNING,
}

USUAL: Final = {
    **dict.fromkeys(Kind, How.AT_ONCE),
    Kind.REQUEUED: How.NEVER,
    Kind.READMITTED: How.DIGEST,
    Kind.FINISHED: How.DIGEST,
}
"""How a person hears who chose nothing."""
