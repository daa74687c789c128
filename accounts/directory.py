"""People and groups of a provider that cannot write them: read from IAM Identity Center's Identity Store by a worker,
and kept as if SCIM had told them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import structlog
from django.db import transaction

from accounts.models import IdentityProvider, ScimUser, User
from accounts.names import username_of
from accounts.scim.groups import Groups
from accounts.scim.member_changes import MemberChange
from accounts.scim.people import People, kept_of
from accounts.scim.schemas import PERSON, Email, Group
from gateways.errors import BadReply, GatewayError
from gateways.identity_store import IdentityStore, StoreGroup, StoreUser

log = structlog.get_logger(__name__)

_LONGEST: Final = 100
"""Characters of a group's name; what is compared may be twice as long."""


def read_directory(provider: IdentityProvider, now: datetime) -> None:
    """What cannot be read leaves everything as it was. Not asked while a SCIM client may write."""
    if provider.may_write(now):
        return
    try:
        users, groups = _read(provider)
    except GatewayError as error:
        IdentityProvider.objects.filter(pk=provider.pk).update(store_error=str(error)[:300])
        log.warning("identity store not read", provider=provider.slug, error=str(error))
        return
    _keep(provider, users, groups, now)


def _read(provider: IdentityProvider) -> tuple[dict[str, StoreUser], dict[str, StoreGroup | None]]:
    """Everybody, and the groups that sign-ins or mappings named; None: there is no such group any more."""
    store = IdentityStore(provider.identity_store, provider.identity_store_region)
    users = {each.id: each for each in store.users()}
    groups: dict[str, StoreGroup | None] = {}
    for value in provider.groups.values_list("value", flat=True):
        try:
            groups[value] = store.group(value)
        except BadReply as error:  # such as a value that is no id
            log.warning("group not read", provider=provider.slug, group=value, error=str(error))
    return users, groups


@transaction.atomic
def _keep(
    provider: IdentityProvider,
    users: Mapping[str, StoreUser],
    groups: Mapping[str, StoreGroup | None],
    now: datetime,
) -> None:
    members = {key for group in groups.values() if group for key in group.members}
    known = _keep_people(provider, users, members, now)
    for value, group in groups.items():
        _keep_group(Groups(provider, now), value, group, known)
    IdentityProvider.objects.filter(pk=provider.pk).update(store_read_at=now, store_error="")


def _keep_people(
    provider: IdentityProvider, users: Mapping[str, StoreUser], members: set[str], now: datetime
) -> dict[str, ScimUser]:
    """Rows by the directory's id: of members, of who signed in, and of who was kept before and is still there."""
    people = People(provider, now)
    known = {row.external_id: row for row in people.rows().select_for_update(of=("self",))}
    for key in known.keys() - users.keys():
        people.delete(known.pop(key))
    names = set(User.objects.filter(username__startswith=f"{provider.slug}:").values_list("username", flat=True))
    for key, user in users.items():
        told, row = _person(user), known.get(key)
        if row is not None and row.told != kept_of(told):
            people.update(row, told)
        elif row is None and (key in members or username_of(provider.slug, key) in names):
            known[key] = people.create(told)
    return known


def _keep_group(groups: Groups, value: str, group: StoreGroup | None, known: Mapping[str, ScimUser]) -> None:
    row = groups.rows().select_for_update(of=("self",)).filter(external_id=value).first()
    if group is None:
        if row is not None:
            groups.delete(row)
        return
    told = Group(external_id=value, display_name=group.name[:_LONGEST].strip() or value)
    members = MemberChange({known[key].user_id for key in group.members if key in known}, keeps_others=False)
    groups.change(row or groups.create(told), told, members)


def _person(user: StoreUser) -> Any:
    """The directory's own names may change and be used again, its ids do not."""
    told = PERSON(external_id=user.id, user_name=user.id, display_name=user.display_name or user.user_name)
    told.active = user.is_enabled
    told.emails = [Email(value=user.email, type="work", primary=True)] if user.email else None
    return told
