"""People as SCIM's Users: what is told of them is kept as it is, and decides who may sign in."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from django.db.models import QuerySet
from scim2_models import InvalidValueException, Meta

from accounts.actions import archive, describe, restore
from accounts.groups import regrouped
from accounts.models import GroupClaim, IdentityProvider, IdpMembership, ScimUser, User
from accounts.names import username_of
from accounts.scim.bounds import LONGEST_PERSON
from accounts.scim.filters import Column, is_storable, key_of
from accounts.scim.schemas import PERSON
from portal import audit

_LONGEST: Final = 256


class People:
    """Those of one provider. Writes are part of the request's transaction, which holds the row's lock. In every
    write rows come before groups, and Users last, as in sign-ins: else two of them wait for each other."""

    columns: Final[Mapping[str, Column]] = {
        "id": "id",
        "externalid": "external_id",
        "username": "name_key",
        "emails[type work]": "email_key",
        "active": "active",
    }
    sorts: Final[Mapping[str, str]] = {
        "id": "pk",
        "username": "name_key",
        "externalid": "external_id",
        "meta.created": "created_at",
        "meta.lastmodified": "changed_at",
    }

    def __init__(self, provider: IdentityProvider, now: datetime) -> None:
        self._provider, self._now = provider, now
        self._by = f"identity_provider/{provider.slug}"

    def rows(self) -> QuerySet[ScimUser]:
        return ScimUser.objects.filter(provider=self._provider).select_related("user")

    def resources(self, rows: Iterable[ScimUser], *, whole: bool = True) -> list[Any]:
        return [_resource(row) for row in rows]

    def create(self, told: Any) -> ScimUser:
        row = ScimUser(provider=self._provider, created_at=self._now, active=True)
        row.user = self._person(row, told.external_id or "")
        self._keep(row, told)
        row.save(force_insert=True)
        GroupClaim.objects.update_or_create(
            user=row.user, provider=self._provider, defaults={"is_complete": True, "at": self._now}
        )
        self._forget(row.user)
        self._let_in(row, told)
        self._record("scim_user.made", row)
        return row

    def update(self, row: ScimUser, told: Any) -> ScimUser:
        before = row.user
        if (told.external_id or "") != row.external_id:
            row.user = self._person(row, told.external_id or "")
        self._keep(row, told)
        row.version += 1
        row.save()
        if row.user != before:
            self._become(before, row.user)
        self._let_in(row, told)
        self._record("scim_user.changed", row)
        return row

    def delete(self, row: ScimUser) -> None:
        self._part(row.user)
        self._record("scim_user.removed", row)
        row.delete()

    def _person(self, row: ScimUser, external_id: str) -> User:
        """Whoever signs in with this as NameID. Without it nobody does, until it is told."""
        username = username_of(self._provider.slug, external_id or f"scim:{row.pk}")
        return User.objects.get_or_create(username=username, defaults={"name": username, "created_at": self._now})[0]

    def _forget(self, person: User) -> None:
        """A membership may have been written at the moment in which they were removed."""
        left = IdpMembership.objects.filter(user=person, group__provider=self._provider, provisioned=True)
        if left.exists():
            with regrouped([person.pk], self._provider, self._now):
                left.delete()

    def _become(self, before: User, person: User) -> None:
        """SCIM speaks of somebody else from now on, with the same groups; who it spoke of before is gone."""
        groups = list(
            IdpMembership.objects.filter(user=before, provisioned=True, group__provider=self._provider).values_list(
                "group", flat=True
            )
        )
        self._part(before)
        with regrouped([person.pk], self._provider, self._now):
            IdpMembership.objects.bulk_create(
                [IdpMembership(group_id=group, user=person, provisioned=True) for group in groups],
                update_conflicts=True,
                update_fields=["provisioned"],
                unique_fields=["user", "group"],
            )

    def _keep(self, row: ScimUser, told: Any) -> None:
        row.external_id, row.name_key = told.external_id or "", key_of(told.user_name)
        row.email_key = key_of(_work_email(told))
        row.active = row.active if told.active is None else told.active
        row.changed_at = self._now
        row.told = kept_of(told)
        if not row.name_key.strip():
            raise InvalidValueException(detail="userName is empty")
        if max(map(len, (row.external_id, row.name_key, row.email_key))) > _LONGEST:
            raise InvalidValueException(detail=f"userName, externalId and emails have at most {_LONGEST} characters")
        text = json.dumps(row.told, ensure_ascii=False)
        if len(text) > LONGEST_PERSON:
            raise InvalidValueException(detail=f"A User has at most {LONGEST_PERSON} characters")
        if not is_storable(text):
            raise InvalidValueException(detail="A text has characters that are none")

    def _let_in(self, row: ScimUser, told: Any) -> None:
        person = _as_is(row.user)
        describe(user=person, name=_shown_name(told), email=_work_email(told))
        if row.active and not person.is_active:
            restore(user=person, by=self._by, now=self._now)
        elif not row.active and person.is_active:
            archive(user=person, by=self._by, now=self._now)

    def _part(self, person: User) -> None:
        """Nothing that this provider told of them is left."""
        with regrouped([person.pk], self._provider, self._now):
            IdpMembership.objects.filter(user=person, group__provider=self._provider).delete()
        person = _as_is(person)
        if person.is_active:
            archive(user=person, by=self._by, now=self._now)

    def _record(self, event: str, row: ScimUser) -> None:
        audit.record(event, target=f"person/{row.user.username}", by=self._by, now=self._now, id=str(row.pk))


def _as_is(person: User) -> User:
    """Locked, and as the last write left them: they may have been archived or restored since they were read."""
    return User.objects.select_for_update(no_key=True).get(pk=person.pk)


def kept_of(told: Any) -> dict[str, Any]:
    """What a row keeps of a resource."""
    kept: dict[str, Any] = told.model_dump(exclude={"id", "meta"})
    return kept


def _resource(row: ScimUser) -> Any:
    told = PERSON.model_validate(row.told)
    told.id = str(row.pk)
    told.meta = Meta(
        resource_type="User", created=row.created_at, last_modified=row.changed_at, version=f'W/"{row.version}"'
    )
    return told


def _work_email(told: Any) -> str:
    return next((each.value for each in told.emails or () if each.type == "work" and each.value), "")


def _shown_name(told: Any) -> str:
    parts = (told.name.given_name, told.name.family_name) if told.name else ()
    formatted = told.name.formatted if told.name else ""
    return told.display_name or formatted or " ".join(part for part in parts if part) or told.user_name
