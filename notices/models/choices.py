from datetime import time
from typing import ClassVar

from django.db import models
from django.db.models import Q

from accounts.models import User
from notices.kinds import How, Kind
from teams.models import Team


class Choice(models.Model):
    """How one person hears of one kind, where that is not the usual way."""

    user = models.ForeignKey(User, models.PROTECT, related_name="notice_choices")
    kind = models.CharField(max_length=16, choices=Kind)
    how = models.CharField(max_length=10, choices=How)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["user", "kind"], name="choice_key")]

    def __str__(self) -> str:
        return f"{self.user_id} hears of {self.kind} {self.how}"


class Habits(models.Model):
    """When a person may be disturbed, by the clock of their own zone: not between `quiet_from` and `quiet_to` (past
    midnight where the first is later; both None: always), and when the day's digest comes. `language`: of the texts
    that are sent. `wait_hours`, `loss_gpu_hours`: limits of theirs, for one job's waiting and for what one team loses
    in a week in one cluster; None: none."""

    user = models.OneToOneField(User, models.PROTECT, related_name="habits")
    language = models.CharField(max_length=10)
    quiet_from = models.TimeField(null=True)
    quiet_to = models.TimeField(null=True)
    digest_at = models.TimeField(default=time(9))
    wait_hours = models.PositiveIntegerField(null=True)
    loss_gpu_hours = models.PositiveIntegerField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(quiet_from__isnull=True, quiet_to__isnull=True)
                | Q(quiet_from__isnull=False, quiet_to__isnull=False),
                name="habits_quiet_has_both_ends",
            )
        ]

    def __str__(self) -> str:
        return f"habits of {self.user_id}"


class Unfollowed(models.Model):
    """A team of whose jobs a member does not want to hear, unless a job names them."""

    user = models.ForeignKey(User, models.PROTECT, related_name="unfollowed")
    team = models.ForeignKey(Team, models.PROTECT, related_name="unfollowed")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["user", "team"], name="unfollowed_key")]

    def __str__(self) -> str:
        return f"{self.user_id} does not follow {self.team_id}"
