"""Who shares which cluster, and the dated facts about its queues and nodes."""

from teams.models.clusters import Cluster
from teams.models.groups import GroupMapping, groups_of_nothing
from teams.models.ledger import NodeCapacity, QuotaLine, SpecVersion
from teams.models.people import Membership, PlatformRole
from teams.models.teams import CostCentre, NamespaceBinding, Team, namespaces_of
from teams.models.terminal import PermissionSet, Terminal

__all__ = [
    "Cluster",
    "CostCentre",
    "GroupMapping",
    "Membership",
    "NamespaceBinding",
    "NodeCapacity",
    "PermissionSet",
    "PlatformRole",
    "QuotaLine",
    "SpecVersion",
    "Team",
    "Terminal",
    "groups_of_nothing",
    "namespaces_of",
]
