from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.groups import keep_groups
from accounts.models import GroupClaim, IdentityProvider, IdpMembership, User
from tests.factories import UserFactory

NOW = datetime(2026, 10, 8, 12, tzinfo=UTC)

pytestmark = pytest.mark.django_db


@pytest.fixture
def corp() -> IdentityProvider:
    return IdentityProvider.objects.create(
        slug="corp", name="Corp", groups_attribute="groups", signs_response=True, enabled=True
    )


@pytest.fixture
def ana() -> User:
    user: User = UserFactory(username="ana")
    return user


def held(user: User) -> set[str]:
    return set(IdpMembership.objects.filter(user=user).values_list("group__value", flat=True))


def test_groups_are_those_that_were_told_last(ana: User, corp: IdentityProvider) -> None:
    keep_groups(ana, corp, {"a", "b"}, NOW)
    keep_groups(ana, corp, {"b", "c"}, NOW)
    assert held(ana) == {"b", "c"}


def test_no_group_is_none(ana: User, corp: IdentityProvider) -> None:
    keep_groups(ana, corp, {"a"}, NOW)
    keep_groups(ana, corp, set(), NOW)
    assert held(ana) == set()


def test_unknown_is_not_none(ana: User, corp: IdentityProvider) -> None:
    keep_groups(ana, corp, {"a"}, NOW)
    keep_groups(ana, corp, None, NOW)
    assert held(ana) == {"a"}
    assert not GroupClaim.objects.get().is_complete


def test_another_providers_groups_stay(ana: User, corp: IdentityProvider) -> None:
    other = IdentityProvider.objects.create(
        slug="other", name="Other", groups_attribute="groups", signs_response=True, enabled=True
    )
    keep_groups(ana, corp, {"a"}, NOW)
    keep_groups(ana, other, {"b"}, NOW)
    keep_groups(ana, other, set(), NOW)
    assert held(ana) == {"a"}


def test_two_thousand_groups_cost_few_statements(ana: User, corp: IdentityProvider) -> None:
    values = {f"{number:036}" for number in range(2000)}
    with CaptureQueriesContext(
        connection,
    ) as queries:
        keep_groups(ana, corp, values, NOW)
    assert held(ana) == values
    assert len(queries) <= 45
