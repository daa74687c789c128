"""Dated facts about queues, flavors, priority classes and nodes: what Kueue itself forgets."""

from datetime import datetime
from typing import ClassVar, TypeVar

from django.db import models
from django.db.models import F, Q

from teams.models.clusters import Cluster

Dated = TypeVar("Dated", bound=models.Model)


class DatedQuerySet(models.QuerySet[Dated]):
    """Rows that hold from `valid_from` to before `valid_to`; the open one has no end."""

    def current(self) -> "DatedQuerySet[Dated]":
        return self.filter(valid_to__isnull=True)

    def at(self, time: datetime) -> "DatedQuerySet[Dated]":
        return self.filter(Q(valid_to__isnull=True) | Q(valid_to__gt=time), valid_from__lte=time)


def _ends_after_start(name: str) -> models.CheckConstraint:
    return models.CheckConstraint(condition=Q(valid_to__isnull=True) | Q(valid_to__gt=F("valid_from")), name=name)


class SpecVersion(models.Model):
    """The spec of one Kueue object for a stretch of time. A re-created object is a new version of the same line.

    `name` is NAMESPACE/NAME for LocalQueues. `deleted` versions say that no such object exists.
    """

    class Kind(models.TextChoices):
        CLUSTER_QUEUE = "ClusterQueue"
        COHORT = "Cohort"
        LOCAL_QUEUE = "LocalQueue"
        RESOURCE_FLAVOR = "ResourceFlavor"
        PRIORITY_CLASS = "WorkloadPriorityClass"
        ADMISSION_CHECK = "AdmissionCheck"

    cluster = models.ForeignKey(Cluster, models.PROTECT, related_name="spec_versions")
    kind = models.CharField(max_length=24, choices=Kind)
    name = models.CharField(max_length=510)
    uid = models.CharField(max_length=64)
    resource_version = models.BigIntegerField()
    spec = models.JSONField()
    status = models.JSONField(default=dict)
    deleted = models.BooleanField(default=False)
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField(null=True)

    objects = DatedQuerySet["SpecVersion"].as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cluster", "kind", "name"], condition=Q(valid_to__isnull=True), name="spec_one_open"
            ),
            models.UniqueConstraint(fields=["cluster", "kind", "name", "valid_from"], name="spec_key"),
            _ends_after_start("spec_ends_after_start"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name} from {self.valid_from:%Y-%m-%d %H:%M:%S}"


class QuotaLine(models.Model):
    """One quota of a ClusterQueue or Cohort for a stretch of time, in the resource's smallest unit.

    A limit of None is no limit. Lines of one key touch without overlap; a queue that does not list the flavor has none.
    """

    cluster = models.ForeignKey(Cluster, models.PROTECT, related_name="quota_lines")
    owner_kind = models.CharField(max_length=24, choices=SpecVersion.Kind)
    owner = models.CharField(max_length=253)
    flavor = models.CharField(max_length=253)
    resource = models.CharField(max_length=317)
    nominal = models.BigIntegerField()
    borrowing_limit = models.BigIntegerField(null=True)
    lending_limit = models.BigIntegerField(null=True)
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField(null=True)

    objects = DatedQuerySet["QuotaLine"].as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cluster", "owner_kind", "owner", "flavor", "resource"],
                condition=Q(valid_to__isnull=True),
                name="quota_line_one_open",
            ),
            models.UniqueConstraint(
                fields=["cluster", "owner_kind", "owner", "flavor", "resource", "valid_from"], name="quota_line_key"
            ),
            _ends_after_start("quota_line_ends_after_start"),
        ]

    def __str__(self) -> str:
        return f"{self.owner} {self.flavor} {self.resource} from {self.valid_from:%Y-%m-%d %H:%M:%S}"


class NodeCapacity(models.Model):
    """How many nodes of an instance type exist and are healthy, for a stretch of time.

    `accelerators` and `healthy_accelerators` count whole devices on all and on healthy nodes.
    """

    cluster = models.ForeignKey(Cluster, models.PROTECT, related_name="node_capacities")
    instance_type = models.CharField(max_length=63)
    total = models.PositiveIntegerField()
    healthy = models.PositiveIntegerField()
    accelerators = models.PositiveBigIntegerField(default=0)
    healthy_accelerators = models.PositiveBigIntegerField(default=0)
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField(null=True)

    objects = DatedQuerySet["NodeCapacity"].as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cluster", "instance_type"], condition=Q(valid_to__isnull=True), name="node_capacity_one_open"
            ),
            models.CheckConstraint(condition=Q(healthy__lte=F("total")), name="node_capacity_healthy_of_total"),
            _ends_after_start("node_capacity_ends_after_start"),
        ]

    def __str__(self) -> str:
        return f"{self.healthy} of {self.total} {self.instance_type} healthy"
