"""Over which namespaces a list goes: of one team, of one person's teams, or of everything."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Q

from accounts.models import User
from jobs.lists.addresses import NONE
from teams.models import Cluster, NamespaceBinding
from teams.permissions import Permission
from teams.roles import roles_of

Namespaces = Mapping[int, Collection[str]]
"""By cluster key."""
Owners = Mapping[tuple[int, str], "Owner"]
"""By cluster key and namespace."""


class Owner(NamedTuple):
    """The team of a namespace."""

    slug: str
    name: str


@dataclass(frozen=True, slots=True)
class Reach:
    """What a list is over: one team's namespaces, or all workloads. `owners`: of all namespaces in the second case.
    `hidden`: clusters of which nothing is shown."""

    clusters: tuple[Cluster, ...]
    hidden: tuple[int, ...]
    owners: Owners
    is_everything: bool

    @property
    def teams(self) -> list[Owner]:
        """In the order of their slugs."""
        return sorted(set(self.owners.values()))

    def namespaces(self, team: str = "") -> Namespaces:
        """Those of one team by its slug, or of all that are known."""
        found: dict[int, set[str]] = defaultdict(set)
        for (cluster, namespace), owner in self.owners.items():
            if team in ("", owner.slug):
                found[cluster].add(namespace)
        return found


def reach_of_team(slug: str) -> Reach:
    """Where the team has namespaces now."""
    return _reach_of(_bindings().filter(team__slug=slug))


def reach_of_person(user: User) -> Reach:
    """Where the person's teams have namespaces now, or everything for a platform role."""
    roles = roles_of(user)
    if roles.everywhere(Permission.SEE_TEAM):
        return reach_of_all()
    return _reach_of(_bindings().filter(team__in=roles.team_ids(Permission.SEE_TEAM)))


def _reach_of(bindings: Any) -> Reach:
    bound = list(bindings.select_related("cluster", "team"))
    clusters = {binding.cluster for binding in bound}
    owners = {(each.cluster_id, each.namespace): Owner(each.team.slug, each.team.name) for each in bound}
    return Reach(tuple(sorted(clusters, key=lambda c: c.slug)), (), owners, is_everything=False)


def reach_of_all() -> Reach:
    """Every active cluster, also what no team owns there."""
    clusters = list(Cluster.objects.all())
    active = tuple(cluster for cluster in clusters if cluster.archived_at is None)
    archived = tuple(cluster.pk for cluster in clusters if cluster.archived_at is not None)
    rows = _bindings().values_list("cluster_id", "namespace", "team__slug", "team__name")
    owners = {(cluster, namespace): Owner(slug, name) for cluster, namespace, slug, name in rows}
    return Reach(active, archived, owners, is_everything=True)


def _bindings() -> Any:
    return NamespaceBinding.objects.current().filter(cluster__archived_at__isnull=True)


def of_team(reach: Reach, team: str) -> Q:
    """For rows with a cluster and a namespace: those of one team, or those that no team owns (NONE)."""
    return ~in_namespaces(reach.namespaces()) if team == NONE else in_namespaces(reach.namespaces(team))


def in_namespaces(namespaces: Namespaces) -> Q:
    """For rows with a cluster and a namespace."""
    found = Q(pk__in=[])
    for cluster, names in namespaces.items():
        found |= Q(cluster=cluster, namespace__in=names)
    return found
