"""Signing in at a real identity provider, and what its groups give."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from accounts.claims import OVERAGE
from tests.idp.conftest import NewBrowser
from tests.idp.journey import give_password, is_signed_in, sign_in, status
from tests.idp.portal import SamlPortal
from tests.idp.simplesamlphp import SimpleSamlPhp
from tests.services.portal import wait_until

pytestmark = pytest.mark.idp

TEAM = "/teams/research/"
SHORT = 15  # seconds


def test_the_first_sign_in_leads_to_the_page_that_was_asked_for(page: Page, portal: SamlPortal) -> None:
    page.goto(f"{TEAM}?of=me")
    page.get_by_role("link", name="Example Corp").click()
    give_password(page, portal)
    assert page.url == f"{portal.address}{TEAM}?of=me"
    expect(page.locator("h1")).to_contain_text("Research")
    page.goto("/me/")
    assert "Ana Lima" in page.content()


def test_no_other_site_is_led_to(page: Page, portal: SamlPortal) -> None:
    sign_in(page, portal, target="//127.0.0.1:1/")
    assert page.url.startswith(f"{portal.address}/")
    assert is_signed_in(page)


def test_groups_give_roles_and_their_loss_ends_pages_and_parts_at_once(
    page: Page, portal: SamlPortal, idp: SimpleSamlPhp, new_browser: NewBrowser
) -> None:
    idp.say("ana", groups=["g-research", "g-finops"])
    sign_in(page, portal)
    pages = (TEAM, f"{TEAM}workloads/", f"{TEAM}usage/")
    assert [status(page, path) for path in (*pages, "/platform/")] == [200] * 4
    assert [status(page, path, part=True) for path in (TEAM, "/platform/")] == [200] * 2
    idp.say("ana", groups=["g-of-nothing"])
    sign_in(new_browser().new_page(), portal)
    assert [status(page, path) for path in (*pages, "/platform/")] == [404, 404, 404, 403]
    assert [status(page, path, part=True) for path in (TEAM, "/platform/")] == [404, 403]
    assert is_signed_in(page), "the person is still somebody"


def test_no_groups_at_all_are_none(page: Page, portal: SamlPortal, idp: SimpleSamlPhp, new_browser: NewBrowser) -> None:
    sign_in(page, portal)
    assert status(page, TEAM) == 200
    idp.say("ana", groups=[])
    sign_in(new_browser().new_page(), portal)
    assert status(page, TEAM) == 404


def test_two_hundred_groups(page: Page, portal: SamlPortal, idp: SimpleSamlPhp) -> None:
    idp.say("ana", groups=[*(f"00000000-0000-0000-0000-{number:012}" for number in range(200)), "g-research"])
    sign_in(page, portal)
    assert status(page, TEAM) == 200


def test_a_link_instead_of_groups_leaves_those_known_before(
    page: Page, portal: SamlPortal, idp: SimpleSamlPhp, new_browser: NewBrowser
) -> None:
    sign_in(page, portal)
    idp.say("ana", groups=[], **{OVERAGE: ["https://graph.windows.net/tenant/users/ana/getMemberObjects"]})
    second = new_browser().new_page()
    sign_in(second, portal)
    assert [status(each, TEAM) for each in (page, second)] == [200, 200]


def test_the_session_ends_when_the_provider_says_so(page: Page, portal: SamlPortal, idp: SimpleSamlPhp) -> None:
    idp.set(session_seconds=SHORT)
    sign_in(page, portal, target=TEAM)
    assert status(page, TEAM) == 200
    wait_until(lambda: not is_signed_in(page), "the session's end", 2 * SHORT)
    assert status(page, TEAM, part=True) == 204, "and the page's script leads to the sign-in"
    page.goto(TEAM)
    assert page.url == f"{portal.address}/sign-in/?next={TEAM}"


def test_no_session_is_longer_than_the_portal_allows(page: Page, portal: SamlPortal, idp: SimpleSamlPhp) -> None:
    idp.set(session_seconds=48 * 3600)
    sign_in(page, portal)
    (cookie,) = [each for each in page.context.cookies(portal.address) if each["name"] == "sessionid"]
    most = datetime.now(UTC) + timedelta(hours=12)
    assert most - timedelta(minutes=1) < datetime.fromtimestamp(cookie["expires"], UTC) <= most
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Lax")


def test_two_tabs_at_once(page: Page, portal: SamlPortal) -> None:
    other = page.context.new_page()
    page.goto("/saml/corp/login/?next=/me/")
    other.goto("/saml/corp/login/?next=/search/")
    give_password(other, portal)
    give_password(page, portal)
    assert [tab.url for tab in (page, other)] == [f"{portal.address}/me/", f"{portal.address}/search/"]
    assert is_signed_in(page)


def test_who_signed_in_may_sign_in_as_somebody_else(page: Page, portal: SamlPortal, idp: SimpleSamlPhp) -> None:
    """Another person of the same browser begins with nothing of the first one's."""
    sign_in(page, portal)
    idp.say("ana", uid=["bob-0002"], displayName=["Bob Reis"], groups=["g-of-nothing"])
    page.context.clear_cookies(domain="127.0.0.1")
    sign_in(page, portal)
    assert "Bob Reis" in page.content()
    assert status(page, TEAM) == 404
