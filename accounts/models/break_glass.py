from datetime import datetime
from typing import ClassVar

from django.db import models
from django.db.models import Q

from accounts.models.people import User


class BreakGlassQuerySet(models.QuerySet["BreakGlass"]):
    def in_force(self, now: datetime) -> "BreakGlassQuerySet":
        return self.filter(ended_at__isnull=True, ends_at__gt=now)

    def over(self, now: datetime) -> "BreakGlassQuerySet":
        """Past their time, and nobody ended them."""
        return self.filter(ended_at__isnull=True, ends_at__lte=now)


class BreakGlass(models.Model):
    """A local platform admin for when no identity provider answers, made at a terminal for some hours. Their password,
    of which only the digest is stored, signs in once, at `used_at`."""

    user = models.ForeignKey(User, models.CASCADE, related_name="break_glass")
    reason = models.CharField(max_length=300)
    digest = models.CharField(max_length=64, unique=True)
    made_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar = BreakGlassQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["made_at"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user"], condition=Q(ended_at__isnull=True), name="break_glass_key"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} until {self.ends_at}"
