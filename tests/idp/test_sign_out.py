"""Sessions that end: here, and at the identity provider."""

import pytest
from playwright.sync_api import Page, expect

from tests.idp.conftest import NewBrowser
from tests.idp.journey import come_back, is_signed_in, sign_in, sign_out_there, told
from tests.idp.portal import SamlPortal
from tests.idp.simplesamlphp import SimpleSamlPhp

pytestmark = pytest.mark.idp


def test_signing_out_says_what_lives_on_there(page: Page, portal: SamlPortal) -> None:
    sign_in(page, portal)
    page.locator("form[action='/sign-out/'] button").first.click()
    expect(page.locator("main")).to_contain_text("At Example Corp you are still signed in")
    assert not is_signed_in(page)
    come_back(page, portal)
    assert is_signed_in(page), "without a password, as the page said"


def test_a_signed_request_of_the_provider_ends_the_session(page: Page, portal: SamlPortal, idp: SimpleSamlPhp) -> None:
    sign_in(page, portal)
    sign_out_there(page, portal, idp)
    assert page.url == f"{portal.address}/sign-in/?choose=1", "by way of the portal and the provider"
    assert not is_signed_in(page)


def test_one_that_is_not_signed_ends_nothing(page: Page, portal: SamlPortal, idp: SimpleSamlPhp) -> None:
    idp.set(idp={"sign.logout": False, "redirect.sign": False})
    sign_in(page, portal)
    sign_out_there(page, portal, idp)
    assert "Nothing has changed" in told(page)
    assert is_signed_in(page)
    assert 'detail="not signed"' in portal.last_refusal()


def test_signing_out_here_and_then_there(page: Page, portal: SamlPortal, idp: SimpleSamlPhp) -> None:
    sign_in(page, portal)
    page.locator("form[action='/sign-out/'] button").first.click()
    expect(page.locator("main")).to_contain_text("you are still signed in")
    sign_out_there(page, portal, idp)
    assert page.url == f"{portal.address}/sign-in/?choose=1", "the portal's answer lets the provider go on"
    page.get_by_role("link", name="Example Corp").click()
    expect(page.locator("[name=password]")).to_be_visible()


def test_the_provider_asks_from_a_frame_of_its_page(
    page: Page, portal: SamlPortal, idp: SimpleSamlPhp, new_browser: NewBrowser
) -> None:
    """The frame is of another site than the page, and no cookie of the portal's is sent from it."""
    idp.set(idp={"logouttype": "iframe"})
    other = new_browser().new_page()
    sign_in(other, portal)
    sign_in(page, portal)
    sign_out_there(page, portal, idp)
    page.get_by_text("Yes, all services").click()
    page.wait_for_url(f"{portal.address}/**")
    assert not is_signed_in(page)
    assert is_signed_in(other), "another session of the provider's"
