"""Writes to teams and clusters: keyword-only, in one transaction, audited."""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max

from accounts.granting import granted
from accounts.models import IdentityProvider, IdpGroup, User
from accounts.saml.metadata import BadMetadata, read_metadata
from portal import audit
from portal.nudges import nudge
from portal.sync_runs import count_setup_change
from teams.models import (
    Cluster,
    CostCentre,
    GroupMapping,
    Membership,
    NamespaceBinding,
    PermissionSet,
    PlatformRole,
    Team,
    Terminal,
)
from teams.setup_records import CostCentreSetup, ProviderSetup, Setup, TeamSetup
from teams.setup_values import BadSetup


@transaction.atomic
def apply_setup(*, setup: Setup, by: str, now: datetime) -> list[str]:
    """Make clusters, cost centres, people, teams and roles as the set-up file says; returns a line per change.

    What the file does not name stays; the namespaces and members of a team it names, and the platform roles if it
    names any, become exactly those of the file. Raises BadSetup for a name that neither file nor portal knows.
    """
    applier = _Applier(by, now)
    with granted(None, by=by, source="set-up file", now=now):
        applier.apply(setup)
    if applier.problems:
        raise BadSetup(applier.problems)
    if applier.changes:
        for slug in Cluster.objects.values_list("slug", flat=True):
            count_setup_change(slug)
    for cluster_id in applier.rebound:
        nudge("jobs.heal_caches", cluster_id)
    return applier.changes


