import pytest
from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from accounts.models import User
from tests.factories import MembershipFactory, UserFactory
from tests.stories import START

pytestmark = pytest.mark.django_db


def test_the_user_of_the_project() -> None:
    assert get_user_model() is User


def test_a_person_is_called_by_name_and_found_by_username() -> None:
    person = UserFactory(username="member", name="A member")
    assert str(person) == "A member"
    assert User.objects.get_by_natural_key("member") == person


def test_an_archived_person_is_not_active() -> None:
    person = UserFactory()
    assert person.is_active
    person.archived_at = START
    assert not person.is_active


def test_a_username_is_given_once() -> None:
    UserFactory(username="member")
    with pytest.raises(IntegrityError), transaction.atomic():
        UserFactory(username="member")


def test_a_person_who_belongs_to_a_team_is_not_deleted() -> None:
    membership = MembershipFactory()
    with pytest.raises(ProtectedError):
        membership.user.delete()


def test_nobody_signs_in_with_a_password() -> None:
    assert not UserFactory().check_password("")
