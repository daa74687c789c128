"""Each role finds what it came for, from sign-in to answer."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit

pytestmark = pytest.mark.browser

SENTENCE = re.compile(r"\d+ of \d+ own, \d+ borrowed, \S+( to \d+)? lent\.")


def test_data_scientist_lands_on_the_team_and_reads_its_quota(visit: Visit) -> None:
    page = visit("data-scientist")
    expect(page).to_have_url(re.compile(r"/teams/research/$"))
    expect(page.get_by_role("heading", name="Research", exact=True)).to_be_visible()
    expect(page.get_by_text(SENTENCE).first).to_be_visible()
    expect(page.get_by_role("heading", name="Waiting now")).to_be_visible()
    expect(page.get_by_text("Facts from the cluster, read")).to_be_visible()


def test_data_scientist_opens_a_running_job(visit: Visit) -> None:
    page = visit("data-scientist")
    job = page.locator("section", has=page.get_by_role("heading", name="Running now")).locator("a.job").first
    name = job.inner_text()
    job.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)
    expect(page.get_by_role("heading", name="Quota it held")).to_be_visible()


def test_data_scientist_cannot_see_another_team(visit: Visit) -> None:
    page = visit("vision-member")
    answer = page.request.get("/teams/research/")
    assert answer.status == 404
    assert "research" not in page.content().lower()


def test_platform_admin_lands_on_the_overview(visit: Visit) -> None:
    page = visit("platform-admin")
    expect(page).to_have_url(re.compile(r"/platform/$"))
    expect(page.get_by_role("img", name=re.compile(r"^H100\. \d+ of 48 own")).first).to_be_visible()
    expect(page.get_by_role("row", name="ml.p5.48xlarge")).to_contain_text("15 of 16")


def test_team_admin_chooses_between_teams(visit: Visit) -> None:
    page = visit("team-admin", "/")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Language").click()
    expect(page).to_have_url(re.compile(r"/teams/language/$"))


def test_newcomer_is_told_whom_to_ask(visit: Visit) -> None:
    expect(visit("newcomer").get_by_text("You belong to no team yet")).to_be_visible()


def test_demo_says_so_on_every_page(visit: Visit) -> None:
    for username, path in (("data-scientist", "/teams/research/"), ("finops", "/platform/"), ("newcomer", "/")):
        expect(visit(username, path).get_by_text("Demo: the cluster is emulated")).to_be_visible()


def test_pages_fit_a_phone(visit: Visit) -> None:
    page = visit("data-scientist", width=320, height=640)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_menu_opens_and_closes_by_keyboard(visit: Visit) -> None:
    page = visit("data-scientist", width=390, height=800)
    menu = page.get_by_role("button", name="Menu")
    menu.press("Enter")
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("navigation", name="Main")).to_be_hidden()
    expect(menu).to_be_focused()
