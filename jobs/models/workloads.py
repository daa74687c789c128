from collections.abc import Iterable
from datetime import datetime
from typing import Any, ClassVar

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Coalesce
from django.urls import reverse

from accounts.models import User
from jobs.states import HOLDING, OVER, WAITING, JobState
from teams.models import Cluster, NamespaceBinding, Team
from teams.permissions import Permission
from teams.roles import roles_of

_BY_PREFIX = ("int8_ops", "varchar_pattern_ops")
"""How PostgreSQL must keep (cluster, text) so that it finds what a text begins with in any collation."""

_LISTED = (
    "-since", "id", "state", "cluster", "namespace", "owner_kind", "priority_class", "queue_name", "priority", "gpus",
    "created_at", "owner_name", "name",
)  # fmt: skip
"""All that lists over all teams filter and sort by: no row, of which most is JSON, is read to be left out."""


class WorkloadQuerySet(models.QuerySet["Workload"]):
    def not_over_by(self, time: datetime) -> "WorkloadQuerySet":
        """That neither finished nor vanished until then."""
        rows = self.annotate(over_at=Coalesce("finished_at", "gone_before"))
        return rows.filter(Q(over_at__isnull=True) | Q(over_at__gt=time))

    def live(self) -> "WorkloadQuerySet":
        """In the cluster at the last read."""
        return self.filter(gone_before__isnull=True)

    def waiting(self) -> "WorkloadQuerySet":
        return self.live().filter(state__in=WAITING)

    def holding(self) -> "WorkloadQuerySet":
        """With quota in hand: reserved, preparing, running, giving it back."""
        return self.live().filter(state__in=HOLDING)

    def of_teams(self, teams: Iterable[Team] | models.QuerySet[Team]) -> "WorkloadQuerySet":
        """In namespaces that the teams own now."""
        owned = NamespaceBinding.objects.current().filter(
            cluster=OuterRef("cluster"), namespace=OuterRef("namespace"), team__in=teams
        )
        return self.filter(Exists(owned))

    def visible_to(self, user: User, permission: Permission = Permission.SEE_TEAM) -> "WorkloadQuerySet":
        """Of teams in which the person holds the permission; for platform roles also of namespaces without a team."""
        if roles_of(user).everywhere(permission):
            return self
        return self.of_teams(Team.objects.visible_to(user, permission))

    def in_queues(self, local_queues: Iterable[str]) -> "WorkloadQuerySet":
        """Asking for one of these LocalQueues, each NAMESPACE/NAME."""
        wanted = Q(pk__in=[])
        for key in local_queues:
            namespace, _, name = key.partition("/")
            wanted |= Q(namespace=namespace, queue_name=name)
        return self.filter(wanted)


class Workload(models.Model):
    """One Kueue Workload object, by uid: names recur. Never holds env values, arguments or foreign annotations.

    `is_queued`: it stands in line, in Kueue's order; `is_preempting`: its victims are being stopped, it stays first.
    `since`: when it began to wait, to hold quota, or ended, whichever its state is; None where no object told. `gpus`:
    accelerators that all its pods ask for.
    `pod_sets`: [{"name", "count", "min_count", "requests": of one pod, smallest units}]. `conditions`: {type:
    {"status": true|false|null, "reason", "message", "since"}}. `status`: what else Kueue says of it
    (jobs/ledger/observed.py). Gone between `gone_after` and `gone_before`, equal when known; `gone_version` is the
    list's resourceVersion that told.
    """

    cluster = models.ForeignKey(Cluster, models.PROTECT, related_name="workloads")
    uid = models.CharField(max_length=64)
    namespace = models.CharField(max_length=253)
    name = models.CharField(max_length=253)
    resource_version = models.BigIntegerField()
    created_at = models.DateTimeField()
    queue_name = models.CharField(max_length=253)
    queued_at = models.DateTimeField()
    is_queued = models.BooleanField()
    is_preempting = models.BooleanField()
    priority = models.BigIntegerField()
    priority_class = models.CharField(max_length=253)
    owner_kind = models.CharField(max_length=100)
    owner_name = models.CharField(max_length=253)
    owner_uid = models.CharField(max_length=64)
    job_uid = models.CharField(max_length=64)
    submitted_by = models.CharField(max_length=150, null=True)  # noqa: DJ001 (unknown is not empty)
    submitted_by_source = models.CharField(max_length=20, blank=True, db_default="")
    state = models.CharField(max_length=12, choices=JobState)
    since = models.DateTimeField(null=True)
    gpus = models.BigIntegerField()
    labels = models.JSONField(default=dict)
    pod_sets = models.JSONField(default=list)
    conditions = models.JSONField(default=dict)
    status = models.JSONField(default=dict)
    finished_at = models.DateTimeField(null=True)
    first_seen_at = models.DateTimeField()
    gone_after = models.DateTimeField(null=True)
    gone_before = models.DateTimeField(null=True)
    gone_version = models.BigIntegerField(null=True)

    objects = WorkloadQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cluster", "uid"], name="workload_key", opclasses=_BY_PREFIX),
            models.CheckConstraint(
                condition=Q(gone_before__isnull=True, gone_after__isnull=True)
                | Q(gone_before__gte=models.F("gone_after")),
                name="workload_gone_interval",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["cluster", "namespace", "state", "-created_at"], name="workload_by_namespace"),
            models.Index(
                fields=["cluster", "state"], condition=Q(gone_before__isnull=True), name="workload_live_by_state"
            ),
            models.Index(
                fields=["cluster", "priority_class", "state"],
                condition=Q(gone_before__isnull=True),
                name="workload_live_by_class",
            ),
            models.Index(
                fields=["cluster", "namespace", "queue_name"],
                condition=Q(is_queued=True, gone_before__isnull=True),
                name="workload_in_line",
            ),
            models.Index(fields=["cluster", "job_uid"], name="workload_by_job"),
            models.Index(fields=["cluster", "name"], name="workload_by_name", opclasses=_BY_PREFIX),
            models.Index(fields=["cluster", "owner_name"], name="workload_by_owner", opclasses=_BY_PREFIX),
            models.Index(fields=_LISTED, name="workload_by_since"),
            # The cluster last: first, SQLite would take this index for whatever asks for one cluster.
            models.Index(Coalesce("finished_at", "gone_before"), "cluster", name="workload_by_end"),
            models.Index(fields=["state", "-since", "id"], name="workload_by_state"),
        ]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    def get_absolute_url(self) -> str:
        return reverse("workload", args=[self.cluster.slug, self.uid])

    @property
    def title(self) -> str:
        """What people call it: the job's name, or the Workload's own."""
        return self.owner_name or self.name

    @property
    def submitter(self) -> str:
        """Whom the job names as the person behind it: on its pod template, or on itself; empty where it names none."""
        return self.status.get("submitted_by") or self.submitted_by or ""

    @property
    def is_over(self) -> bool:
        return self.state in OVER or self.gone_before is not None

    @property
    def is_back_in_line(self) -> bool:
        """Interrupted, and queued again already."""
        return self.state == JobState.INTERRUPTED and self.is_queued

    def condition(self, kind: str) -> dict[str, Any]:
        return self.conditions.get(kind) or {}