class _Applier:
    def __init__(self, by: str, now: datetime) -> None:
        self.by, self.now = by, now
        self.changes: list[str] = []
        self.problems: list[str] = []
        self.rebound: set[int] = set()

    def apply(self, setup: Setup) -> None:
        for cluster in setup.clusters:
            fields = asdict(cluster)
            terminal = fields.pop("terminal")
            row = self.put(Cluster, "cluster", {"slug": fields.pop("slug")}, fields)
            if terminal:
                self.put(Terminal, "terminal", {"cluster": row}, terminal)
        for person in setup.people:
            key, fields = {"username": person.username}, {"name": person.name, "email": person.email}
            self.put(User, "person", key, fields, created_at=self.now)
        for provider in setup.providers:
            self.provider(provider)
        for centre in setup.cost_centres:
            self.cost_centre(centre)
        for team in setup.teams:
            self.team(team)
        if setup.platform_groups is not None:
            self.groups({}, setup.platform_groups, "platform", "platform_groups")
        if setup.platform_roles:
            self.platform_roles(setup)

    def put(self, model: Any, kind: str, key: dict[str, Any], fields: dict[str, Any], **at_creation: Any) -> Any:
        """Create the row or bring its fields up to the file's."""
        row = model.objects.filter(**key).first()
        before = {name: getattr(row, name) for name in fields} if row else {}
        if row is None:
            row = model(**key, **fields, **at_creation)
        elif before == fields:
            return row
        for name, value in fields.items():
            setattr(row, name, value)
        row.save()
        changed = {name: str(value)[:200] for name, value in fields.items() if before.get(name, not value) != value}
        first = next(iter(key.values()))
        self.note("changed" if before else "created", f"{kind}/{getattr(first, 'slug', first)}", **changed)
        return row

    def note(self, event: str, target: str, **details: Any) -> None:
        audit.record(f"setup.{event}", target=target, by=self.by, now=self.now, **details)
        told = ", ".join(f"{name}: {value}" for name, value in details.items())
        self.changes.append(f"{event} {target}" + (f" ({told})" if told else ""))

    def known(self, model: Any, place: str, **key: str) -> Any:
        row = model.objects.filter(**key).first()
        if row is None:
            self.problems.append(f"{place}: there is no {next(iter(key.values()))!r}, in the file or in the portal.")
        return row

    def team(self, setup: TeamSetup) -> None:
        place = f"teams/{setup.slug}"
        centre = self.known(CostCentre, f"{place}/cost_centre", code=setup.cost_centre) if setup.cost_centre else None
        fields = {"name": setup.name, "cost_centre": centre}
        if setup.checkpoint_minutes is not None:
            fields["checkpoint_seconds"] = 60 * setup.checkpoint_minutes
        team = self.put(Team, "team", {"slug": setup.slug}, fields)
        self.namespaces(team, setup, place)
        self.permission_sets(team, setup, place)
        wanted: dict[int, tuple[str, str]] = {}
        for username, role in setup.members:
            user = self.known(User, f"{place}/members", username=username)
            if user:
                wanted[user.pk] = (username, role)
        self.members(team, wanted)
        if setup.groups is not None:
            self.groups({"team": team}, setup.groups, f"team/{team.slug}", f"{place}/groups")

    def cost_centre(self, setup: CostCentreSetup) -> None:
        centre = self.put(CostCentre, "cost_centre", {"code": setup.code}, {"name": setup.name})
        if setup.groups is not None:
            place = f"cost_centres/{setup.code}/groups"
            self.groups({"cost_centre": centre}, setup.groups, f"cost_centre/{setup.code}", place)

    def provider(self, setup: ProviderSetup) -> None:
        fields = asdict(setup)
        for name in ("metadata", "kind"):
            if not fields[name]:
                del fields[name]
        try:
            if setup.metadata:
                read_metadata(setup.metadata)
        except BadMetadata as error:
            self.problems.append(f"identity_providers/{setup.slug}/metadata: {error}")
            return
        told = len(self.changes)
        provider = self.put(IdentityProvider, "identity_provider", {"slug": fields.pop("slug")}, fields)
        if len(self.changes) > told:
            provider.trials.all().delete()  # they are of how it was before
            if provider.metadata_url:
                nudge("accounts.read_metadata_of", provider.pk)

    def groups(self, of: dict[str, Any], wanted: Iterable[tuple[str, str, str]], target: str, place: str) -> None:
        """The mappings of a team, of a cost centre, or, with neither, of the platform's roles become exactly these."""
        missing = {(slug, value, str(role)) for slug, value, role in wanted}
        place_of = {"team": None, "cost_centre": None} | of
        for mapping in GroupMapping.objects.filter(**place_of).select_related("group__provider"):
            key = (mapping.group.provider.slug, mapping.group.value, mapping.role)
            if key in missing:
                missing.discard(key)
            else:
                mapping.delete()
                self.note("group_unmapped", target, provider=key[0], group=key[1], role=key[2])
        for slug, value, role in sorted(missing):
            provider = self.known(IdentityProvider, place, slug=slug)
            if provider:
                group, _ = IdpGroup.objects.get_or_create(provider=provider, value=value)
                GroupMapping.objects.create(group=group, role=role, **of)
                self.note("group_mapped", target, provider=slug, group=value, role=role)

    def namespaces(self, team: Team, setup: TeamSetup, place: str) -> None:
        wanted = set()
        for slug, namespace in setup.namespaces:
            cluster = self.known(Cluster, f"{place}/namespaces", slug=slug)
            if cluster:
                wanted.add((cluster, namespace))
        for binding in NamespaceBinding.objects.current().filter(team=team).select_related("cluster"):
            if (binding.cluster, binding.namespace) in wanted:
                wanted.discard((binding.cluster, binding.namespace))
            else:
                self.close(binding, f"team/{team.slug}")
        for cluster, namespace in sorted(wanted, key=lambda pair: (pair[0].slug, pair[1])):
            self.bind(team, cluster, namespace)

    def permission_sets(self, team: Team, setup: TeamSetup, place: str) -> None:
        """Exactly those of the file."""
        wanted = []
        for slug, name in setup.permission_sets:
            cluster = self.known(Cluster, f"{place}/permission_sets", slug=slug)
            if cluster:
                wanted.append(cluster)
                self.put(PermissionSet, "permission_set", {"team": team, "cluster": cluster}, {"name": name})
        for held in PermissionSet.objects.filter(team=team).exclude(cluster__in=wanted).select_related("cluster"):
            held.delete()
            self.note("permission_set_taken", f"team/{team.slug}", cluster=held.cluster.slug, name=held.name)

    def close(self, binding: NamespaceBinding, target: str) -> None:
        end = max(self.now, binding.valid_from + timedelta(microseconds=1))
        NamespaceBinding.objects.filter(pk=binding.pk).update(valid_to=end)
        self.rebound.add(binding.cluster_id)
        self.note("namespace_taken", target, cluster=binding.cluster.slug, namespace=binding.namespace)

    def bind(self, team: Team, cluster: Cluster, namespace: str) -> None:
        line = NamespaceBinding.objects.filter(cluster=cluster, namespace=namespace)
        for binding in line.current().select_related("team"):
            self.close(binding, f"team/{binding.team.slug}")
        ended = line.aggregate(Max("valid_to"))["valid_to__max"]
        start = max(self.now, ended) if ended else self.now
        NamespaceBinding.objects.create(cluster=cluster, namespace=namespace, team=team, valid_from=start)
        self.rebound.add(cluster.pk)
        self.note("namespace_given", f"team/{team.slug}", cluster=cluster.slug, namespace=namespace)

    def members(self, team: Team, wanted: dict[int, tuple[str, str]]) -> None:
        for membership in Membership.objects.filter(team=team).select_related("user"):
            username, role = wanted.pop(membership.user_id, (membership.user.username, None))
            if role is None:
                membership.delete()
                self.note("member_removed", f"team/{team.slug}", member=username)
            elif role != membership.role:
                Membership.objects.filter(pk=membership.pk).update(role=role)
                self.note("role_changed", f"team/{team.slug}", member=username, role=role)
        for user_id, (username, role) in wanted.items():
            Membership.objects.create(team=team, user_id=user_id, role=role)
            self.note("member_added", f"team/{team.slug}", member=username, role=role)

    def platform_roles(self, setup: Setup) -> None:
        wanted = set()
        for username, role in setup.platform_roles:
            user = self.known(User, "platform_roles", username=username)
            if user:
                wanted.add((user.pk, username, str(role.value)))
        for held in PlatformRole.objects.select_related("user"):
            key = (held.user_id, held.user.username, held.role)
            if key in wanted:
                wanted.discard(key)
            else:
                held.delete()
                self.note("role_taken", f"person/{held.user.username}", role=held.role)
        for user_id, username, given in sorted(wanted):
            PlatformRole.objects.create(user_id=user_id, role=given)
            self.note("role_given", f"person/{username}", role=given)
