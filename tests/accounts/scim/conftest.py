import pytest

from accounts.models import IdentityProvider
from tests.accounts.scim.client import Scim, scim_of


def connected(slug: str) -> IdentityProvider:
    return IdentityProvider.objects.create(
        slug=slug, name=slug.title(), groups_attribute="groups", signs_response=True, enabled=True
    )


@pytest.fixture
def corp(db: None) -> Scim:
    return scim_of(connected("corp"))


@pytest.fixture
def other(db: None) -> Scim:
    return scim_of(connected("other"))
