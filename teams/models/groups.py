from typing import ClassVar

from django.db import models
from django.db.models import Q

from accounts.models import IdpGroup
from teams.models.teams import Team
from teams.permissions import GlobalRole, TeamRole


class GroupMapping(models.Model):
    """What a group of an identity provider gives its people: a role in a team, or a role over all."""

    group = models.ForeignKey(IdpGroup, models.CASCADE, related_name="mappings")
    team = models.ForeignKey(Team, models.CASCADE, null=True, related_name="group_mappings")
    role = models.CharField(max_length=20, choices=[*TeamRole.choices, *GlobalRole.choices])

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["group", "team", "role"], name="group_mapping_key"),
            models.UniqueConstraint(
                fields=["group", "role"], condition=Q(team__isnull=True), name="group_mapping_platform_key"
            ),
            models.CheckConstraint(
                condition=Q(team__isnull=False, role__in=TeamRole.values)
                | Q(team__isnull=True, role__in=GlobalRole.values),
                name="group_mapping_role",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role} by {self.group_id}"
