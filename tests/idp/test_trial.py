"""An admin tries a real identity provider out before anybody can sign in by it."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.chromium import sign_in_as
from tests.idp.conftest import NewBrowser
from tests.idp.journey import give_password, is_signed_in, sign_in, status, told
from tests.idp.portal import ADMIN, SamlPortal
from tests.idp.simplesamlphp import SimpleSamlPhp

pytestmark = pytest.mark.idp


@pytest.fixture
def admin(page: Page) -> Page:
    sign_in_as(page, ADMIN)
    return page


def try_out(admin: Page, portal: SamlPortal) -> str:
    """What the page says of it."""
    admin.goto("/platform/identity/providers/fresh/try/")
    if not admin.url.startswith(portal.address):
        give_password(admin, portal)
    assert re.fullmatch(f"{portal.address}/platform/identity/trials/[0-9a-f-]+/", admin.url)
    return told(admin)


def test_what_would_be_refused_says_what_to_do(admin: Page, portal: SamlPortal, idp: SimpleSamlPhp) -> None:
    idp.set(sp={"saml20.sign.response": False})
    text = try_out(admin, portal)
    assert "This sign-in would be refused" in text
    assert "Have it sign both" in text
    assert "the assertion alone" in text
    assert "Switch it on" not in text


def test_what_arrived_is_shown_and_switched_on(
    admin: Page, portal: SamlPortal, idp: SimpleSamlPhp, new_browser: NewBrowser
) -> None:
    person = new_browser().new_page()
    assert status(person, "/saml/fresh/login/") == 404
    text = try_out(admin, portal)
    assert "This would be a sign-in" in text
    assert all(part in text for part in ("fresh:ana-0001", "response and assertion", "ana@example.org", "g-research"))
    assert status(admin, "/platform/identity/") == 200, "still as the admin"
    admin.get_by_role("button", name="Switch it on for everybody").click()
    expect(admin).to_have_url(f"{portal.address}/platform/identity/providers/fresh/")
    sign_in(person, portal, "fresh")
    assert is_signed_in(person)
    assert status(person, "/teams/research/") == 200
