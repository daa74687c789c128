from typing import ClassVar

from django.db import models

from accounts.models import User
from teams.models.teams import Team
from teams.permissions import GlobalRole, TeamRole


class Membership(models.Model):
    """One person's role in one team."""

    user = models.ForeignKey(User, models.PROTECT, related_name="memberships")
    team = models.ForeignKey(Team, models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=10, choices=TeamRole)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["user", "team"], name="membership_key")]

    def __str__(self) -> str:
        return f"{self.user_id} is {self.role} of {self.team_id}"


class PlatformRole(models.Model):
    """One person's role over all teams."""

    user = models.ForeignKey(User, models.PROTECT, related_name="platform_roles")
    role = models.CharField(max_length=20, choices=GlobalRole)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["user", "role"], name="platform_role_key")]

    def __str__(self) -> str:
        return f"{self.user_id} is {self.role}"
