from typing import ClassVar

from django.db import models

from teams.models.clusters import Cluster
from teams.models.teams import Team


class Terminal(models.Model):
    """How people reach a cluster from a terminal of theirs: its account and EKS name, where they sign in to AWS, and
    where its Studio and its dashboards are. All of it is set by the set-up file; empty texts are unknown."""

    cluster = models.OneToOneField(Cluster, models.CASCADE, related_name="terminal")
    account = models.CharField(max_length=12)
    eks_cluster = models.CharField(max_length=100)
    region = models.CharField(max_length=40)
    sso_start_url = models.CharField(max_length=300)
    sso_region = models.CharField(max_length=40)
    studio_url = models.CharField(max_length=500, blank=True)
    grafana_url = models.CharField(max_length=500, blank=True)

    def __str__(self) -> str:
        return f"{self.eks_cluster} in {self.region}"


class PermissionSet(models.Model):
    """The permission set of IAM Identity Center with which a team's people reach a cluster."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="permission_sets")
    cluster = models.ForeignKey(Cluster, models.CASCADE, related_name="permission_sets")
    name = models.CharField(max_length=32)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["team", "cluster"], name="permission_set_key")]

    def __str__(self) -> str:
        return self.name
