"""Clusters that people reach from a terminal of theirs."""

from teams.models import Cluster, PermissionSet, Team, Terminal


def reach_by_terminal(cluster: Cluster, *teams: str) -> None:
    """The cluster is one of EKS, and each team has a permission set for it named after it."""
    Terminal.objects.create(
        cluster=cluster,
        account="123456789012",
        eks_cluster="hyperpod-one",
        region="us-east-2",
        sso_start_url="https://example.awsapps.com/start",
        sso_region="us-east-1",
    )
    Cluster.objects.filter(pk=cluster.pk).update(api_endpoint="https://one.example.com", api_authority="Q0E=")
    for team in Team.objects.filter(slug__in=teams):
        PermissionSet.objects.create(team=team, cluster=cluster, name=f"{team.slug}-training")
