"""The file that sets clusters, cost centres, teams, namespaces and members: from YAML to checked records. Pure."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from scheduling.names import TEAM_NAMESPACE_PREFIX
from teams.permissions import CostCentreRole, GlobalRole, TeamRole
from teams.setup_records import (
    ClusterSetup,
    CostCentreSetup,
    PersonSetup,
    ProviderSetup,
    Setup,
    TeamSetup,
    TerminalSetup,
)
from teams.setup_values import BadSetup, Values, content_of

_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_ROOT = {"clusters", "cost_centres", "people", "teams", "platform_roles", "identity_providers", "platform_groups"}
_CLUSTER = {
    "name",
    "time_zone",
    "kubeconfig",
    "context",
    "in_cluster",
    "eks_cluster",
    "eks_region",
    "names_across_teams",
    "terminal",
}
_TERMINAL = {"account", "eks_cluster", "region", "sso_start_url", "sso_region", "studio_url", "grafana_url"}
_ACCOUNT = re.compile(r"[0-9]{12}")
_LONGEST_METADATA = 1_000_000
_TEAM = {
    "name",
    "cost_centre",
    "checkpoint_minutes",
    "hyperpod",
    "namespaces",
    "members",
    "permission_sets",
    "groups",
}
_PERSON = {"name", "email"}
_COST_CENTRE = {"name", "groups"}
_PROVIDER = {
    "name",
    "kind",
    "metadata_url",
    "metadata",
    "groups_attribute",
    "signs_response",
    "enabled",
    "identity_store",
}
_STORE = {"id", "region"}
_KINDS = {"", "identity_center", "entra", "other"}


def read_setup(text: str) -> Setup:
    """Raises BadSetup with every problem found."""
    content = content_of(text)
    reader = _Reader()
    setup = reader.setup(reader.mapping(content, "the file", _ROOT))
    if reader.problems:
        raise BadSetup(reader.problems)
    return setup


class _Reader(Values):
    """One method for each kind of record."""

    def setup(self, content: Mapping[str, Any]) -> Setup:
        clusters = tuple(self.cluster(*entry) for entry in self.entries(content, "clusters", _CLUSTER))
        named = self.mapping(content.get("cost_centres"), "cost_centres")
        centres = tuple(self.cost_centre(named, code) for code in named)
        people = tuple(self.person(*entry) for entry in self.entries(content, "people", _PERSON))
        teams = tuple(self.team(*entry) for entry in self.entries(content, "teams", _TEAM))
        roles = tuple(self.platform_roles(self.mapping(content.get("platform_roles"), "platform_roles")))
        self.check_owners(teams)
        providers = tuple(self.provider(*entry) for entry in self.entries(content, "identity_providers", _PROVIDER))
        groups = tuple(self.groups(content, "platform_groups", GlobalRole)) if "platform_groups" in content else None
        return Setup(clusters, centres, people, teams, roles, providers, groups)

    def cluster(self, slug: str, entry: Mapping[str, Any]) -> ClusterSetup:
        place = f"clusters/{slug}"
        self.truth(entry, "in_cluster", place)
        ways = [way for way in ("kubeconfig", "in_cluster", "eks_cluster") if entry.get(way)]
        if len(ways) != 1:
            self.problems.append(f"{place} needs exactly one of kubeconfig, in_cluster: true, eks_cluster.")
        return ClusterSetup(
            slug=self.slug(slug, "clusters"),
            name=self.text(entry, "name", place, longest=100, default=slug),
            time_zone=self.time_zone(self.text(entry, "time_zone", place, longest=60, default="UTC"), place),
            access={"eks_cluster": "eks"}.get(ways[0], ways[0]) if ways else "",
            kubeconfig_path=os.path.expandvars(self.text(entry, "kubeconfig", place, longest=500)),
            kubeconfig_context=self.text(entry, "context", place, longest=200),
            eks_cluster=self.text(entry, "eks_cluster", place, longest=100),
            eks_region=self.text(entry, "eks_region", place, longest=40),
            names_across_teams=self.truth(entry, "names_across_teams", place),
            terminal=self.terminal(entry, f"{place}/terminal") if entry.get("terminal") is not None else None,
        )

    def terminal(self, cluster: Mapping[str, Any], place: str) -> TerminalSetup:
        """The EKS name and region are those by which the portal reads the cluster, where it does."""
        entry = self.mapping(cluster["terminal"], place, _TERMINAL)
        account = self.text(entry, "account", place, longest=12)
        if not _ACCOUNT.fullmatch(account):
            self.problems.append(f"{place}/account must be the 12 digits of an AWS account, in quotes.")
        region = self.word(entry, "region", place, longest=40, default=str(cluster.get("eks_region") or ""))
        eks_cluster = str(cluster.get("eks_cluster") or "")
        return TerminalSetup(
            account=account,
            eks_cluster=self.word(entry, "eks_cluster", place, longest=100, default=eks_cluster),
            region=region,
            sso_start_url=self.address(entry, "sso_start_url", place, longest=300, needed=True),
            sso_region=self.word(entry, "sso_region", place, longest=40, default=region),
            studio_url=self.address(entry, "studio_url", place, longest=500),
            grafana_url=self.address(entry, "grafana_url", place, longest=500),
        )

    def cost_centre(self, named: Mapping[str, Any], code: str) -> CostCentreSetup:
        """Its name alone, or a mapping."""
        place = f"cost_centres/{code}"
        if not isinstance(named[code], dict):
            name = self.text(named, code, "cost_centres", longest=100, default=code)
            return CostCentreSetup(self.slug(code, "cost_centres"), name)
        entry = self.mapping(named[code], place, _COST_CENTRE)
        return CostCentreSetup(
            code=self.slug(code, "cost_centres"),
            name=self.text(entry, "name", place, longest=100, default=code),
            groups=tuple(self.groups(entry, "groups", CostCentreRole)) if "groups" in entry else None,
        )

    def person(self, username: str, entry: Mapping[str, Any]) -> PersonSetup:
        place = f"people/{username}"
        if not username or username != username.strip():
            self.problems.append(f"people: {username!r} must be a name without spaces around it.")
        return PersonSetup(
            self.short(username, f"people: {username!r}", 150),
            self.text(entry, "name", place, longest=200, default=username),
            self.text(entry, "email", place, longest=254),
        )

    def provider(self, slug: str, entry: Mapping[str, Any]) -> ProviderSetup:
        place = f"identity_providers/{slug}"
        metadata = entry.get("metadata", "")
        if not isinstance(metadata, str) or len(metadata) > _LONGEST_METADATA:
            self.problems.append(f"{place}/metadata must be text of at most {_LONGEST_METADATA} characters.")
            metadata = ""
        kind = self.text(entry, "kind", place, longest=20)
        if kind not in _KINDS:
            self.problems.append(f"{place}/kind must be one of identity_center, entra, other.")
        store = self.mapping(entry.get("identity_store"), f"{place}/identity_store", _STORE)
        return ProviderSetup(
            slug=self.slug(slug, "identity_providers"),
            name=self.text(entry, "name", place, longest=100, default=slug),
            metadata_url=self.text(entry, "metadata_url", place, longest=500),
            metadata=metadata.strip(),
            groups_attribute=self.text(entry, "groups_attribute", place, longest=200, default="groups"),
            signs_response=self.truth(entry, "signs_response", place, default=True),
            enabled=self.truth(entry, "enabled", place),
            kind=kind,
            identity_store=self.word(store, "id", f"{place}/identity_store", longest=40) if store else "",
            identity_store_region=self.word(store, "region", f"{place}/identity_store", longest=40) if store else "",
        )

    def groups(self, entry: Mapping[str, Any], name: str, roles: type[Any]) -> Iterator[tuple[str, str, Any]]:
        """By identity provider: the role by group value."""
        for provider, given in self.mapping(entry.get(name), name).items():
            for value, role in self.mapping(given, f"{name}/{provider}").items():
                if role in roles.values:
                    yield provider, self.short(value, f"{name}/{provider}: {value!r}", 200), roles(role)
                else:
                    self.problems.append(
                        f"{name}/{provider}/{value}: the role must be one of {', '.join(roles.values)}."
                    )

    def team(self, slug: str, entry: Mapping[str, Any]) -> TeamSetup:
        place = f"teams/{slug}"
        return TeamSetup(
            slug=self.slug(slug, "teams"),
            name=self.text(entry, "name", place, longest=100, default=slug),
            cost_centre=self.text(entry, "cost_centre", place, longest=50),
            namespaces=tuple(self.namespaces(slug, entry, place)),
            members=tuple(self.members(self.mapping(entry.get("members"), f"{place}/members"), place)),
            checkpoint_minutes=self.minutes(entry, "checkpoint_minutes", place),
            permission_sets=tuple(self.permission_sets(entry, f"{place}/permission_sets")),
            groups=tuple(self.groups(entry, "groups", TeamRole)) if "groups" in entry else None,
        )

    def permission_sets(self, entry: Mapping[str, Any], place: str) -> Iterator[tuple[str, str]]:
        names = self.mapping(entry.get("permission_sets"), place)
        for cluster in names:
            yield cluster, self.word(names, cluster, place, longest=32)

    def namespaces(self, slug: str, entry: Mapping[str, Any], place: str) -> Iterator[tuple[str, str]]:
        for cluster in self.names(entry.get("hyperpod", []), f"{place}/hyperpod"):
            yield cluster, f"{TEAM_NAMESPACE_PREFIX}{slug}"
        listed = self.mapping(entry.get("namespaces"), f"{place}/namespaces")
        for cluster, namespaces in listed.items():
            for namespace in self.names(namespaces, f"{place}/namespaces/{cluster}"):
                if not _NAMESPACE.fullmatch(namespace):
                    self.problems.append(f"{place}/namespaces/{cluster}: {namespace!r} is not a name of a namespace.")
                yield cluster, namespace

    def members(self, roles: Mapping[str, Any], place: str) -> Iterator[tuple[str, TeamRole]]:
        for username, role in roles.items():
            if role in TeamRole.values:
                yield username, TeamRole(role)
            else:
                self.problems.append(
                    f"{place}/members/{username}: the role must be one of {', '.join(TeamRole.values)}."
                )

    def platform_roles(self, roles: Mapping[str, Any]) -> Iterator[tuple[str, GlobalRole]]:
        for role, usernames in roles.items():
            if role not in GlobalRole.values:
                self.problems.append(f"platform_roles/{role}: the role must be one of {', '.join(GlobalRole.values)}.")
                continue
            for username in self.names(usernames, f"platform_roles/{role}"):
                yield username, GlobalRole(role)

    def check_owners(self, teams: tuple[TeamSetup, ...]) -> None:
        owned = Counter(binding for team in teams for binding in set(team.namespaces))
        for (cluster, namespace), count in owned.items():
            if count > 1:
                self.problems.append(f"The namespace {namespace} of {cluster} is given to {count} teams.")
