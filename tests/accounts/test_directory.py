"""People and groups that a worker reads where nobody writes them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from accounts import directory
from accounts.directory import read_directory
from accounts.groups import keep_groups
from accounts.models import GroupClaim, IdentityProvider, IdpGroup, IdpMembership, ScimUser, User
from gateways.errors import BadReply, Unavailable
from gateways.identity_store import StoreGroup, StoreUser
from tests.accounts.scim.client import scim_of
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 10, 8, 12, tzinfo=UTC)
ANA = StoreUser("id-ana", "ana", "Ana", "ana@example.org", is_enabled=True)
BIA = StoreUser("id-bia", "bia", "Bia", "", is_enabled=True)


class Store:
    """Instead of the gateway."""

    def __init__(self) -> None:
        self.people = {each.id: each for each in (ANA, BIA)}
        self.groups: dict[str, StoreGroup | None | Exception] = {
            "g-1": StoreGroup("g-1", "Research", frozenset({"id-ana"}))
        }
        self.fails = False

    def __call__(self, store: str, region: str) -> "Store":
        assert (store, region) == ("d-1", "us-east-1")
        return self

    def users(self) -> list[StoreUser]:
        if self.fails:
            raise Unavailable("AWS does not answer")
        return list(self.people.values())

    def group(self, key: str) -> StoreGroup | None:
        found = self.groups.get(key)
        if isinstance(found, Exception):
            raise found
        return found


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    made = Store()
    monkeypatch.setattr(directory, "IdentityStore", made)
    return made


@pytest.fixture
def corp(db: None) -> IdentityProvider:
    provider = IdentityProvider.objects.create(
        slug="corp", name="Corp", groups_attribute="groups", signs_response=True, enabled=True,
        identity_store="d-1", identity_store_region="us-east-1",
    )  # fmt: skip
    IdpGroup.objects.create(provider=provider, value="g-1")
    return provider


def held(name: str) -> set[str]:
    return set(IdpMembership.objects.filter(user__username=f"corp:id-{name}").values_list("group__value", flat=True))


def names() -> set[str]:
    return set(User.objects.values_list("username", flat=True))


def test_members_of_known_groups_are_kept_and_groups_get_their_names(corp: IdentityProvider, store: Store) -> None:
    read_directory(corp, NOW)
    assert names() == {"corp:id-ana"}, "nobody else is needed"
    assert held("ana") == {"g-1"}
    assert IdpGroup.objects.get().name == "Research"
    corp.refresh_from_db()
    assert (corp.store_read_at, corp.store_error) == (NOW, "")


def test_who_signed_in_is_the_same_person(corp: IdentityProvider, store: Store) -> None:
    bia = UserFactory(username="corp:id-bia")
    store.groups["g-1"] = StoreGroup("g-1", "Research", frozenset({"id-bia"}))
    read_directory(corp, NOW)
    assert ScimUser.objects.get().user == bia
    assert held("bia") == {"g-1"}


def test_who_leaves_a_group_loses_it_and_stays(corp: IdentityProvider, store: Store) -> None:
    read_directory(corp, NOW)
    store.groups["g-1"] = StoreGroup("g-1", "Research", frozenset())
    read_directory(corp, NOW)
    assert held("ana") == set()
    assert User.objects.get().is_active


@pytest.mark.parametrize("how", ["disabled", "deleted"])
def test_who_leaves_the_directory_is_out(corp: IdentityProvider, store: Store, how: str) -> None:
    read_directory(corp, NOW)
    if how == "disabled":
        store.people["id-ana"] = replace(ANA, is_enabled=False)
    else:
        del store.people["id-ana"]
    read_directory(corp, NOW)
    assert not User.objects.get().is_active
    store.people["id-ana"] = ANA
    read_directory(corp, NOW)
    assert User.objects.get().is_active


def test_who_the_directory_does_not_know_is_left_alone(corp: IdentityProvider, store: Store) -> None:
    UserFactory(username="corp:somebody-else")
    UserFactory(username="ana")
    read_directory(corp, NOW)
    assert all(user.is_active for user in User.objects.all())
    assert ScimUser.objects.count() == 1


def test_what_cannot_be_read_leaves_everything(corp: IdentityProvider, store: Store) -> None:
    read_directory(corp, NOW)
    store.fails = True
    read_directory(corp, NOW + timedelta(hours=1))
    assert held("ana") == {"g-1"}
    corp.refresh_from_db()
    assert (corp.store_read_at, corp.store_error) == (NOW, "AWS does not answer")


def test_a_group_that_is_gone_has_no_members_and_one_that_is_no_id_is_left_out(
    corp: IdentityProvider, store: Store
) -> None:
    IdpGroup.objects.create(provider=corp, value="by name")
    store.groups["by name"] = BadReply("no id")
    read_directory(corp, NOW)
    assert held("ana") == {"g-1"}
    store.groups["g-1"] = None
    read_directory(corp, NOW)
    assert held("ana") == set()
    assert set(IdpGroup.objects.values_list("value", "name")) == {("g-1", "Research"), ("by name", "")}, "remembered"


def test_reading_again_writes_nothing(corp: IdentityProvider, store: Store) -> None:
    read_directory(corp, NOW)
    before = list(ScimUser.objects.values_list("version", "changed_at"))
    read_directory(corp, NOW + timedelta(hours=1))
    assert list(ScimUser.objects.values_list("version", "changed_at")) == before


def test_it_is_not_read_while_a_scim_client_may_write(corp: IdentityProvider, store: Store) -> None:
    scim_of(corp)
    read_directory(corp, timezone.now())
    assert names() == set()


@pytest.mark.parametrize(("hours", "kept"), [(23, {"g-1"}), (24, set())])
def test_what_was_read_more_than_a_day_ago_runs_out_at_sign_ins(
    corp: IdentityProvider, store: Store, hours: int, kept: set[str]
) -> None:
    read_directory(corp, NOW)
    corp.refresh_from_db()
    keep_groups(User.objects.get(), corp, set(), NOW + timedelta(hours=hours))
    assert held("ana") == kept
    keep_groups(User.objects.get(), corp, None, NOW + timedelta(hours=hours))
    assert GroupClaim.objects.get().is_complete == bool(kept)
