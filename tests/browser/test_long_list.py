"""Five thousand jobs, and a filter that matches only rows of page 90: whatever the page says of them agrees."""

import csv
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.many import FIRST_NEEDLE, NEEDLES
from tests.chromium import sign_in_as
from tests.services.portal import ROOT, RunningPortal

pytestmark = pytest.mark.browser

COUNT = 5_000
JOBS = "/teams/research/workloads/"


@pytest.fixture(scope="module")
def long_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningPortal]:
    """A web server alone: nobody reads the cluster."""
    folder = tmp_path_factory.mktemp("long")
    running = RunningPortal(folder, f"sqlite:///{folder}/portal.sqlite3", "filesystem://localhost")
    running.prepare()
    fill = [sys.executable, "-m", "tests.browser.many", str(COUNT)]
    subprocess.run(fill, cwd=ROOT, env=running.environment, check=True)
    try:
        running.start("web")
        yield running
    finally:
        running.stop_all()


@pytest.fixture
def page(browser: Browser, long_portal: RunningPortal) -> Iterator[Page]:
    with browser.new_context(base_url=f"http://127.0.0.1:{long_portal.web_port}", locale="en") as context:
        page = context.new_page()
        sign_in_as(page, "data-scientist")
        page.goto(f"{JOBS}?sort=-created&per=50&page=90")
        yield page


def names(page: Page) -> list[str]:
    return page.locator("[data-row] a.job").all_inner_texts()


def groups(page: Page) -> list[str]:
    links = page.get_by_role("navigation", name="Groups of jobs").get_by_role("link").all_inner_texts()
    return [" ".join(link.split()) for link in links]


def test_page_90_holds_what_the_filter_finds_and_everything_agrees(page: Page) -> None:
    expect(page.get_by_text("4,451 to 4,500 of 5,000")).to_be_visible()
    needles = [name for name in names(page) if name.startswith("needle")]
    assert len(needles) == NEEDLES
    assert names(page).index(needles[0]) == FIRST_NEEDLE - 4450
    page.get_by_label("Name contains").fill("needle")
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"1 to {NEEDLES} of {NEEDLES}")).to_be_visible()
    assert names(page) == needles
    assert groups(page) == [f"All {NEEDLES}", f"Now {NEEDLES}", f"Waiting {NEEDLES}", "Running 0", "Ended 0"]
    expect(page.get_by_role("navigation", name="Pages")).to_have_count(0)
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV of this list").click()
    rows = list(csv.DictReader(download.value.path().read_text().splitlines()))
    assert [row["job"] for row in rows] == needles
    page.get_by_role("link", name="Clear the filters").first.click()
    expect(page.get_by_text("1 to 50 of 5,000")).to_be_visible()
    assert groups(page) == ["All 5,000", "Now 5,000", "Waiting 5,000", "Running 0", "Ended 0"]


def test_pages_follow_each_other_to_the_last(page: Page) -> None:
    page.get_by_role("link", name="Next", exact=True).click()
    expect(page.get_by_text("4,501 to 4,550 of 5,000")).to_be_visible()
    page.get_by_role("link", name="Last", exact=True).click()
    expect(page).to_have_url(re.compile("page=100$"))
    expect(page.get_by_text("Page 100 of 100")).to_be_visible()
    assert names(page)[-1] == f"straw-{COUNT - 1:05}"
    expect(page.get_by_role("link", name="Next", exact=True)).to_have_count(0)
    page.get_by_role("link", name="First", exact=True).click()
    assert names(page)[0] == "straw-00000"
    page.go_back()
    expect(page.get_by_text("Page 100 of 100")).to_be_visible()


def test_the_csv_of_all_has_all(page: Page) -> None:
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV of this list").click()
    assert len(download.value.path().read_text().splitlines()) == COUNT + 1
