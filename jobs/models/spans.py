from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from jobs.models.workloads import Workload


class Span(models.Model):
    """One hold of quota by a workload, from `reserved_at` until it was released; at most one is open.

    Released between `released_after` and `released_before`, equal when the instant is known. `admitted_at` is None
    until every admission check passed; `evicted_at` is when the eviction was decided, before the quota came back.
    """

    class End(models.TextChoices):
        FINISHED = "finished", _("Finished")
        EVICTED = "evicted", _("Evicted")
        DELETED = "deleted", _("Deleted")
        UNSEEN = "unseen", _("Unseen")

    workload = models.ForeignKey(Workload, models.CASCADE, related_name="spans")
    cluster_queue = models.CharField(max_length=253)
    reserved_at = models.DateTimeField()
    admitted_at = models.DateTimeField(null=True)
    evicted_at = models.DateTimeField(null=True)
    released_after = models.DateTimeField(null=True)
    released_before = models.DateTimeField(null=True)
    end = models.CharField(max_length=10, choices=End, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workload", "reserved_at"], name="span_key"),
            models.UniqueConstraint(
                fields=["workload"], condition=Q(released_before__isnull=True), name="span_one_open"
            ),
            models.CheckConstraint(
                condition=Q(released_before__isnull=True, released_after__isnull=True)
                | Q(released_before__gte=F("released_after")),
                name="span_released_interval",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["cluster_queue"], condition=Q(released_before__isnull=True), name="span_open_by_queue"
            ),
            models.Index(fields=["released_before"], name="span_by_release"),
            models.Index(fields=["end", "released_before"], name="span_by_end"),
        ]

    def __str__(self) -> str:
        return f"span of {self.workload_id} from {self.reserved_at:%Y-%m-%d %H:%M:%S}"


class SpanUsage(models.Model):
    """How much of one (flavor, resource) a span holds, in the smallest unit; a new row when the amount changes."""

    span = models.ForeignKey(Span, models.CASCADE, related_name="usages")
    flavor = models.CharField(max_length=253)
    resource = models.CharField(max_length=317)
    amount = models.BigIntegerField()
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["span", "flavor", "resource", "valid_from"], name="span_usage_key"),
            models.UniqueConstraint(
                fields=["span", "flavor", "resource"], condition=Q(valid_to__isnull=True), name="span_usage_one_open"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.amount} {self.resource} of {self.flavor}"
