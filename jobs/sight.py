"""Whose names a reader may know beside their own teams': what pages and files say of the preemptor of an eviction."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Q

from accounts.models import User
from jobs.models import Eviction
from teams.models import Cluster
from teams.permissions import Permission
from teams.roles import roles_of


@dataclass(frozen=True, slots=True)
class Sight:
    """`teams`: keys of those the reader may see. `clusters`: keys of those in which all names are shown."""

    everywhere: bool
    teams: frozenset[int]
    clusters: frozenset[int]

    def names_preemptor(self, eviction: Eviction) -> bool:
        """Whether the reader may know for whom the workload had to go."""
        return self.everywhere or eviction.cluster_id in self.clusters or eviction.preemptor_team_id in self.teams

    @property
    def named(self) -> Q:
        """Evictions whose preemptor's team the reader may know."""
        known = Q(preemptor_team__isnull=False)
        return known if self.everywhere else known & (Q(preemptor_team__in=self.teams) | Q(cluster__in=self.clusters))


def sight_of(user: User, clusters: Iterable[Cluster]) -> Sight:
    """In these clusters."""
    roles = roles_of(user)
    return Sight(
        roles.everywhere(Permission.SEE_PLATFORM),
        frozenset(roles.team_ids(Permission.SEE_TEAM)),
        frozenset(cluster.pk for cluster in clusters if cluster.names_across_teams),
    )
