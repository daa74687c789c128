"""What every app leaves behind: runs of syncs, the age of facts, gaps, leases and the audit trail.

Clusters are named by slug here: this layer lies below the app that owns them.
"""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _


class SyncRun(models.Model):
    """One run of a sync: a log, kept 14 days (failures 90)."""

    class Status(models.TextChoices):
        CHANGED = "changed"
        UNCHANGED = "unchanged"
        FAILED = "failed"

    source = models.CharField(max_length=40)
    cluster = models.SlugField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    status = models.CharField(max_length=10, choices=Status)
    seen = models.PositiveIntegerField(default=0)
    written = models.PositiveIntegerField(default=0)
    absent = models.PositiveIntegerField(default=0)
    malformed = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["cluster", "source", "-started_at"], name="sync_run_latest")]

    def __str__(self) -> str:
        return f"{self.source} of {self.cluster} at {self.started_at:%Y-%m-%d %H:%M:%S} ({self.status})"


class SourceState(models.Model):
    """How far one source of one cluster was read: the row that pages take ages from.

    `version` counts changes of what the source feeds, for ETags. `failing_since` is set while reads fail.
    """

    source = models.CharField(max_length=40)
    cluster = models.SlugField()
    last_good_at = models.DateTimeField(null=True)
    resource_version = models.BigIntegerField(default=0)
    version = models.BigIntegerField(default=0)
    failing_since = models.DateTimeField(null=True)
    last_error = models.TextField(blank=True)
    malformed = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["cluster", "source"], name="source_state_key")]

    def __str__(self) -> str:
        return f"{self.source} of {self.cluster}"


class Gap(models.Model):
    """A stretch of time in which a source was not seen. Never pruned; `end` is None while it lasts."""

    class Cause(models.TextChoices):
        UNREACHABLE = "unreachable", _("the cluster did not answer")
        NOT_RUNNING = "not_running", _("the portal was not running")

    source = models.CharField(max_length=40)
    cluster = models.SlugField()
    start = models.DateTimeField()
    end = models.DateTimeField(null=True)
    cause = models.CharField(max_length=20, choices=Cause)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(end__isnull=True) | Q(end__gt=F("start")), name="gap_ends_after_start"),
            models.UniqueConstraint(fields=["cluster", "source"], condition=Q(end__isnull=True), name="gap_one_open"),
        ]
        indexes: ClassVar = [models.Index(fields=["cluster", "source", "start"], name="gap_by_time")]

    def __str__(self) -> str:
        return f"gap in {self.source} of {self.cluster} from {self.start}"


class Lease(models.Model):
    """Who may run one source of one cluster at present."""

    source = models.CharField(max_length=40)
    cluster = models.SlugField()
    holder = models.CharField(max_length=100)
    expires_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["cluster", "source"], name="lease_key")]

    def __str__(self) -> str:
        return f"{self.source} of {self.cluster} held by {self.holder}"


class AuditEvent(models.Model):
    """One act. Names and slugs instead of foreign keys; the database refuses updates and deletions."""

    at = models.DateTimeField()
    actor = models.CharField(max_length=150)
    event = models.CharField(max_length=60)
    target = models.CharField(max_length=300)
    details = models.JSONField(default=dict)
    request_id = models.CharField(max_length=40, blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["-at"], name="audit_by_time"),
            models.Index(fields=["target", "-at"], name="audit_by_target"),
        ]

    def __str__(self) -> str:
        return f"{self.actor} {self.event} {self.target}"
