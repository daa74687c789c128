"""The file that sets clusters, cost centres, teams, namespaces and members: from YAML to checked records. Pure."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import yaml

from scheduling.names import TEAM_NAMESPACE_PREFIX
from teams.permissions import GlobalRole, TeamRole

_SLUG = re.compile(r"[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?")
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
_WORD = re.compile(r"[A-Za-z0-9+=,.@_-]+")  # what names of permission sets, clusters and regions are made of
_LONGEST_MINUTES = 30 * 24 * 60
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
_PROVIDER = {"name", "metadata_url", "metadata", "groups_attribute", "signs_response", "enabled", "identity_store"}
_STORE = {"id", "region"}


class BadSetup(ValueError):
    """The file cannot be applied; `problems` are sentences that name the place."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


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
class PersonSetup:
    username: str
    name: str
    email: str


@dataclass(frozen=True, slots=True)
class ProviderSetup:
    """`metadata` is pasted XML; without it the file leaves what is there. `identity_store` is the id of the directory
    that is read, empty if none is."""

    slug: str
    name: str
    metadata_url: str
    metadata: str
    groups_attribute: str
    signs_response: bool
    enabled: bool
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
    """`cost_centres` are (code, name); `platform_roles` are (username, role); `platform_groups` are (identity provider,
    value, role), None if the file says nothing of them."""

    clusters: tuple[ClusterSetup, ...]
    cost_centres: tuple[tuple[str, str], ...]
    people: tuple[PersonSetup, ...]
    teams: tuple[TeamSetup, ...]
    platform_roles: tuple[tuple[str, GlobalRole], ...]
    providers: tuple[ProviderSetup, ...] = ()
    platform_groups: tuple[tuple[str, str, GlobalRole], ...] | None = None


def read_setup(text: str) -> Setup:
    """Raises BadSetup with every problem found."""
    try:
        content = yaml.load(text, _UniqueNames)  # noqa: S506 (a SafeLoader)
    except yaml.YAMLError as error:
        raise BadSetup([f"This is not YAML: {error}"]) from error
    except (ValueError, RecursionError) as error:  # dates and numbers that are none, lists in lists in lists
        raise BadSetup([f"A value in this file cannot be read: {_beginning(error)}."]) from error
    reader = _Reader()
    setup = reader.setup(reader.mapping(content, "the file", _ROOT))
    if reader.problems:
        raise BadSetup(reader.problems)
    return setup


def _beginning(error: Exception) -> str:
    return str(error)[:100].encode("ascii", "replace").decode()


