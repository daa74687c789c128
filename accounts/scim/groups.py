"""Groups as SCIM's Groups: the same that sign-ins name, with the members that the provider writes."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from django.db.models import Q, QuerySet
from scim2_models import InvalidValueException, Meta

from accounts.groups import regrouped
from accounts.models import IdentityProvider, IdpGroup, IdpMembership, ScimGroup
from accounts.scim.filters import NOBODY, Column, key_of, uuid_of
from accounts.scim.member_changes import MemberChange
from accounts.scim.members import change_members, in_users, members_of, put_in
from accounts.scim.schemas import Group, Member
from portal import audit

_LONGEST: Final = 200


def _has_member(told: str) -> Q:
    """Asked apart for each, so that a group with two of those asked for stands in a list once."""
    key = uuid_of(told)
    held = IdpMembership.objects.filter(user__scim_user=key, provisioned=True)
    return Q(group__in=held.values("group")) if key else NOBODY


class Groups:
    """Those of one provider. Writes are part of the request's transaction, which holds the row's lock."""

    columns: Final[Mapping[str, Column]] = {
        "id": "id",
        "externalid": "external_id",
        "displayname": "name_key",
        "members": _has_member,
        "members.value": _has_member,
    }
    sorts: Final[Mapping[str, str]] = {
        "id": "pk",
        "displayname": "name_key",
        "externalid": "external_id",
        "meta.created": "created_at",
        "meta.lastmodified": "changed_at",
    }

    def __init__(self, provider: IdentityProvider, now: datetime) -> None:
        self._provider, self._now = provider, now
        self._by = f"identity_provider/{provider.slug}"

    def rows(self) -> QuerySet[ScimGroup]:
        return ScimGroup.objects.filter(provider=self._provider)

    def resources(self, rows: Iterable[ScimGroup], *, whole: bool = True) -> list[Any]:
        """Without their members unless `whole`."""
        found = list(rows)
        members = members_of(found) if whole else {}
        return [_resource(row, members.get(row.group_id)) for row in found]

    def create(self, told: Any) -> ScimGroup:
        """A group that sign-ins named already keeps who is in it: they know of its members, until SCIM tells."""
        members = self.members(MemberChange(added=set(_ids(told))))
        row = ScimGroup(provider=self._provider, created_at=self._now)
        self._keep(row, told)
        row.save(force_insert=True)
        change_members(row, self._provider, members, self._now)
        self._record("idp_group.provisioned", row)
        return row

    def update(self, row: ScimGroup, told: Any) -> ScimGroup:
        return self.change(row, told, self.members(MemberChange(added=set(_ids(told)), keeps_others=False)))

    def members(self, change: MemberChange[str]) -> MemberChange[int]:
        """Raises InvalidValueException for unknown people."""
        return in_users(self._provider, change)

    def change(self, row: ScimGroup, told: Any, members: MemberChange[int]) -> ScimGroup:
        """What is told but its members, and those as `members` says."""
        is_told_anew = (told.display_name, told.external_id or "") != (row.name, row.external_id)
        if is_told_anew:
            self._keep(row, told)
            self._record("idp_group.changed", row)
        if change_members(row, self._provider, members, self._now) or is_told_anew:
            row.version, row.changed_at = row.version + 1, self._now
            row.save()
        return row

    def delete(self, row: ScimGroup) -> None:
        """What the group gives stays mapped; nobody is in it any more."""
        held = IdpMembership.objects.filter(group=row.group_id)
        with regrouped(list(held.values_list("user", flat=True)), self._provider, self._now):
            held.delete()
        self._record("idp_group.removed", row)
        row.delete()

    def _keep(self, row: ScimGroup, told: Any) -> None:
        external_id, name = told.external_id or "", told.display_name
        if not name.strip():
            raise InvalidValueException(detail="displayName is empty")
        if max(len(external_id), len(name), len(key_of(name))) > _LONGEST:
            raise InvalidValueException(detail=f"displayName and externalId have at most {_LONGEST} characters")
        group, _ = IdpGroup.objects.get_or_create(
            provider=self._provider, value=external_id or str(row.pk), defaults={"name": name}
        )
        if row.group_id not in (None, group.pk):
            self._move(row.group_id, group)
        row.group, row.external_id, row.name, row.name_key = group, external_id, name, key_of(name)
        row.changed_at = self._now
        if group.name != name:
            IdpGroup.objects.filter(pk=group.pk).update(name=name)

    def _move(self, before: int, group: IdpGroup) -> None:
        """It is called by another id from now on; its members go with it."""
        users = list(IdpMembership.objects.filter(group=before, provisioned=True).values_list("user", flat=True))
        with regrouped(users, self._provider, self._now):
            IdpMembership.objects.filter(group=before, provisioned=True).delete()
            put_in(group.pk, users)

    def _record(self, event: str, row: ScimGroup) -> None:
        target = f"idp_group/{self._provider.slug}/{row.group.value}"
        audit.record(event, target=target, by=self._by, now=self._now, name=row.name)


def _ids(told: Any) -> list[str]:
    ids = [member.value for member in told.members or ()]
    if not all(ids):
        raise InvalidValueException(detail="Members are objects with the id of a User as value")
    return [str(each) for each in ids]


def _resource(row: ScimGroup, members: list[str] | None) -> Any:
    meta = Meta(
        resource_type="Group", created=row.created_at, last_modified=row.changed_at, version=f'W/"{row.version}"'
    )
    found = Group(id=str(row.pk), external_id=row.external_id or None, display_name=row.name, meta=meta)
    if members:
        found.members = [Member.model_construct(value=each, ref=f"Users/{each}", type="User") for each in members]
    return found
