"""Search, help, copying and lists by keyboard alone."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit

pytestmark = pytest.mark.browser

TEAM, JOBS = "/teams/research/", "/teams/research/workloads/"


@pytest.fixture
def page(visit: Visit) -> Page:
    return visit("data-scientist", TEAM)


def test_the_slash_goes_to_search_from_anywhere(page: Page) -> None:
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.type("res/?")
    expect(page.locator("#search")).to_have_value("res/?")
    page.locator("#search").fill("research")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/search/\?q=research$"))
    page.get_by_role("region", name="Teams").get_by_role("link", name="Research").press("Enter")
    expect(page).to_have_url(re.compile(f"{TEAM}$"))


def test_the_question_mark_opens_help_and_escape_leaves_the_focus_where_it_was(page: Page) -> None:
    link = page.get_by_role("link", name="All jobs")
    link.focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Help")).to_be_visible()
    page.keyboard.press("/")
    expect(page.locator("#search")).not_to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Help")).to_be_hidden()
    expect(link).to_be_focused()


def test_help_opens_by_its_button_and_closes_by_its_own(page: Page) -> None:
    page.get_by_role("link", name="Help").press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Close").press("Enter")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_role("link", name="Help")).to_be_focused()


def test_keys_with_others_held_are_the_browsers(page: Page) -> None:
    for keys in ("Control+/", "Alt+/", "Meta+/"):
        page.keyboard.press(keys)
    expect(page.locator("#search")).not_to_be_focused()


def save(page: Page) -> None:
    with page.expect_navigation():
        page.get_by_role("button", name="Save").click()


def test_a_person_may_switch_single_keys_off(visit: Visit) -> None:
    page = visit("auditor", "/me/")
    switch = page.get_by_label("Single keys are shortcuts")
    switch.uncheck()
    save(page)
    page.keyboard.press("/")
    page.keyboard.press("?")
    expect(page.locator("#search")).not_to_be_focused()
    expect(page.get_by_role("dialog")).to_be_hidden()
    switch.check()
    save(page)
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()


def test_a_command_is_copied_and_that_is_said(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    command = "kubectl get workloads -n hyperpod-ns-research"
    page.get_by_role("button", name=f"Copy {command}").press("Enter")
    expect(page.locator("#said")).to_have_text(f"Copied: {command}")
    assert page.evaluate("navigator.clipboard.readText()") == command


def test_where_copying_is_not_allowed_that_is_said(page: Page) -> None:
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.get_by_role("button", name="Copy hyperpod-ns-research").press("Enter")
    expect(page.locator("#said")).to_have_text("Copying is not allowed here. Select the text instead.")


def test_search_and_help_need_no_script(page: Page) -> None:
    assert page.context.browser
    same_session = page.context.storage_state()
    with page.context.browser.new_context(java_script_enabled=False, storage_state=same_session) as context:
        plain = context.new_page()
        plain.goto(page.url)
        plain.locator("#search").fill("research")
        plain.locator("#search").press("Enter")
        expect(plain.get_by_role("heading", name="Found for “research”")).to_be_visible()
        plain.get_by_role("link", name="Help").click()
        expect(plain.get_by_role("heading", name="Words")).to_be_visible()


def test_a_list_is_filtered_sorted_and_left_by_keyboard(page: Page) -> None:
    page.get_by_role("link", name="All jobs").press("Enter")
    page.get_by_label("Name contains").fill("e")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"{JOBS}\?q=e$"))
    page.get_by_role("navigation", name="Groups of jobs").get_by_role("link", name="Running").press("Enter")
    expect(page).to_have_url(re.compile(r"q=e&group=running$"))
    page.get_by_role("columnheader", name="Job").get_by_role("link").press("Enter")
    expect(page.get_by_role("columnheader", name="Job")).to_have_attribute("aria-sort", "ascending")
    page.go_back()
    expect(page).to_have_url(re.compile(r"q=e&group=running$"))
    page.get_by_role("link", name="Clear the filters").first.press("Enter")
    expect(page).to_have_url(re.compile(r"\?group=running$"))
    expect(page.get_by_label("Name contains")).to_have_value("")


@pytest.mark.parametrize("width", [320, 390])
@pytest.mark.parametrize("path", [JOBS, f"{JOBS}?group=waiting&kind=RayJob&q=a", "/search/?q=e"])
def test_lists_and_search_fit_a_phone(visit: Visit, width: int, path: str) -> None:
    page = visit("data-scientist", path, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_on_a_phone_a_list_is_sorted_all_the_same(visit: Visit) -> None:
    page = visit("data-scientist", JOBS, width=320)
    page.get_by_role("link", name="GPUs", exact=True).click()
    expect(page).to_have_url(re.compile(r"\?sort=-gpus$"))


def test_the_csv_is_downloaded(page: Page) -> None:
    page.goto(f"{JOBS}?group=running")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV of this list").click()
    assert download.value.suggested_filename == "research-jobs.csv"
    assert download.value.path().read_text().startswith("team,cluster,namespace,job,")
