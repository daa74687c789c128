from typing import ClassVar, Literal, cast

from django.db import models
from django.utils.translation import gettext_lazy as _

from gateways.connections import Connection


class ClusterQuerySet(models.QuerySet["Cluster"]):
    def active(self) -> "ClusterQuerySet":
        return self.filter(archived_at__isnull=True)


class Cluster(models.Model):
    """One EKS cluster and how to reach it. Credentials are never stored here.

    `identity` is the uid of its namespace kube-system, set at the first read; another value stops every sync. Versions
    and the rights that the portal lacks there (sentences) are as of the last pull of `about`, and so are the address
    and the certificate (base64) of its API server, kept where EKS tells them. `specs_version` is another number after
    each change of a spec or of the nodes, drawn by lot: one that was rolled back never recurs.
    """

    class Access(models.TextChoices):
        KUBECONFIG = "kubeconfig", _("a kubeconfig file")
        IN_CLUSTER = "in_cluster", _("from inside a pod of the cluster")
        EKS = "eks", _("by its EKS name")

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=100)
    time_zone = models.CharField(max_length=60, default="UTC")
    access = models.CharField(max_length=12, choices=Access)
    kubeconfig_path = models.CharField(max_length=500, blank=True)
    kubeconfig_context = models.CharField(max_length=200, blank=True)
    eks_cluster = models.CharField(max_length=100, blank=True)
    eks_region = models.CharField(max_length=40, blank=True)
    names_across_teams = models.BooleanField(default=False)
    identity = models.CharField(max_length=64, blank=True)
    kubernetes_version = models.CharField(max_length=50, blank=True)
    kueue_version = models.CharField(max_length=50, blank=True)
    missing_rights = models.JSONField(default=list, blank=True)
    api_endpoint = models.CharField(max_length=500, blank=True)
    api_authority = models.TextField(blank=True)
    specs_version = models.BigIntegerField(default=0)
    archived_at = models.DateTimeField(null=True, blank=True)

    objects = ClusterQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["slug"]

    def __str__(self) -> str:
        return self.name

    @property
    def connection(self) -> Connection:
        return Connection(
            cast(Literal["kubeconfig", "in_cluster", "eks"], self.access),
            self.kubeconfig_path,
            self.kubeconfig_context,
            self.eks_cluster,
            self.eks_region,
        )
