"""Caches of what holds now. Derived from the ledger in the transaction that changes it; rebuilt they are equal."""

from typing import ClassVar

from django.db import models

from jobs.rules.quota_bar import Amounts
from teams.models import Cluster, Team


class QueueNow(models.Model):
    """One (ClusterQueue, flavor, resource) at present, in the resource's smallest unit.

    `listed`: in the queue's current spec. `lent_*` and `available` are None where they cannot be known (an
    over-committed or cyclic tree). `root` is the tree's topmost cohort, empty outside any.
    """

    cluster = models.ForeignKey(Cluster, models.PROTECT, related_name="queues_now")
    cluster_queue = models.CharField(max_length=253)
    flavor = models.CharField(max_length=253)
    resource = models.CharField(max_length=317)
    cohort = models.CharField(max_length=253, blank=True)
    root = models.CharField(max_length=253, blank=True)
    listed = models.BooleanField()
    nominal = models.BigIntegerField()
    borrowing_limit = models.BigIntegerField(null=True)
    lending_limit = models.BigIntegerField(null=True)
    reservation = models.BigIntegerField()
    usage = models.BigIntegerField()
    borrowed = models.BigIntegerField()
    lendable = models.BigIntegerField(null=True)
    available = models.BigIntegerField(null=True)
    potential = models.BigIntegerField(null=True)
    lent_low = models.BigIntegerField(null=True)
    lent_high = models.BigIntegerField(null=True)
    over_committed = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cluster", "cluster_queue", "flavor", "resource"], name="queue_now_key"),
        ]

    def __str__(self) -> str:
        return f"{self.cluster_queue} {self.flavor} {self.resource}"

    @property
    def own(self) -> int:
        """The part of what is reserved that is the queue's own quota."""
        return self.reservation - self.borrowed

    @property
    def bar_amounts(self) -> Amounts:
        """The row in the quota bar's terms."""
        return Amounts(
            nominal=self.nominal,
            reservation=self.reservation,
            borrowed=self.borrowed,
            borrowing_limit=self.borrowing_limit,
            may_borrow=bool(self.cohort),
            available=self.available,
            lent_low=self.lent_low,
            lent_high=self.lent_high,
        )

    @property
    def at_most(self) -> int | None:
        """What the queue may ever reserve; None without a limit."""
        if not self.cohort:
            return self.nominal
        return None if self.borrowing_limit is None else self.nominal + self.borrowing_limit

    @property
    def left_by_limit(self) -> int | None:
        """How much more it may take, where its own borrowing limit and not what others use is what bounds it; None
        elsewhere."""
        if not self.cohort or self.at_most is None:
            return None
        left = max(0, self.at_most - self.reservation)
        return left if left == self.available else None


class TeamNow(models.Model):
    """What one team's running workloads hold of one (ClusterQueue, flavor, resource), split into own and borrowed."""

    team = models.ForeignKey(Team, models.PROTECT, related_name="now")
    cluster = models.ForeignKey(Cluster, models.PROTECT, related_name="teams_now")
    cluster_queue = models.CharField(max_length=253)
    flavor = models.CharField(max_length=253)
    resource = models.CharField(max_length=317)
    own = models.BigIntegerField()
    borrowed = models.BigIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["team", "cluster", "cluster_queue", "flavor", "resource"], name="team_now_key"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.team_id} in {self.cluster_queue}: {self.own} own, {self.borrowed} borrowed"
