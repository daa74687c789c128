"""A platform admin connects an identity provider, tries it out and switches it on, by keyboard alone."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, Route, expect

from accounts.models import IdentityProvider
from tests.accounts.saml.idp import Idp, key_pair, metadata, request_id, sent
from tests.browser.axe import faults
from tests.browser.conftest import Visit
from tests.browser.keyboard import follow, tab_to
from tests.services.portal import RunningPortal

pytestmark = pytest.mark.browser

THERE = "http://localhost:9/sso"
"""Another site than the portal's; no connection leaves the browser."""
_POSTS = """<!doctype html><form method="post" action="{acs}"><input name="SAMLResponse" value="{answer}"></form>
<script>document.forms[0].submit()</script>"""

_FORGET = "from accounts.models import IdentityProvider; IdentityProvider.objects.filter(slug='by-hand').delete()"
"""Other tests follow links: there is nobody to sign in at."""


@pytest.fixture
def idp() -> Idp:
    now = datetime.now(UTC).replace(microsecond=0)
    return Idp(IdentityProvider(slug="by-hand"), *key_pair(now), now)


@pytest.fixture
def page(visit: Visit, portal: RunningPortal, idp: Idp) -> Iterator[Page]:
    page = visit("platform-admin", "/platform/identity/", reduced_motion="reduce")
    ours = f"http://127.0.0.1:{portal.web_port}/saml/by-hand"

    def answer(route: Route) -> None:
        said = {"email": ["ana@example.org"], "groups": ["g-1", "g-2"]}
        response = idp.response(
            request_id(route.request.url), attributes=said, acs=f"{ours}/acs/", audience=f"{ours}/metadata/"
        )
        body = _POSTS.format(acs=f"{ours}/acs/", answer=sent(idp.signed(response)))
        route.fulfill(body=body, content_type="text/html")

    page.route(f"{THERE}**", answer)
    yield page
    portal.manage("shell", "-c", _FORGET)


def test_from_the_first_name_to_the_switch(page: Page, visit: Visit, idp: Idp) -> None:
    tab_to(page, "Connect one")
    follow(page)
    tab_to(page, "kind")
    page.keyboard.press("Space")
    for field, text in (("name", "By hand"), ("slug", "by-hand")):
        tab_to(page, field)
        page.keyboard.type(text)
    tab_to(page, "Go on")
    follow(page)
    expect(page.get_by_role("main")).to_contain_text("${user:subject}")
    tab_to(page, "metadata")
    page.keyboard.insert_text(metadata(idp.entity_id, [idp.certificate], THERE))
    tab_to(page, "Save")
    follow(page)
    tab_to(page, "Try to sign in")
    page.keyboard.press("Enter")
    expect(page.get_by_text("This would be a sign-in")).to_be_visible()
    expect(page.get_by_role("button", name="sign out")).to_be_visible()
    assert faults(page) == []
    look = visit("platform-admin", page.url, dark=True, width=390, language="pt-BR")
    expect(look.get_by_text("Esta entrada seria aceita")).to_be_visible()
    assert faults(look) == []
    tab_to(page, "Switch it on for everybody")
    follow(page)
    expect(page.get_by_role("main")).to_contain_text("switched on")
    tab_to(page, "Switch off")
    follow(page)
    expect(page.get_by_role("main")).to_contain_text("switched off")