class _UniqueNames(yaml.SafeLoader):
    """Refuses a name that is given twice: the last one would silently stand alone."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in names:
                raise yaml.YAMLError(f"{key.value!r} is given twice, again in line {key.start_mark.line + 1}.")
            names.add(str(key.value))
        return super().construct_mapping(node, deep)


class _Reader:
    """Collects problems instead of stopping at the first."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def mapping(self, value: object, place: str, allowed: set[str] | None = None) -> Mapping[str, Any]:
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.problems.append(f"{place} must be a mapping of names to values.")
            return {}
        unknown = set(map(str, value)) - allowed if allowed else set()
        if unknown:
            self.problems.append(f"{place} has unknown entries: {', '.join(sorted(unknown))}.")
        others = [key for key in value if not isinstance(key, str | int) or isinstance(key, bool)]
        if others:
            self.problems.append(f"{place} has the name {others[0]!r}, which YAML takes for no text: put it in quotes.")
        return {str(key): entry for key, entry in value.items()}

    def entries(
        self, content: Mapping[str, Any], section: str, allowed: set[str]
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for name, value in self.mapping(content.get(section), section).items():
            yield name, self.mapping(value, f"{section}/{name}", allowed)

    def text(self, entry: Mapping[str, Any], name: str, place: str, *, longest: int, default: str = "") -> str:
        """What stands there; where there is a `default` it must not be empty."""
        value = entry.get(name, default)
        if not isinstance(value, str | int) or isinstance(value, bool):
            self.problems.append(f"{place}/{name} must be text.")
            return default
        text = str(value).strip()
        if default and not text:
            self.problems.append(f"{place}/{name} must not be empty.")
        return self.short(text, f"{place}/{name}", longest)

    def short(self, text: str, place: str, longest: int) -> str:
        if len(text) > longest:
            self.problems.append(f"{place} must be at most {longest} characters.")
        if not text.isprintable():
            self.problems.append(f"{place} holds a character that cannot be seen.")
        return text

    def truth(self, entry: Mapping[str, Any], name: str, place: str, *, default: bool = False) -> bool:
        value = entry.get(name, default)
        if not isinstance(value, bool):
            self.problems.append(f"{place}/{name} must be true or false.")
        return value is True

    def slug(self, name: str, place: str) -> str:
        if not _SLUG.fullmatch(name):
            self.problems.append(f"{place}: {name!r} must be lower-case letters, digits and dashes, at most 50.")
        return name

    def setup(self, content: Mapping[str, Any]) -> Setup:
        clusters = tuple(self.cluster(*entry) for entry in self.entries(content, "clusters", _CLUSTER))
        named = self.mapping(content.get("cost_centres"), "cost_centres")
        centres = tuple(
            (self.slug(code, "cost_centres"), self.text(named, code, "cost_centres", longest=100, default=code))
            for code in named
        )
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

    def word(self, entry: Mapping[str, Any], name: str, place: str, *, longest: int, default: str = "") -> str:
        text = self.text(entry, name, place, longest=longest) or default
        if not _WORD.fullmatch(text):
            self.problems.append(f"{place}/{name} must be a name of AWS: letters, digits and + = , . @ _ -")
        return text

    def address(self, entry: Mapping[str, Any], name: str, place: str, *, longest: int, needed: bool = False) -> str:
        text = self.text(entry, name, place, longest=longest)
        if (text or needed) and (not text.startswith("https://") or " " in text):
            self.problems.append(f"{place}/{name} must be an address that begins with https://.")
        return text

    def time_zone(self, name: str, place: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            self.problems.append(f"{place}/time_zone: {name!r} is not a time zone such as America/Sao_Paulo.")
        return name

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
        store = self.mapping(entry.get("identity_store"), f"{place}/identity_store", _STORE)
        return ProviderSetup(
            slug=self.slug(slug, "identity_providers"),
            name=self.text(entry, "name", place, longest=100, default=slug),
            metadata_url=self.text(entry, "metadata_url", place, longest=500),
            metadata=metadata.strip(),
            groups_attribute=self.text(entry, "groups_attribute", place, longest=200, default="groups"),
            signs_response=self.truth(entry, "signs_response", place, default=True),
            enabled=self.truth(entry, "enabled", place),
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

    def minutes(self, entry: Mapping[str, Any], name: str, place: str) -> int | None:
        value = entry.get(name)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= _LONGEST_MINUTES:
            self.problems.append(f"{place}/{name} must be a number of minutes, 1 to {_LONGEST_MINUTES}.")
            return None
        return value

    def namespaces(self, slug: str, entry: Mapping[str, Any], place: str) -> Iterator[tuple[str, str]]:
        for cluster in self.names(entry.get("hyperpod", []), f"{place}/hyperpod"):
            yield cluster, f"{TEAM_NAMESPACE_PREFIX}{slug}"
        listed = self.mapping(entry.get("namespaces"), f"{place}/namespaces")
        for cluster, namespaces in listed.items():
            for namespace in self.names(namespaces, f"{place}/namespaces/{cluster}"):
                if not _NAMESPACE.fullmatch(namespace):
                    self.problems.append(f"{place}/namespaces/{cluster}: {namespace!r} is not a name of a namespace.")
                yield cluster, namespace

    def names(self, value: object, place: str) -> list[str]:
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            self.problems.append(f"{place} must be a list of names.")
            return []
        return value

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
