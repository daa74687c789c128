"""A job's page: what is read only when somebody opens it, by hand and by keyboard."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.services.portal import RunningPortal, wait_until

pytestmark = pytest.mark.browser

PARTS = ("pods", "events", "manifest")


def open_running_job(visit: Visit, **options: object) -> Page:
    page = visit("data-scientist", **options)
    page.locator("section", has=page.get_by_role("heading", name="Running now")).locator("a.job").first.click()
    expect(page.get_by_role("heading", name="How it stands")).to_be_visible()
    return page


def opened(page: Page, part: str) -> Locator:
    page.locator(f"#{part} > summary").click()
    return page.locator(f"#{part} [data-part]")


def settled(page: Page) -> None:
    """Until what came is htmx's: before, its links lead to pages of their own."""
    expect(page.locator(".htmx-added, .htmx-settling, .htmx-swapping")).to_have_count(0)


def asked(page: Page) -> list[str]:
    """Parts that the page asked for so far, in order."""
    asked: list[str] = page.evaluate("performance.getEntriesByType('resource').map(each => each.name)")
    return [name.rstrip("/").rpartition("/")[2] for name in asked if name.rstrip("/").endswith(PARTS)]


def test_parts_are_read_when_they_are_opened_and_only_then(visit: Visit) -> None:
    page = open_running_job(visit)
    assert asked(page) == []
    expect(opened(page, "pods").get_by_role("row")).not_to_have_count(0)
    expect(opened(page, "events").locator("#again-events")).to_be_visible()
    expect(opened(page, "manifest").get_by_text("value: •••").first).to_be_visible()
    page.locator("#pods > summary").click()
    page.locator("#pods > summary").click()
    page.wait_for_function("performance.getEntriesByType('resource').some(each => each.name.endsWith('/manifest/'))")
    assert asked(page) == list(PARTS)


def test_by_keyboard_and_the_focus_stays(visit: Visit) -> None:
    page = open_running_job(visit)
    page.locator("#pods > summary").press("Enter")
    again = page.locator("#again-pods")
    expect(again).to_be_visible()
    settled(page)
    with page.expect_response(re.compile("/pods/$")):
        again.press("Enter")
    expect(page.locator("#again-pods")).to_be_focused()


def test_opened_parts_stay_while_the_page_keeps_itself_current(visit: Visit) -> None:
    page = open_running_job(visit)
    expect(opened(page, "pods").get_by_role("row")).not_to_have_count(0)
    with page.expect_response(lambda answer: answer.request.headers.get("hx-request") == "true"):
        pass
    expect(page.locator("#pods [data-part]").get_by_role("row").first).to_be_visible()


@pytest.mark.parametrize("width", [320, 390])
def test_opened_parts_fit_a_phone(visit: Visit, width: int) -> None:
    page = open_running_job(visit, width=width, height=700)
    for part in PARTS:
        expect(opened(page, part).locator(f"#again-{part}")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@contextmanager
def without_cluster(portal: RunningPortal) -> Iterator[None]:
    portal.stop("emulator")
    try:
        yield
    finally:
        portal.start("emulator")


def test_with_the_api_server_gone_the_part_says_so_and_the_page_stays(visit: Visit, portal: RunningPortal) -> None:
    page = open_running_job(visit)
    with without_cluster(portal):
        pods = opened(page, "pods")
        expect(pods.get_by_text("The cluster does not answer now")).to_be_visible()
        expect(page.get_by_role("heading", name="Quota it held")).to_be_visible()
    wait_until(lambda: healed(page), "the part to heal")
    expect(pods.get_by_role("row")).not_to_have_count(0)


def healed(page: Page) -> bool:
    settled(page)
    with page.expect_response(re.compile("/pods/$")):
        page.locator("#again-pods").click()
    page.wait_for_timeout(200)
    return page.get_by_text("The cluster does not answer now").count() == 0


def test_a_part_that_does_not_come_says_so(visit: Visit) -> None:
    page = open_running_job(visit, may_be_refused=True)
    page.route("**/pods/", lambda route: route.abort())
    page.reload()  # a page that stood before may go on asking past the route
    expect(opened(page, "pods").get_by_role("alert")).to_have_text(re.compile("The portal did not answer"))
    expect(opened(page, "events").locator("#again-events")).to_be_visible()
