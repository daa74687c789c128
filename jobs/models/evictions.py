from collections import defaultdict
from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from jobs.models.spans import Span
from jobs.models.workloads import Workload
from jobs.rules.loops import Loop
from jobs.rules.lost_work import Basis, Work
from teams.models import Cluster, Team

_LISTED = (
    "cluster", "namespace", "-decided_before", "-id", "reason", "preemption", "priority_class", "preemptor_team",
    "workload", "flavor", "gpus", "lost_low", "lost_expected", "lost_high", "stopping",
)  # fmt: skip
"""All that lists filter, sort and add up by: no row, of which most is JSON and text, is read to be counted."""


class Source(models.TextChoices):
    """Who says how often a job saves its work."""

    JOB = "job", _("the job")
    TEAM = "team", _("the team's default")


class Eviction(models.Model):
    """One eviction of a workload, as it was: `reason` and `cause` as Kueue's counters spell them, `ordinal` the
    counter's value (our own count where Kueue counts none).

    Decided between `decided_after` and `decided_before`, equal where the decision itself was seen (`observed`) or an
    event tells of it (`is_dated`); else only a counter moved. `span` is the hold that it ended, None where that was not
    seen or there was none. `preemption` is Preempted's own reason. What is known of the preemptor was so at that time:
    its objects go. `lacking` is how many accelerators that one was short of, `gpus` how many the victim gave up;
    `priority` and `priority_class` are the victim's.

    `owner_told` is what the job's own object said of its checkpoints a short while after (jobs/sync/owners.py), None
    where nobody asked it.

    The loss is in GPU-seconds, None where it is not known; `lost_since` is when the first of that work was done, at the
    earliest, None where there is none; `stopping` is what was held after the decision, at most, and
    None until the quota came back. `by_flavor`: {flavor: [GPUs, low, expected, high, stopping]}; `flavor` is the only
    one of it, empty where there is none, None where there are several. All of it is made of the other columns and the
    span (jobs/ledger/eviction_losses.py).
    """

    cluster = models.ForeignKey(Cluster, models.PROTECT, related_name="evictions")
    namespace = models.CharField(max_length=253)
    workload = models.ForeignKey(Workload, models.CASCADE, related_name="evictions")
    span = models.ForeignKey(Span, models.CASCADE, related_name="evictions", null=True)
    reason = models.CharField(max_length=316)
    cause = models.CharField(max_length=316, blank=True)
    ordinal = models.BigIntegerField()
    observed = models.BooleanField()
    decided_after = models.DateTimeField()
    decided_before = models.DateTimeField()
    message = models.TextField(blank=True)
    priority = models.BigIntegerField()
    priority_class = models.CharField(max_length=253, blank=True)

    preemption = models.CharField(max_length=316, blank=True)
    preemptor = models.ForeignKey(Workload, models.SET_NULL, related_name="evicted_others", null=True)
    preemptor_uid = models.CharField(max_length=64, blank=True)
    preemptor_job_uid = models.CharField(max_length=64, blank=True)
    preemptor_team = models.ForeignKey(Team, models.PROTECT, related_name="evicted_others", null=True)
    preemptor_queue = models.CharField(max_length=253, blank=True)
    preemptor_priority = models.BigIntegerField(null=True)
    preemptor_priority_class = models.CharField(max_length=253, blank=True)
    lacking = models.BigIntegerField(null=True)
    preemptor_path = models.JSONField(default=list)
    preemptee_path = models.JSONField(default=list)

    work = models.CharField(max_length=10, choices=Work)
    checkpoint_seconds = models.BigIntegerField(null=True)
    checkpoint_source = models.CharField(max_length=10, choices=Source, blank=True)
    checkpoint_at = models.DateTimeField(null=True)
    owner_told = models.JSONField(null=True)
    basis = models.CharField(max_length=12, choices=Basis, default=Basis.UNKNOWN)
    gpus = models.BigIntegerField(default=0)
    lost_low = models.BigIntegerField(null=True)
    lost_expected = models.BigIntegerField(null=True)
    lost_high = models.BigIntegerField(null=True)
    lost_since = models.DateTimeField(null=True)
    stopping = models.BigIntegerField(null=True)
    by_flavor = models.JSONField(default=dict)
    flavor = models.CharField(max_length=253, null=True, default="")  # noqa: DJ001 (several are not none)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workload", "reason", "cause", "ordinal"], name="eviction_key"),
            models.CheckConstraint(
                condition=Q(decided_before__gte=F("decided_after")), name="eviction_decided_interval"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=_LISTED, name="eviction_listed"),
            models.Index(fields=["cluster", "decided_before"], name="eviction_by_decision"),
            models.Index(fields=["workload", "decided_before", "decided_after"], name="eviction_by_workload"),
            models.Index(fields=["preemptor_uid"], condition=~Q(preemptor_uid=""), name="eviction_by_preemptor"),
        ]

    def __str__(self) -> str:
        return f"{self.reason} {self.ordinal} of {self.workload_id}"

    @property
    def is_dated(self) -> bool:
        """Whether it is known when it was decided."""
        return self.decided_after == self.decided_before


class EvictionLoopQuerySet(models.QuerySet["EvictionLoop"]):
    def by_workload(self) -> dict[int, list[Loop]]:
        """By the workload's key, in order."""
        found: dict[int, list[Loop]] = defaultdict(list)
        rows = self.order_by("workload", "began").values_list("workload", "size", "latest", "began")
        for workload, size, latest, began in rows:
            found[workload].append(Loop(size, latest, began))
        return found


class EvictionLoop(models.Model):
    """A loop of one workload's evictions (jobs/rules/loops.py): how many there are, and when the first and the latest
    were decided at the latest. Made of the workload's other rows (jobs/ledger/eviction_loops.py)."""

    workload = models.ForeignKey(Workload, models.CASCADE, related_name="eviction_loops")
    size = models.BigIntegerField()
    began = models.DateTimeField()
    latest = models.DateTimeField()

    objects = EvictionLoopQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["workload", "began"], name="eviction_loop_key")]
        indexes: ClassVar = [models.Index(fields=["latest"], name="eviction_loop_by_latest")]

    def __str__(self) -> str:
        return f"{self.size} evictions of {self.workload_id} until {self.latest:%Y-%m-%d %H:%M:%S}"
