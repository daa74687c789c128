"""Who signed in long ago is asked for the password once more, by the identity provider itself."""

import base64
import re
import zlib
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from lxml import etree
from playwright.sync_api import Page, expect

from tests.idp.journey import give_password, is_signed_in, sign_in, told
from tests.idp.portal import SamlPortal
from tests.idp.simplesamlphp import SimpleSamlPhp

pytestmark = pytest.mark.idp

TOKENS = "/me/tokens/"
HOUR = 3600


def make_token(page: Page) -> None:
    page.fill("[name=name]", "nightly report")
    page.locator("[name=scopes]").first.check()
    page.get_by_role("button", name="Make").click()


def without_the_wish(address: str) -> str:
    """The request's address as whoever sits at the browser can change it: it is not signed."""
    parts = urlsplit(address)
    request = etree.fromstring(zlib.decompress(base64.b64decode(parse_qs(parts.query)["SAMLRequest"][0]), -15))
    assert request.attrib.pop("ForceAuthn") == "true"
    changed = base64.b64encode(zlib.compress(etree.tostring(request))[2:-4]).decode()
    return parts._replace(query=f"SAMLRequest={quote(changed, safe='')}").geturl()


def test_a_fresh_sign_in_is_enough(page: Page, portal: SamlPortal) -> None:
    sign_in(page, portal, target=TOKENS)
    make_token(page)
    expect(page.locator("main")).to_contain_text("Your new token")


def test_one_of_an_hour_ago_gives_the_password_again_and_is_fresh_then(
    page: Page, portal: SamlPortal, idp: SimpleSamlPhp
) -> None:
    idp.set(asked_seconds_ago=HOUR)
    sign_in(page, portal, target=TOKENS)
    assert is_signed_in(page)
    assert page.get_by_role("button", name="Make").count() == 0
    page.goto("/saml/corp/login/?next=/search/")
    page.wait_for_url(f"{portal.address}/search/")  # the provider's own session is enough for this
    page.goto(TOKENS)
    idp.set(asked_seconds_ago=0)
    page.get_by_role("link", name="Sign in anew").click()
    expect(page).to_have_url(re.compile(re.escape(idp.address)))
    give_password(page, portal)
    assert page.url == f"{portal.address}{TOKENS}"
    make_token(page)
    expect(page.locator("main")).to_contain_text("Your new token")


def test_an_answer_of_a_provider_that_did_not_ask_is_refused(
    page: Page, portal: SamlPortal, idp: SimpleSamlPhp
) -> None:
    idp.set(asked_seconds_ago=HOUR)
    sign_in(page, portal, target=TOKENS)
    way = page.get_by_role("link", name="Sign in anew").get_attribute("href") or ""
    page.goto(without_the_wish(page.request.get(way, max_redirects=0).headers["location"]))
    page.wait_for_url(f"{portal.address}/**")
    assert "was to ask for your credentials anew and did not" in told(page)
    assert 'reason="not asked anew"' in portal.last_refusal()
    assert is_signed_in(page), "as before"
    page.goto(TOKENS)
    expect(page.get_by_role("link", name="Sign in anew")).to_be_visible()
    assert page.get_by_role("button", name="Make").count() == 0
