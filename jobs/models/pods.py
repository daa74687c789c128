from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from jobs.models.spans import Span
from jobs.models.workloads import Workload
from jobs.rules.interruptions import Cause, End
from teams.models import Cluster


class PodRun(models.Model):
    """One pod of a workload on its node, from `bound_at` until it was gone; pods never move.

    It ended between `ended_after` and `ended_before`, equal when the instant is known, None while it is there;
    `stop_at` is when it was told to stop. `reason` and `exit_code` as the cluster spells them. `node_failed`: what
    stopped it was its node. `restarts` of its containers, at most. `resource_version` of the look last stored.
    """

    cluster = models.ForeignKey(Cluster, models.PROTECT, related_name="pod_runs")
    workload = models.ForeignKey(Workload, models.CASCADE, related_name="pod_runs")
    uid = models.CharField(max_length=64)
    name = models.CharField(max_length=253)
    node = models.CharField(max_length=253)
    resource_version = models.BigIntegerField()
    bound_at = models.DateTimeField()
    stop_at = models.DateTimeField(null=True)
    ended_after = models.DateTimeField(null=True)
    ended_before = models.DateTimeField(null=True)
    end = models.CharField(max_length=10, choices=End, blank=True)
    reason = models.CharField(max_length=200, blank=True)
    exit_code = models.BigIntegerField(null=True)
    node_failed = models.BooleanField()
    restarts = models.BigIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cluster", "uid"], name="pod_run_key"),
            models.CheckConstraint(
                condition=Q(ended_before__isnull=True, ended_after__isnull=True)
                | Q(ended_before__gte=F("ended_after"), ended_after__gte=F("bound_at")),
                name="pod_run_ended_interval",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["cluster", "node", "-bound_at"], name="pod_run_by_node"),
            models.Index(fields=["workload", "bound_at"], name="pod_run_by_workload"),
            models.Index(fields=["cluster"], condition=Q(ended_before__isnull=True), name="pod_run_there"),
        ]

    def __str__(self) -> str:
        return f"{self.name} on {self.node}"


class Interruption(models.Model):
    """Pods of a workload failed, were deleted or were lost between `after` and `before`, equal when the instant is
    known, while it kept its quota: Kueue knows nothing of it. `pods` of them were hit, on these `nodes` (those to blame
    alone, where nodes were); `replaced_at` is when the first one came in their stead. All of it is made of pod runs and
    spans (jobs/rules/interruptions.py)."""

    cluster = models.ForeignKey(Cluster, models.PROTECT, related_name="interruptions")
    namespace = models.CharField(max_length=253)
    workload = models.ForeignKey(Workload, models.CASCADE, related_name="interruptions")
    span = models.ForeignKey(Span, models.CASCADE, related_name="interruptions")
    after = models.DateTimeField()
    before = models.DateTimeField()
    cause = models.CharField(max_length=10, choices=Cause)
    reason = models.CharField(max_length=200, blank=True)
    exit_code = models.BigIntegerField(null=True)
    pods = models.BigIntegerField()
    nodes = models.JSONField(default=list)
    replaced_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(before__gte=F("after")), name="interruption_interval"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["cluster", "namespace", "-before"], name="interruption_by_namespace"),
            models.Index(fields=["workload", "before"], name="interruption_by_workload"),
        ]

    def __str__(self) -> str:
        return f"{self.cause} of {self.workload_id} at {self.before:%Y-%m-%d %H:%M:%S}"
