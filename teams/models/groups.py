from typing import ClassVar

from django.db import models
from django.db.models import Count, Exists, OuterRef, Q

from accounts.models import IdpGroup, IdpMembership
from teams.models.teams import Team
from teams.permissions import GlobalRole, TeamRole


class GroupMappingQuerySet(models.QuerySet["GroupMapping"]):
    def without_people(self) -> "GroupMappingQuerySet":
        """Of groups that nobody was ever in, or that everybody has left: gone at the provider, or misspelt."""
        return self.filter(~Exists(IdpMembership.objects.filter(group=OuterRef("group"))))


class GroupMapping(models.Model):
    """What a group of an identity provider gives its people: a role in a team, or a role over all."""

    group = models.ForeignKey(IdpGroup, models.CASCADE, related_name="mappings")
    team = models.ForeignKey(Team, models.CASCADE, null=True, related_name="group_mappings")
    role = models.CharField(max_length=20, choices=[*TeamRole.choices, *GlobalRole.choices])

    objects = GroupMappingQuerySet.as_manager()

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


def groups_of_nothing() -> models.QuerySet[IdpGroup]:
    """Groups that people are in and that give nothing, with `people`: how many. The largest first."""
    unmapped = IdpGroup.objects.filter(~Exists(GroupMapping.objects.filter(group=OuterRef("pk"))))
    counted = unmapped.annotate(people=Count("memberships")).filter(people__gt=0)
    return counted.select_related("provider").order_by("-people", "provider__slug", "value")
