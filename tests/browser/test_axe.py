"""axe-core finds nothing on any page, in both themes and languages, on a wide window and on a phone."""

from typing import Any

import pytest
from django.template.loader import render_to_string
from django.urls import get_resolver
from playwright.sync_api import Page, expect

from tests.browser.axe import faults
from tests.browser.cluster import EmulatedCluster
from tests.browser.conftest import Addresses, Visit
from tests.pages.test_roles import names

pytestmark = pytest.mark.browser

LOOKS: dict[str, dict[str, Any]] = {
    "light, English": {},
    "dark, English, phone": {"dark": True, "width": 390},
    "light, Portuguese, phone": {"language": "pt-BR", "width": 390},
    "dark, Portuguese": {"dark": True, "language": "pt-BR"},
}
looks = pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS.keys())
two_looks = pytest.mark.parametrize("look", list(LOOKS.values())[1:3], ids=list(LOOKS)[1:3])


@looks
def test_every_page(visit: Visit, addresses: Addresses, look: dict[str, Any]) -> None:
    page = visit("platform-admin", **look)
    found = []
    for address in addresses.values():
        page.goto(address)
        found += faults(page)
    assert found == []


def test_the_pages_walked_are_all_there_are(addresses: Addresses) -> None:
    no_pages = {"sign-in-as", "sign-out", "set_language"}
    no_pages |= {"team-usage-csv", "team-workloads-csv", "all-workloads-csv", "team-evictions-csv", "all-evictions-csv"}
    no_pages |= {"inbox-read", "notice-acknowledge", "channel-remove", "message-again", "token-end"}
    no_pages |= {"identity-switch-off", "identity-switch-on", "identity-scim-end", "identity-try"}
    no_pages |= {"identity-trial"}  # test_identity.py looks at it
    no_pages |= {"team-kubeconfig", "break-glass"}
    no_pages |= {"saml-login", "saml-acs", "saml-finish", "saml-logout", "saml-metadata", "scim-root", "scim"}
    assert {kind.rstrip("?") for kind in addresses} == set(names(get_resolver())) - no_pages


@two_looks
@pytest.mark.parametrize("username", ["data-scientist", "team-admin", "newcomer"])
def test_first_page_of_those_without_a_platform_role(visit: Visit, username: str, look: dict[str, Any]) -> None:
    assert faults(visit(username, **look)) == []


@two_looks
def test_refusals(visit: Visit, look: dict[str, Any]) -> None:
    page = visit("data-scientist", may_be_refused=True, **look)
    found = []
    for status, address in ((404, "/teams/vision/"), (403, "/platform/"), (400, "/teams/research/?sort=%00")):
        answer = page.goto(address)
        assert answer
        assert answer.status == status
        found += faults(page)
    assert found == []


@two_looks
def test_a_form_sent_without_its_cookie(visit: Visit, look: dict[str, Any]) -> None:
    page = visit("data-scientist", "/me/", may_be_refused=True, **look)
    page.context.clear_cookies(name="csrftoken")
    with page.expect_response(lambda answer: answer.request.method == "POST") as sent:
        page.get_by_role("main").locator("button[type=submit]").click()
    assert sent.value.status == 403
    assert faults(page) == []


@two_looks
def test_what_stands_when_a_view_broke(visit: Visit, look: dict[str, Any]) -> None:
    page = visit("data-scientist", may_be_refused=True, **look)
    broken = render_to_string("500.html", {"request_id": "3f9c2a7d01be"})
    page.route("**/me/", lambda route: route.fulfill(status=500, body=broken, content_type="text/html"))
    page.goto("/me/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert faults(page) == []


@two_looks
def test_lost_connection(visit: Visit, look: dict[str, Any]) -> None:
    page = visit("data-scientist", may_be_refused=True, **look)
    page.context.set_offline(True)
    expect(page.locator("#live-broken")).to_be_visible()
    assert faults(page) == []


def test_menu_of_a_phone(visit: Visit) -> None:
    page = visit("data-scientist", width=390)
    page.get_by_role("button", name="Menu").click()
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    assert faults(page) == []


@two_looks
def test_help_open(visit: Visit, look: dict[str, Any]) -> None:
    page = visit("data-scientist", "/teams/research/", **look)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert faults(page) == []


@two_looks
def test_a_page_with_changes_to_show(visit: Visit, still: EmulatedCluster, look: dict[str, Any]) -> None:
    page = visit("data-scientist", "/teams/research/", **look)
    still.submit("alpha")
    expect(page.locator("#live-show")).to_be_visible()
    assert faults(page) == []


def test_faults_are_found(visit: Visit) -> None:
    page = visit("data-scientist", "/me/")
    spoil(page)
    rules = {line.split()[1] for line in faults(page)}
    assert {"image-alt", "target-size", "color-contrast", "button-name"} <= rules


def spoil(page: Page) -> None:
    """Put in what axe-core has to find."""
    page.evaluate(
        """() => {
            const main = document.querySelector("main");
            const image = document.createElement("img");
            image.src = "data:,";
            const pale = document.createElement("p");
            pale.textContent = "pale";
            pale.style.color = "#ddd";
            const small = ["a", "b"].map(() => document.createElement("button"));
            small.forEach((each) => { each.style.cssText = "width:9px;height:9px;padding:0;border:0"; });
            main.append(image, pale, ...small);
        }"""
    )
