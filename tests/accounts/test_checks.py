from typing import Any

import pytest
from django.core.checks import run_checks

from accounts.checks import check_address


@pytest.fixture(autouse=True)
def _production(settings: Any) -> None:
    settings.DEMO = False
    settings.ALLOWED_HOSTS = ["portal.example.com"]
    settings.PORTAL_ADDRESS = "https://portal.example.com"
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")


def found() -> list[str]:
    return [str(each.id).partition(".")[2] for each in check_address()]


def test_a_right_setting_is_silent() -> None:
    assert found() == []


def test_addresses_for_identity_providers_that_are_not_https(settings: Any) -> None:
    settings.PORTAL_ADDRESS = "http://portal.example.com"
    assert found() == ["E001"] * 3
    assert "http://portal.example.com/saml/any/acs/" in str(check_address())


@pytest.mark.parametrize(
    ("address", "hosts"),
    [
        ("https://other.example.com", ["portal.example.com"]),
        ("https://*", ["*"]),
        ("https://.example.com", [".example.com"]),
        ("https://", ["portal.example.com"]),
    ],
)
def test_an_address_that_the_portal_does_not_answer(settings: Any, address: str, hosts: list[str]) -> None:
    settings.PORTAL_ADDRESS, settings.ALLOWED_HOSTS = address, hosts
    assert found() == ["E002"]


@pytest.mark.parametrize("hosts", [["*"], [".example.com"], ["other.example.com", "portal.example.com"]])
def test_hosts_may_be_many(settings: Any, hosts: list[str]) -> None:
    settings.ALLOWED_HOSTS = hosts
    assert found() == []


def test_a_proxy_that_is_not_believed(settings: Any) -> None:
    settings.SECURE_PROXY_SSL_HEADER = None
    assert found() == ["W003"]


def test_the_demo_needs_none_of_it(settings: Any) -> None:
    settings.DEMO, settings.SECURE_PROXY_SSL_HEADER = True, None
    assert found() == []


def test_only_a_check_of_the_deployment_asks(settings: Any) -> None:
    settings.SECURE_PROXY_SSL_HEADER = None
    assert "accounts.W003" in {each.id for each in run_checks(tags=["security"], include_deployment_checks=True)}
    assert "accounts.W003" not in {each.id for each in run_checks()}
