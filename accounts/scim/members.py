"""Who is in a provisioned group: in a few statements, however many they are, and told of to whoever counts roles."""

from collections.abc import Collection, Iterable
from datetime import datetime

from scim2_models import InvalidValueException

from accounts.groups import regrouped
from accounts.models import IdentityProvider, IdpMembership, ScimGroup, ScimUser
from accounts.scim.filters import uuid_of
from accounts.scim.member_changes import MemberChange
from portal.write_path import BATCH, batches


def members_of(groups: Collection[ScimGroup]) -> dict[int, list[str]]:
    """SCIM ids by key of the IdpGroup; one query."""
    found: dict[int, list[str]] = {group.group_id: [] for group in groups}
    held = IdpMembership.objects.filter(group__in=found, provisioned=True, user__scim_user__isnull=False)
    for group, person in held.order_by("pk").values_list("group", "user__scim_user"):
        found[group].append(str(person))
    return found


def in_users(provider: IdentityProvider, change: MemberChange[str]) -> MemberChange[int]:
    """Whom the ids mean, asked before the group's row is locked, for which others wait. Raises InvalidValueException
    for unknown people who are to be added."""
    added = _known(provider, change.added)
    if len(added) != len({uuid_of(each) for each in change.added}):
        raise InvalidValueException(detail="members: there is no such User")
    return MemberChange(added, _known(provider, change.removed), change.keeps_others)


def change_members(group: ScimGroup, provider: IdentityProvider, change: MemberChange[int], now: datetime) -> bool:
    """Whether anything changed. The group's row must be locked.

    People whom SCIM does not tell of are left alone: what a sign-in said of them holds."""
    added, removed = change.added, change.removed
    held = _held(group, added | removed if change.keeps_others else None)
    joining = {user for user in added if not held.get(user)}
    leaving = {user for user in held if user not in added and (user in removed or not change.keeps_others)}
    if not joining and not leaving:
        return False
    with regrouped(sorted(joining | leaving), provider, now):
        _write(group, joining, leaving)
    return True


def _held(group: ScimGroup, users: Collection[int] | None) -> dict[int, bool]:
    """Who of these, or of all, is in it, and whether SCIM said so."""
    held = IdpMembership.objects.filter(group=group.group_id, user__scim_user__isnull=False)
    if users is None:
        return dict(held.values_list("user", "provisioned"))
    return {
        user: provisioned
        for some in batches(users)
        for user, provisioned in held.filter(user__in=some).values_list("user", "provisioned")
    }


def _known(provider: IdentityProvider, ids: Collection[str]) -> set[int]:
    keys = [key for key in map(uuid_of, ids) if key is not None]
    return {
        user
        for some in batches(keys)
        for user in ScimUser.objects.filter(provider=provider, pk__in=some).values_list("user", flat=True)
    }


def _write(group: ScimGroup, joining: set[int], leaving: set[int]) -> None:
    for some in batches(sorted(leaving)):
        IdpMembership.objects.filter(group=group.group_id, user__in=some).delete()
    put_in(group.group_id, sorted(joining))


def put_in(group: int, users: Iterable[int]) -> None:
    """By the group's key: SCIM says that they are in it, whether a sign-in said so before or not."""
    IdpMembership.objects.bulk_create(
        [IdpMembership(group_id=group, user_id=user, provisioned=True) for user in users],
        batch_size=BATCH,
        update_conflicts=True,
        update_fields=["provisioned"],
        unique_fields=["user", "group"],
    )
