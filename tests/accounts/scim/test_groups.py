"""What a change of a group's members costs, however many are in it, and what stays of it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import IdpGroup, IdpMembership, ScimUser, User
from accounts.names import username_of
from portal.models import AuditEvent
from teams.models import GroupMapping
from teams.permissions import TeamRole
from tests.accounts.scim.client import Scim
from tests.factories import TeamFactory

pytestmark = pytest.mark.django_db


def many(scim: Scim, number: int, prefix: str = "p") -> list[str]:
    """Ids of so many new people."""
    now, names = timezone.now(), [f"{prefix}{each}" for each in range(number)]
    users = User.objects.bulk_create(
        User(username=username_of("corp", name), name=name, created_at=now) for name in names
    )
    rows = ScimUser.objects.bulk_create(
        ScimUser(
            provider=scim.provider, user=user, external_id=user.name, name_key=user.name, active=True, created_at=now,
            changed_at=now, told={"schemas": [], "user_name": user.name},
        )
        for user in users
    )  # fmt: skip
    return [str(row.pk) for row in rows]


def cost(scim: Scim, group: str, op: str, ids: list[str]) -> int:
    with CaptureQueriesContext(connection) as queries:
        value = [{"value": each} for each in ids]
        assert scim.patch(f"/Groups/{group}", {"op": op, "path": "members", "value": value}).status_code == 204
    return len(queries)


def test_a_change_costs_as_little_in_a_large_group_and_for_many_people(corp: Scim) -> None:
    people = many(corp, 300)
    small, large = corp.group("small", *people[:2]), corp.group("large", *people[:200])
    GroupMapping.objects.create(group=IdpGroup.objects.get(value="g-large"), team=TeamFactory(), role=TeamRole.MEMBER)
    for op in ("Add", "Remove"):
        one, some = people[200:201], people[201:300]
        assert {cost(corp, small, op, one), cost(corp, small, op, some)} == {11}, "two of which are the transaction's"
        assert {cost(corp, large, op, one), cost(corp, large, op, some)} == {14}, "three more tell of roles"
    assert IdpMembership.objects.count() == 202


def test_many_grants_are_audited_at_once(corp: Scim) -> None:
    people = many(corp, 60)
    group = corp.group("research")
    GroupMapping.objects.create(group=IdpGroup.objects.get(), team=TeamFactory(slug="labs"), role=TeamRole.MEMBER)
    cost(corp, group, "Add", people)
    cost(corp, group, "Remove", people[:59])
    assert AuditEvent.objects.filter(event="role.gained", details__team="labs").count() == 60
    lost = AuditEvent.objects.filter(event="role.lost").values_list("target", flat=True)
    assert set(lost) == {f"person/corp:p{number}" for number in range(59)}


def test_a_group_of_another_name_keeps_the_name_in_one_place(corp: Scim) -> None:
    group = corp.group("research")
    assert IdpGroup.objects.get().name == "research"
    corp.patch(f"/Groups/{group}", {"op": "Replace", "path": "displayName", "value": "Labs"})
    assert IdpGroup.objects.get().name == "Labs"
