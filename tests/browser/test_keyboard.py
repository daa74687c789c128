"""Each job done by keyboard alone, with a focus that is always seen."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.cluster import EmulatedCluster
from tests.browser.conftest import Visit, wait_until_told
from tests.browser.keyboard import follow, stop, stops, tab, tab_to
from tests.services.portal import RunningPortal

pytestmark = pytest.mark.browser

TEAM = "/teams/research/"
IDENTITY = ("/platform/identity/", "/platform/identity/connect/", "/platform/identity/providers/corp/")
AT_ONCE: dict[str, Any] = {"reduced_motion": "reduce"}  # a page that still scrolls shows nothing in its place


@pytest.fixture
def page(visit: Visit) -> Page:
    """Before signing in."""
    page = visit("data-scientist", **AT_ONCE)
    page.context.clear_cookies()
    page.goto("/sign-in/")
    return page


def sign_in(page: Page, name: str) -> None:
    tab_to(page, name)
    follow(page)


def test_member_finds_out_why_a_job_waits_and_comes_back(
    page: Page, still: EmulatedCluster, portal: RunningPortal
) -> None:
    still.submit("alpha")
    still.let_kueue_refuse("alpha")
    wait_until_told(portal, "alpha")
    sign_in(page, "Data scientist of research")
    expect(page).to_have_url(re.compile(f"{TEAM}$"))
    tab_to(page, "alpha")
    tab_to(page, "Raw condition")
    page.keyboard.press("Enter")
    expect(page.locator("pre:visible")).to_contain_text("insufficient quota for nvidia.com/gpu")
    tab_back_to(page, "alpha")
    follow(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("alpha")
    expect(page.get_by_role("main")).to_contain_text("GPUs")
    tab_to(page, "Research")
    follow(page)
    expect(page).to_have_url(re.compile(f"{TEAM}$"))


def tab_back_to(page: Page, words: str) -> None:
    while tab(page, "Shift+Tab").words != words:
        assert not stop(page).is_page


def test_platform_admin_reads_who_borrows_and_goes_on_to_the_cluster(page: Page) -> None:
    sign_in(page, "Platform admin")
    expect(page).to_have_url(re.compile("/platform/$"))
    expect(page.get_by_role("img", name=re.compile("borrowed")).first).to_be_attached()
    tab_to(page, "See nodes")
    follow(page)
    expect(page.get_by_role("heading", name="Nodes", exact=True)).to_be_in_viewport()
    page.reload()
    tab_to(page, "Vision")
    follow(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Vision")
    page.go_back()
    tab_to(page, "GPU demo")
    follow(page)
    expect(page.get_by_role("heading", name="How its reading goes")).to_be_visible()


def test_language_is_switched(page: Page) -> None:
    sign_in(page, "Auditor")
    tab_to(page, "Português Brasileiro")
    follow(page)
    expect(page.locator("html")).to_have_attribute("lang", "pt-br")
    tab_to(page, "English")
    follow(page)
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_theme_is_switched(page: Page) -> None:
    sign_in(page, "Auditor")
    tab_to(page, "Switch between light and dark")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")


def test_settings_are_changed_and_a_mistake_is_told(page: Page) -> None:
    sign_in(page, "FinOps")
    tab_to(page, "FinOps")
    follow(page)
    zone = page.get_by_label("Time zone")
    tab_to(page, "time_zone")
    page.keyboard.type("Nowhere/At all")
    tab_to(page, "Save")
    follow(page)
    expect(page.get_by_role("main").locator("[aria-invalid=true]")).to_have_count(1)
    tab_to(page, "time_zone")
    page.keyboard.press("Control+A")
    page.keyboard.type("Asia/Tokyo")
    tab_to(page, "Save")
    follow(page)
    expect(page.locator("[aria-invalid=true]")).to_have_count(0)
    page.reload()
    expect(zone).to_have_value("Asia/Tokyo")


def test_first_stop_skips_to_the_content(page: Page) -> None:
    sign_in(page, "Data scientist of research")
    expect(page).to_have_url(re.compile(f"{TEAM}$"))
    assert tab(page).words == "Skip to content"
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.locator("main :focus").count() == 1


@pytest.mark.parametrize("path", [TEAM, "/platform/", "/platform/clusters/gpu-demo/", "/me/", "/gallery/", *IDENTITY])
@pytest.mark.parametrize("width", [320, 1280])
def test_every_stop_is_seen_and_there_is_no_trap(visit: Visit, path: str, width: int) -> None:
    page = visit("platform-admin", path, width=width, **AT_ONCE)
    page.clock.install()  # no refresh in mid-walk
    page.reload()
    walked = stops(page)
    assert walked[0] == "Skip to content"
    assert "" not in walked


def test_changes_are_paused_and_shown_by_keyboard(visit: Visit, still: EmulatedCluster) -> None:
    page = visit("data-scientist", **AT_ONCE)
    tab_to(page, "Pause updates")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Resume updates")).to_be_focused()
    page.keyboard.press("Enter")
    still.submit("alpha")
    expect(page.get_by_role("button", name="Show 1 change")).to_be_visible()
    tab_back_to(page, "Show 1 change")
    page.keyboard.press("Enter")
    waiting = page.get_by_role("table", name="Waiting now")
    expect(waiting.get_by_role("link", name="alpha", exact=True)).to_be_visible()
    assert not stop(page).is_page
