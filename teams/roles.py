"""The roles a person holds, read once per request and never copied."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from django.db import connection

from accounts.models import User
from teams.permissions import GlobalRole, Permission, TeamRole, platform_roles_with, team_roles_with

_BY_GROUPS: Final = """
    FROM accounts_idpmembership AS told
    JOIN teams_groupmapping AS mapping ON mapping.group_id = told.group_id
    JOIN accounts_idpgroup AS idp_group ON idp_group.id = told.group_id
    JOIN accounts_identityprovider AS provider ON provider.id = idp_group.provider_id AND provider.enabled
    WHERE told.user_id {whose}
"""

HOLDERS: Final = f"""
    SELECT user_id, team_id, role FROM teams_membership WHERE user_id {{whose}}
    UNION ALL SELECT user_id, NULL, role FROM teams_platformrole WHERE user_id {{whose}}
    UNION ALL SELECT user_id, NULL, 'platform_admin' FROM accounts_breakglass
    WHERE user_id {{whose}} AND ended_at IS NULL
    UNION ALL SELECT told.user_id, mapping.team_id, mapping.role {_BY_GROUPS} AND mapping.cost_centre_id IS NULL
"""  # noqa: S608 (no part of it comes from outside)
"""Who holds which role in which team, or, without a team, over all: by the set-up file, by break-glass access and by
groups of identity providers. `whose` stands in each part, since SQLite takes no condition into a union. In SQL, since
every request asks for it: the ORM needs six times as long to put it together."""

_OWNERS: Final = f"""
    SELECT told.user_id, mapping.cost_centre_id, mapping.role {_BY_GROUPS} AND mapping.cost_centre_id IS NOT NULL
"""  # noqa: S608 (the same)
"""Who owns which cost centre."""

_HELD: Final = f"""
    SELECT held.team_id, held.role, slug, name, archived_at IS NULL, NULL AS cost_centre_id
    FROM ({HOLDERS.format(whose="= %(user)s")}) AS held LEFT JOIN teams_team ON teams_team.id = held.team_id
    UNION ALL SELECT NULL, owned.role, NULL, NULL, NULL, owned.cost_centre_id
    FROM ({_OWNERS.format(whose="= %(user)s")}) AS owned
"""  # noqa: S608 (no part of it comes from outside)

_GRANTS: Final = f"""
    SELECT person.id, team_id, granted.role, cost_centre_id
    FROM (
        SELECT held.user_id, held.team_id, held.role, NULL AS cost_centre_id FROM ({HOLDERS}) AS held
        UNION ALL SELECT owned.user_id, NULL, owned.role, owned.cost_centre_id FROM ({_OWNERS}) AS owned
    ) AS granted
    JOIN accounts_user AS person ON person.id = granted.user_id
    WHERE person.archived_at IS NULL OR EXISTS (
        SELECT 1 FROM accounts_breakglass AS glass WHERE glass.user_id = person.id AND glass.ended_at IS NULL
    )
"""  # noqa: S608 (the same)
"""Of people who are archived nothing counts. Break-glass access archives as of its end, and counts until it ended."""

_HOLDERS_OF: Final = f"""
    SELECT DISTINCT held.team_id, held.role, person.id, person.username, person.email
    FROM ({HOLDERS.format(whose="IS NOT NULL")}) AS held JOIN accounts_user AS person ON person.id = held.user_id
    WHERE person.archived_at IS NULL AND (held.team_id IS NULL OR held.team_id IN ({{teams}}))
"""  # noqa: S608 (the same)

_STRENGTH: Final[Mapping[str, int]] = {role: number for number, role in enumerate(TeamRole)}
"""Who holds several roles in a team holds the last of these."""


class TeamName(NamedTuple):
    slug: str
    name: str


@dataclass(frozen=True, slots=True)
class Roles:
    """`teams`: role by team key. `cost_centres`: keys of those that the person owns. `active_teams`: the teams that
    are not archived, by slug."""

    teams: Mapping[int, TeamRole]
    platform: frozenset[GlobalRole]
    cost_centres: frozenset[int] = frozenset()
    active_teams: tuple[TeamName, ...] = field(default=(), compare=False)

    def everywhere(self, permission: Permission) -> bool:
        """Whether a platform role carries the permission, for every team and for what no team owns."""
        return not self.platform.isdisjoint(platform_roles_with(permission))

    def team_ids(self, permission: Permission) -> list[int]:
        """Teams in which a team role carries the permission."""
        carrying = team_roles_with(permission)
        return [team for team, role in self.teams.items() if role in carrying]

    def hold(self, permission: Permission, team: int) -> bool:
        """Whether the permission is held in one team, given by its key."""
        return self.everywhere(permission) or team in self.team_ids(permission)


def roles_of(user: User) -> Roles:
    """One query for each request's user; the object lives as long as the request."""
    kept: Roles | None = getattr(user, "_roles", None)
    if kept is None:
        kept = read_roles(user)
        user._roles = kept  # type: ignore[attr-defined]
    return kept


class Holder(NamedTuple):
    """Somebody with a role in a team, or, without a team, over all."""

    team: int | None
    role: str
    user: int
    username: str
    email: str


def holders_of(teams: Collection[int]) -> list[Holder]:
    """All who hold a role in one of these teams or over all, and are not archived; one query."""
    with connection.cursor() as cursor:
        cursor.execute(_HOLDERS_OF.format(teams=", ".join(["%s"] * len(teams)) or "NULL"), list(teams))
        return [Holder(*row) for row in cursor.fetchall()]


class Grant(NamedTuple):
    """What a person holds in a team or a cost centre, or, without either, over all."""

    user: int
    team: int | None
    role: str
    cost_centre: int | None = None


def grants_of(users: Collection[int] | None) -> set[Grant]:
    """What these people, or all, hold now, of several roles in a team the strongest; nothing if they are archived. One
    query, however many."""
    if users is not None and not users:
        return set()
    whose = "IS NOT NULL" if users is None else f"IN ({', '.join(str(int(key)) for key in users)})"
    with connection.cursor() as cursor:
        cursor.execute(_GRANTS.format(whose=whose))
        found = [Grant(*row) for row in cursor.fetchall()]
    found.sort(key=lambda grant: _STRENGTH.get(grant.role, 0))
    in_teams = {(grant.user, grant.team): grant for grant in found if grant.team is not None}
    return {*in_teams.values(), *(grant for grant in found if grant.team is None)}


def read_roles(user: User) -> Roles:
    """As of now, whatever was read before."""
    with connection.cursor() as cursor:
        cursor.execute(_HELD, {"user": user.pk})
        rows = cursor.fetchall()
    owned = frozenset(centre for *_, centre in rows if centre is not None)
    held = [row[:-1] for row in rows if row[-1] is None]
    active = {TeamName(slug, name) for key, _, slug, name, is_active in held if key is not None and is_active}
    weakest_first = sorted(held, key=lambda row: _STRENGTH.get(row[1], 0))
    return Roles(
        {key: TeamRole(role) for key, role, *_ in weakest_first if key is not None},
        frozenset(GlobalRole(role) for key, role, *_ in held if key is None),
        owned,
        tuple(sorted(active)),
    )
