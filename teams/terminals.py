"""Reads a team's ways to its clusters: only where it has a namespace and a permission set."""

from collections import defaultdict

from teams.models import NamespaceBinding, PermissionSet, Team, Terminal
from teams.terminal_text import Place


def terminals_of(team: Team) -> list[tuple[Terminal, Place]]:
    """In the order of the clusters. Three queries."""
    namespaces: dict[int, list[str]] = defaultdict(list)
    bound = NamespaceBinding.objects.current().filter(team=team, cluster__archived_at__isnull=True)
    for cluster, namespace in bound.order_by("namespace").values_list("cluster_id", "namespace"):
        namespaces[cluster].append(namespace)
    sets = dict(PermissionSet.objects.filter(team=team).values_list("cluster_id", "name"))
    reached = Terminal.objects.filter(cluster__in=namespaces.keys() & sets.keys()).select_related("cluster")
    return [
        (terminal, _place(team, terminal, sets[terminal.cluster_id], tuple(namespaces[terminal.cluster_id])))
        for terminal in reached.order_by("cluster__slug")
    ]


def place_of(team: Team, cluster: str) -> tuple[Terminal, Place] | None:
    """The way to one cluster, by its slug."""
    return next((found for found in terminals_of(team) if found[0].cluster.slug == cluster), None)


def _place(team: Team, terminal: Terminal, permission_set: str, namespaces: tuple[str, ...]) -> Place:
    return Place(
        session=f"{terminal.cluster.slug}-sso",
        profile=f"{team.slug}-{terminal.cluster.slug}",
        account=terminal.account,
        permission_set=permission_set,
        sso_start_url=terminal.sso_start_url,
        sso_region=terminal.sso_region,
        eks_cluster=terminal.eks_cluster,
        region=terminal.region,
        namespaces=namespaces,
    )
