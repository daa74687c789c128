from typing import ClassVar

from django.db import models
from django.db.models import Count, Exists, OuterRef, Q

from accounts.models import IdpGroup, ScimGroup
from teams.models.teams import CostCentre, Team
from teams.permissions import CostCentreRole, GlobalRole, TeamRole


class GroupMappingQuerySet(models.QuerySet["GroupMapping"]):
    def counted(self) -> "GroupMappingQuerySet":
        """With `people`: how many are in the group, and `is_unknown_there`: its provider tells of its groups, and not
        of this one. Those first in which nobody ever was or all have left: the group is gone at the provider, or
        misspelt."""
        told = ScimGroup.objects.filter(provider=OuterRef("group__provider"))
        is_unknown = Exists(told) & ~Exists(told.filter(group=OuterRef("group")))
        counted = self.annotate(people=Count("group__memberships"), is_unknown_there=is_unknown)
        return counted.order_by("people", "group__provider__slug", "group__value", "pk")


class GroupMapping(models.Model):
    """What a group of an identity provider gives its people: a role in a team, a cost centre to own, or a role over
    all."""

    group = models.ForeignKey(IdpGroup, models.CASCADE, related_name="mappings")
    team = models.ForeignKey(Team, models.CASCADE, null=True, related_name="group_mappings")
    cost_centre = models.ForeignKey(CostCentre, models.CASCADE, null=True, related_name="group_mappings")
    role = models.CharField(max_length=20, choices=[*TeamRole.choices, *CostCentreRole.choices, *GlobalRole.choices])

    objects = GroupMappingQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["group", "team", "role"], name="group_mapping_key"),
            models.UniqueConstraint(fields=["group", "cost_centre"], name="group_mapping_cost_centre_key"),
            models.UniqueConstraint(
                fields=["group", "role"],
                condition=Q(team__isnull=True, cost_centre__isnull=True),
                name="group_mapping_platform_key",
            ),
            models.CheckConstraint(
                condition=Q(team__isnull=False, cost_centre__isnull=True, role__in=TeamRole.values)
                | Q(team__isnull=True, cost_centre__isnull=False, role__in=CostCentreRole.values)
                | Q(team__isnull=True, cost_centre__isnull=True, role__in=GlobalRole.values),
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
