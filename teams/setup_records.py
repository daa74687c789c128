"""What a set-up file says, as checked records."""

from dataclasses import dataclass

from teams.permissions import CostCentreRole, GlobalRole, TeamRole


@dataclass(frozen=True, slots=True)
class TerminalSetup:
    """How people reach the cluster from a terminal of theirs."""

    account: str
    eks_cluster: str
    region: str
    sso_start_url: str
    sso_region: str
    studio_url: str
    grafana_url: str


@dataclass(frozen=True, slots=True)
class ClusterSetup:
    slug: str
    name: str
    time_zone: str
    access: str
    kubeconfig_path: str
    kubeconfig_context: str
    eks_cluster: str
    eks_region: str
    names_across_teams: bool
    terminal: TerminalSetup | None = None


@dataclass(frozen=True, slots=True)
class CostCentreSetup:
    """`groups` are (identity provider, value, role) of its owners, None if the file says nothing of them."""

    code: str
    name: str
    groups: tuple[tuple[str, str, CostCentreRole], ...] | None = None


@dataclass(frozen=True, slots=True)
class PersonSetup:
    username: str
    name: str
    email: str


@dataclass(frozen=True, slots=True)
class ProviderSetup:
    """`metadata` is pasted XML; without it, and without a `kind`, the file leaves what is there. `identity_store` is
    the id of the directory that is read, empty if none is."""

    slug: str
    name: str
    metadata_url: str
    metadata: str
    groups_attribute: str
    signs_response: bool
    enabled: bool
    kind: str = ""
    identity_store: str = ""
    identity_store_region: str = ""


@dataclass(frozen=True, slots=True)
class TeamSetup:
    """`namespaces` are (cluster, namespace); `members` are (username, role). `checkpoint_minutes`: how often the
    team's jobs save their work where they do not say so; None if nobody knows. `permission_sets` are (cluster, name);
    `groups` are (identity provider, value, role), None if the file says nothing of them."""

    slug: str
    name: str
    cost_centre: str
    namespaces: tuple[tuple[str, str], ...]
    members: tuple[tuple[str, TeamRole], ...]
    checkpoint_minutes: int | None = None
    permission_sets: tuple[tuple[str, str], ...] = ()
    groups: tuple[tuple[str, str, TeamRole], ...] | None = None


@dataclass(frozen=True, slots=True)
class Setup:
    """`platform_roles` are (username, role); `platform_groups` are (identity provider,
    value, role), None if the file says nothing of them."""

    clusters: tuple[ClusterSetup, ...]
    cost_centres: tuple[CostCentreSetup, ...]
    people: tuple[PersonSetup, ...]
    teams: tuple[TeamSetup, ...]
    platform_roles: tuple[tuple[str, GlobalRole], ...]
    providers: tuple[ProviderSetup, ...] = ()
    platform_groups: tuple[tuple[str, str, GlobalRole], ...] | None = None
