from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import time_machine
from django.conf import settings

from accounts.models import IdentityProvider
from tests.accounts.saml.idp import Idp, key_pair, metadata

NOW = datetime(2026, 10, 8, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _noon() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture(scope="session")
def keys() -> tuple[tuple[str, str], tuple[str, str]]:
    return key_pair(NOW), key_pair(NOW)


def connect(slug: str, pair: tuple[str, str]) -> Idp:
    assert settings.PORTAL_ADDRESS == "http://127.0.0.1:0"
    text = metadata(f"https://{slug}.example.org/idp", [pair[1]], f"https://{slug}.example.org/sso")
    row = IdentityProvider.objects.create(
        slug=slug, name=slug.title(), metadata=text, groups_attribute="groups", signs_response=True, enabled=True
    )
    return Idp(row, *pair, NOW)


@pytest.fixture
def corp(db: None, keys: tuple[tuple[str, str], tuple[str, str]]) -> Idp:
    return connect("corp", keys[0])


@pytest.fixture
def other(db: None, keys: tuple[tuple[str, str], tuple[str, str]]) -> Idp:
    return connect("other", keys[1])
