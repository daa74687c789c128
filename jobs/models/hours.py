"""Usage by UTC hour: sums over the ledger, exact, in the resource's smallest unit times microseconds.

Accelerators only. Hours of nothing are left out if they were seen whole. `unknown`: microseconds of the hour in which
the portal did not see everything; what it counts is then what surely was. `lost`: what evictions threw away of the work
that was done in the hour, at least, expected and at most. Rolled up again, hours are equal.
"""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from teams.models import Cluster, Team


class ClosedHours(models.Model):
    """The hours of a cluster that are rolled up: from the one of `begun_at`, the first complete read, to `until`."""

    cluster = models.OneToOneField(Cluster, models.PROTECT, related_name="closed_hours")
    begun_at = models.DateTimeField()
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"hours of {self.cluster_id} until {self.until:%Y-%m-%d %H:%M}"


class ReopenedHours(models.Model):
    """Closed hours that a late fact touched: to be rolled up again."""

    cluster = models.ForeignKey(Cluster, models.PROTECT, related_name="reopened_hours")
    start = models.DateTimeField()
    end = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [models.CheckConstraint(condition=Q(end__gt=F("start")), name="reopened_ends_later")]

    def __str__(self) -> str:
        return f"hours of {self.cluster_id} from {self.start:%Y-%m-%d %H:%M} to {self.end:%Y-%m-%d %H:%M}"


class QueueHour(models.Model):
    """What one (ClusterQueue, flavor, resource) was guaranteed, what it used and borrowed, and between which bounds it
    lent."""

    cluster = models.ForeignKey(Cluster, models.PROTECT, related_name="queue_hours")
    hour = models.DateTimeField()
    cluster_queue = models.CharField(max_length=253)
    flavor = models.CharField(max_length=253)
    resource = models.CharField(max_length=317)
    guaranteed = models.BigIntegerField()
    used = models.BigIntegerField()
    borrowed = models.BigIntegerField()
    lent_low = models.BigIntegerField()
    lent_high = models.BigIntegerField()
    unknown = models.BigIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cluster", "cluster_queue", "flavor", "resource", "hour"], name="queue_hour_key"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["cluster", "hour"], name="queue_hour_by_time")]

    def __str__(self) -> str:
        return f"{self.cluster_queue} {self.flavor} {self.resource} at {self.hour:%Y-%m-%d %H:%M}"


class TeamHour(models.Model):
    """What one team's workloads held of one (ClusterQueue, flavor, resource), and what of it was lost; without a team,
    what no team owned. `lost_unknown` counts evictions that were decided in the hour at the latest and of which nobody
    knows what they cost. Where nobody saw the hold that an eviction ended, the flavor of its loss is empty, and the
    queue is the one that the LocalQueue led to, empty where it led nowhere."""

    team = models.ForeignKey(Team, models.PROTECT, related_name="hours", null=True)
    cluster = models.ForeignKey(Cluster, models.PROTECT, related_name="team_hours")
    hour = models.DateTimeField()
    cluster_queue = models.CharField(max_length=253, blank=True)
    flavor = models.CharField(max_length=253, blank=True)
    resource = models.CharField(max_length=317)
    own = models.BigIntegerField()
    borrowed = models.BigIntegerField()
    unknown = models.BigIntegerField()
    lost_low = models.BigIntegerField()
    lost_expected = models.BigIntegerField()
    lost_high = models.BigIntegerField()
    lost_unknown = models.BigIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["team", "cluster", "cluster_queue", "flavor", "resource", "hour"], name="team_hour_key"
            ),
            models.UniqueConstraint(
                fields=["cluster", "cluster_queue", "flavor", "resource", "hour"],
                condition=Q(team__isnull=True),
                name="team_hour_of_nobody",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["cluster", "hour"], name="team_hour_by_time")]

    def __str__(self) -> str:
        return f"{self.team_id} in {self.cluster_queue} at {self.hour:%Y-%m-%d %H:%M}"


class PendingHour(models.Model):
    """What one team's workloads waited for in one ClusterQueue: the flavor is not known before they get it. The queue
    is empty where their LocalQueue led nowhere."""

    team = models.ForeignKey(Team, models.PROTECT, related_name="pending_hours", null=True)
    cluster = models.ForeignKey(Cluster, models.PROTECT, related_name="pending_hours")
    hour = models.DateTimeField()
    cluster_queue = models.CharField(max_length=253, blank=True)
    resource = models.CharField(max_length=317)
    waiting = models.BigIntegerField()
    unknown = models.BigIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["team", "cluster", "cluster_queue", "resource", "hour"], name="pending_hour_key"
            ),
            models.UniqueConstraint(
                fields=["cluster", "cluster_queue", "resource", "hour"],
                condition=Q(team__isnull=True),
                name="pending_hour_of_nobody",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["cluster", "hour"], name="pending_hour_by_time")]

    def __str__(self) -> str:
        return f"{self.team_id} waiting in {self.cluster_queue} at {self.hour:%Y-%m-%d %H:%M}"
