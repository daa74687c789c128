"""The portal with a key of its own: what it signs, and what it says of itself, is understood."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.idp.journey import give_password, is_signed_in, sign_in, sign_out_there
from tests.idp.portal import SamlPortal
from tests.idp.simplesamlphp import SimpleSamlPhp

pytestmark = pytest.mark.idp


@pytest.fixture(scope="module", autouse=True)
def with_a_key(portal: SamlPortal, pairs: list[tuple[str, str]]) -> Iterator[None]:
    before = dict(portal.environment)
    portal.environment |= {"PORTAL_SAML_KEY": pairs[1][0], "PORTAL_SAML_CERTIFICATE": pairs[1][1]}
    portal.restart_web()
    yield
    portal.environment = before
    portal.restart_web()


def expect_signatures_of(idp: SimpleSamlPhp, pair: tuple[str, str]) -> None:
    certificate = "".join(pair[1].split("\n")[1:-2])
    idp.set(sp={"validate.authnrequest": True, "validate.logout": True, "certData": certificate})


def test_requests_and_answers_are_signed(
    page: Page, portal: SamlPortal, idp: SimpleSamlPhp, pairs: list[tuple[str, str]]
) -> None:
    expect_signatures_of(idp, pairs[1])
    sign_in(page, portal)
    assert is_signed_in(page)
    sign_out_there(page, portal, idp)
    assert page.url == f"{portal.address}/sign-in/?choose=1"
    assert not is_signed_in(page)


def test_the_provider_does_check_them(
    page: Page, portal: SamlPortal, idp: SimpleSamlPhp, pairs: list[tuple[str, str]]
) -> None:
    expect_signatures_of(idp, pairs[0])
    page.goto("/saml/corp/login/")
    assert page.url.startswith(idp.address)
    assert page.locator("[name=password]").count() == 0


def test_our_metadata_is_all_that_it_needs(page: Page, portal: SamlPortal, idp: SimpleSamlPhp) -> None:
    """As an admin pastes it there."""
    idp.set(sp_metadata=[page.request.get("/saml/corp/metadata/").text()], sp_addresses=[])
    page.goto("/saml/corp/login/?next=/me/")
    give_password(page, portal)
    assert is_signed_in(page)
    sign_out_there(page, portal, idp)
    assert not is_signed_in(page)
