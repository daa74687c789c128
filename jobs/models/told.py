from typing import ClassVar

from django.db import models

from teams.models import Cluster


class ToldEviction(models.Model):
    """An eviction of a workload that came and went before anybody looked: Kueue's events alone tell that it was, of
    which name, why and when. What it held, what took its place and whether there were more is not known."""

    cluster = models.ForeignKey(Cluster, models.PROTECT, related_name="told_evictions")
    namespace = models.CharField(max_length=253)
    workload_uid = models.CharField(max_length=64)
    workload_name = models.CharField(max_length=253)
    reason = models.CharField(max_length=316)
    cause = models.CharField(max_length=316, blank=True)
    preemption = models.CharField(max_length=316, blank=True)
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cluster", "workload_uid", "reason", "cause", "at"], name="told_eviction_key"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["cluster", "namespace", "-at"], name="told_eviction_by_namespace")]

    def __str__(self) -> str:
        return f"{self.reason} of {self.workload_name} at {self.at:%Y-%m-%d %H:%M:%S}"
