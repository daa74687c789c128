from collections.abc import Iterable
from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from accounts.models import User
from teams.models.clusters import Cluster
from teams.permissions import Permission
from teams.roles import roles_of


class CostCentre(models.Model):
    """Who carries a team's cost. Archived, never deleted."""

    code = models.SlugField(unique=True)
    name = models.CharField(max_length=100)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["code"]

    def __str__(self) -> str:
        return f"{self.code} · {self.name}"


class TeamQuerySet(models.QuerySet["Team"]):
    def active(self) -> "TeamQuerySet":
        return self.filter(archived_at__isnull=True)

    def visible_to(self, user: User, permission: Permission = Permission.SEE_TEAM) -> "TeamQuerySet":
        """Teams in which the person holds the permission, through a team role or a platform role."""
        roles = roles_of(user)
        return self if roles.everywhere(permission) else self.filter(pk__in=roles.team_ids(permission))


class Team(models.Model):
    """A team of the company, in any number of clusters. Archived, never deleted. `checkpoint_seconds`: how often its
    jobs save their work, where they do not say so themselves."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=100)
    cost_centre = models.ForeignKey(CostCentre, models.PROTECT, related_name="teams", null=True, blank=True)
    checkpoint_seconds = models.PositiveIntegerField(null=True, blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    objects = TeamQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["slug"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("team", args=[self.slug])


class NamespaceBindingQuerySet(models.QuerySet["NamespaceBinding"]):
    def current(self) -> "NamespaceBindingQuerySet":
        return self.filter(valid_to__isnull=True)

    def team_ids(self, cluster: Cluster) -> dict[str, int]:
        """The team of each namespace of the cluster, now."""
        return dict(self.current().filter(cluster=cluster).values_list("namespace", "team_id"))


class NamespaceBinding(models.Model):
    """Which team owns a namespace, from when to when."""

    cluster = models.ForeignKey(Cluster, models.PROTECT, related_name="namespace_bindings")
    namespace = models.CharField(max_length=253)
    team = models.ForeignKey(Team, models.PROTECT, related_name="namespace_bindings")
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField(null=True, blank=True)

    objects = NamespaceBindingQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cluster", "namespace"], condition=Q(valid_to__isnull=True), name="namespace_one_owner"
            ),
            models.CheckConstraint(
                condition=Q(valid_to__isnull=True) | Q(valid_to__gt=F("valid_from")), name="binding_ends_after_start"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.namespace} of {self.cluster_id}"


def namespaces_of(teams: Iterable[Team], cluster: Cluster) -> set[str]:
    """Namespaces of the cluster that the teams own now."""
    owned = NamespaceBinding.objects.current().filter(cluster=cluster, team__in=teams)
    return set(owned.values_list("namespace", flat=True))
