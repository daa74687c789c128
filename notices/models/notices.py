from typing import ClassVar

from django.db import models
from django.db.models import Q

from accounts.models import User
from notices.kinds import OF_PLATFORM, How, Kind, Severity
from teams.models import Cluster, Team


class Notice(models.Model):
    """One thing to tell people, written in the transaction that learned of it. `id` is made of what it is about
    (notices/outbox.py): told twice, it is the same row; it is the Message-ID and the idempotency key.

    Texts are made when they are read or sent, in the reader's language, of `kind`, `subject` (a workload's uid, a
    flavor, a queue, a team), `title` (what people call it) and `details` (codes and keys of rows). `team` owned the
    subject at that time, None where no team did. `submitted_by` is whoever the job names, as written there;
    `recipient` the only one to tell, of `OF_PERSON`. `addressed_at`: since when its recipients have it. What lasts
    (`OF_PLATFORM`) has `ended_at` once it is over.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    kind = models.CharField(max_length=16, choices=Kind)
    severity = models.CharField(max_length=10, choices=Severity)
    cluster = models.ForeignKey(Cluster, models.PROTECT, related_name="notices")
    team = models.ForeignKey(Team, models.PROTECT, related_name="notices", null=True)
    subject = models.CharField(max_length=253, blank=True)
    title = models.CharField(max_length=510, blank=True)
    submitted_by = models.CharField(max_length=253, blank=True)
    recipient = models.ForeignKey(User, models.PROTECT, related_name="notices", null=True)
    details = models.JSONField(default=dict)
    at = models.DateTimeField()
    addressed_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by = models.ForeignKey(User, models.PROTECT, related_name="acknowledged_notices", null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["kind", "cluster", "subject"],
                condition=Q(ended_at__isnull=True, kind__in=OF_PLATFORM),
                name="notice_one_lasts",
            ),
            models.CheckConstraint(
                condition=Q(acknowledged_at__isnull=True, acknowledged_by__isnull=True)
                | Q(acknowledged_at__isnull=False, acknowledged_by__isnull=False),
                name="notice_acknowledged_by_whom",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["at"], condition=Q(addressed_at__isnull=True), name="notice_to_address"),
            models.Index(fields=["subject"], condition=Q(kind=Kind.INTERRUPTED), name="notice_interrupted"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.title} in {self.cluster_id}"


class Receipt(models.Model):
    """One person's copy of a notice: what their inbox holds, once. `how` they chose to hear of it."""

    notice = models.ForeignKey(Notice, models.CASCADE, related_name="receipts")
    user = models.ForeignKey(User, models.PROTECT, related_name="receipts")
    how = models.CharField(max_length=10, choices=How)
    at = models.DateTimeField()
    read_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["notice", "user"], name="receipt_key")]
        indexes: ClassVar = [
            models.Index(fields=["user", "-at"], name="receipt_by_time"),
            models.Index(fields=["user"], condition=Q(read_at__isnull=True), name="receipt_unread"),
        ]

    def __str__(self) -> str:
        return f"{self.notice_id} for {self.user_id}"
