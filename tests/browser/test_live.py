"""An open page follows the cluster without moving anything under the reader."""

import re
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import Locator, Page, Request, Route, expect

from tests.browser.cluster import EmulatedCluster
from tests.browser.conftest import Visit, wait_until_told
from tests.chromium import sign_in_as
from tests.services.portal import RunningPortal

pytestmark = pytest.mark.browser

TEAM = "/teams/research/"
MOST_ROWS = 10
"""Of the jobs that wait, on the team's page. Of more, one that went cannot be told from one that was pushed off it."""

OF_THE_DEMO = 4
"""So many of its own jobs wait beside those of a test: with them there are fewer than the page shows."""


@pytest.fixture
def page(visit: Visit, still: EmulatedCluster, portal: RunningPortal) -> Page:
    """The team's page with two jobs of the test's own that wait, and all its rows."""
    still.leave_waiting(OF_THE_DEMO)
    for name in ("alpha", "beta"):
        still.submit(name)
    wait_until_told(portal, "alpha", "beta")
    return visit("data-scientist", may_be_refused=True)


def waiting(page: Page) -> Locator:
    return page.locator("[data-region^=waiting-] [data-row]")


def row_of(page: Page, name: str) -> Locator:
    return waiting(page).filter(has=page.get_by_role("link", name=name, exact=True))


def count(page: Page) -> Locator:
    return page.locator("[data-region^=waiting-count-]")


def waiting_in_all(page: Page) -> int:
    """As many as the page says, whatever it shows."""
    return int(count(page).inner_text().split()[0])


def show(page: Page, changes: int) -> Locator:
    return page.get_by_role("button", name="Show 1 change" if changes == 1 else f"Show {changes} changes", exact=True)


def polls(page: Page) -> list[Request]:
    """Fills with every request of the page's script from now on."""
    found: list[Request] = []
    page.on("request", lambda request: found.append(request) if is_poll(request) else None)
    return found


def is_poll(request: Request) -> bool:
    return request.headers.get("hx-request") == "true"


def hide(page: Page, hidden: bool) -> None:
    """As if another tab came to the front, or this one did again."""
    page.evaluate(
        """(hidden) => {
            Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        hidden,
    )


def test_rows_that_came_wait_behind_a_button(page: Page, still: EmulatedCluster) -> None:
    before, total = waiting(page).all_inner_texts(), waiting_in_all(page)
    still.submit("gamma")
    still.submit("delta")
    expect(show(page, 2)).to_be_visible()
    assert [text.split("\t")[1] for text in waiting(page).all_inner_texts()] == [t.split("\t")[1] for t in before]
    expect(count(page)).to_have_text(f"{total + 2} jobs")
    show(page, 2).click()
    expect(waiting(page)).to_have_count(min(total + 2, MOST_ROWS))
    for name in ("gamma", "delta"):
        expect(row_of(page, name)).to_be_visible()
    expect(show(page, 2)).to_be_hidden()
    expect(page.locator("#live")).to_be_focused()


def test_rows_that_went_stay_in_their_place_until_asked(page: Page, still: EmulatedCluster) -> None:
    before, total = waiting(page).count(), waiting_in_all(page)
    still.remove("alpha")
    button = page.get_by_role("button", name=re.compile("Show [12] change"))  # another may have moved up
    expect(button).to_be_visible()
    expect(waiting(page)).to_have_count(before)  # whatever came waits behind the button
    expect(row_of(page, "alpha")).to_have_class("is-gone")
    button.click()
    expect(row_of(page, "alpha")).to_have_count(0)
    expect(waiting(page)).to_have_count(min(total - 1, MOST_ROWS))


def test_a_row_pushed_off_the_page_is_neither_gone_nor_a_change(
    visit: Visit, still: EmulatedCluster, portal: RunningPortal
) -> None:
    names = [f"alpha-{number}" for number in range(MOST_ROWS + 2)]  # without one, there are still more than are shown
    for name in names:
        still.submit(name)
    wait_until_told(portal, *names)
    page = visit("data-scientist")
    still.remove("alpha-0")
    expect(show(page, 1)).to_be_visible()
    expect(waiting(page)).to_have_count(MOST_ROWS)
    expect(page.locator(".is-gone")).to_have_count(0)
    show(page, 1).click()
    expect(row_of(page, "alpha-0")).to_have_count(0)
    expect(waiting(page)).to_have_count(MOST_ROWS)


def test_a_change_is_told_politely(page: Page, still: EmulatedCluster) -> None:
    still.submit("gamma")
    expect(page.get_by_role("status").filter(has_text="Show 1 change")).to_have_count(1)
    loud = page.locator("[aria-live=assertive], [role=alert], [role=alertdialog], marquee")
    expect(loud).to_have_count(0)


def test_focus_and_what_is_unfolded_outlive_a_refresh(page: Page, still: EmulatedCluster) -> None:
    still.let_kueue_refuse("alpha")
    row = row_of(page, "alpha")
    fold, raw = row.locator("summary"), row.locator("pre")
    fold.press("Enter")
    expect(raw).to_be_visible()
    still.switch_off("alpha")
    expect(row).to_contain_text("Paused")
    expect(raw).to_be_visible()
    expect(fold).to_be_focused()


def test_focus_stays_on_the_link_of_a_row_that_changes(page: Page, still: EmulatedCluster) -> None:
    row = row_of(page, "beta")
    link = row.get_by_role("link", name="beta")
    link.focus()
    still.switch_off("beta")
    expect(row).to_contain_text("Paused")
    expect(link).to_be_focused()


def test_focus_stays_on_what_is_unfolded_while_its_region_changes(page: Page, still: EmulatedCluster) -> None:
    fold = page.get_by_text("CPU, memory and network of the same quota")
    fold.press("Enter")
    still.submit("gamma")
    expect(show(page, 1)).to_be_visible()
    expect(page.locator("summary:focus")).to_have_text("CPU, memory and network of the same quota")
    expect(page.get_by_role("cell").filter(has_text="own").first).to_be_visible()


def test_nothing_moves_by_a_pixel_until_asked(page: Page, still: EmulatedCluster) -> None:
    page.evaluate("scrollTo(0, 300)")
    before = page.evaluate("scrollY"), row_of(page, "beta").bounding_box()
    still.submit("gamma")
    still.remove("alpha")
    expect(show(page, 2)).to_be_visible()
    assert (page.evaluate("scrollY"), row_of(page, "beta").bounding_box()) == before


def test_pause(visit: Visit) -> None:
    page = visit("data-scientist")
    page.clock.install()
    page.reload()
    page.get_by_role("button", name="Pause updates").click()
    asked = polls(page)
    page.clock.run_for(60_000)
    assert asked == []
    page.reload()
    page.clock.run_for(180_000)
    assert [urlsplit(request.url).path for request in asked] == ["/teams/research/lost/"]  # the page's own first read
    with page.expect_request(is_poll):
        page.get_by_role("button", name="Resume updates").click()
    expect(page.get_by_role("button", name="Pause updates")).to_be_visible()


def test_a_page_in_the_background_asks_nothing(visit: Visit) -> None:
    page = visit("data-scientist")
    page.clock.install()
    page.reload()
    hide(page, True)
    asked = polls(page)
    page.clock.run_for(60_000)
    assert asked == []
    with page.expect_request(is_poll):
        hide(page, False)


def test_a_broken_connection_says_so_and_heals(page: Page, still: EmulatedCluster) -> None:
    broken, before = page.get_by_text("The portal does not answer", exact=True), waiting(page).count()
    page.context.set_offline(True)
    expect(broken).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="Trying again")).to_have_count(1)
    expect(waiting(page)).to_have_count(before)
    still.submit("gamma")
    page.context.set_offline(False)
    expect(broken).to_be_hidden()
    expect(page.get_by_role("status").filter(has_text="answers again")).to_have_count(1)
    expect(show(page, 1)).to_be_visible()


def test_a_server_that_fails_counts_as_broken(page: Page) -> None:
    broken = page.get_by_text("The portal does not answer", exact=True)

    def fail(route: Route) -> None:
        route.fulfill(status=502, body="<h1>Bad gateway</h1>") if is_poll(route.request) else route.continue_()

    page.route(f"**{TEAM}", fail)
    page.reload()  # a page that stood before may go on asking past the route
    expect(broken).to_be_visible()
    expect(page.get_by_text("Bad gateway")).to_have_count(0)
    page.unroute(f"**{TEAM}")
    expect(broken).to_be_hidden()


def test_a_sign_in_that_ended_in_mid_page_leads_to_sign_in_and_back(page: Page) -> None:
    page.context.clear_cookies(name="sessionid")
    expect(page).to_have_url(re.compile(rf"/sign-in/\?next={quote(TEAM, safe='/')}$"))
    page.locator("button[value=data-scientist]").click()
    expect(page).to_have_url(re.compile(f"{TEAM}$"))


def test_two_tabs_both_follow_and_leave_together(page: Page, still: EmulatedCluster) -> None:
    other = page.context.new_page()
    other.goto(TEAM)
    still.submit("gamma")
    for tab in (page, other):
        expect(show(tab, 1)).to_be_visible()
    show(other, 1).click()
    expect(show(page, 1)).to_be_visible()
    other.get_by_role("button", name="sign out").click()
    expect(page).to_have_url(re.compile("/sign-in/"))


def test_a_language_chosen_in_one_tab_reaches_the_other_whole(page: Page) -> None:
    other = page.context.new_page()
    other.goto(TEAM)
    other.get_by_role("button", name="Português").click()
    expect(other.locator("html")).to_have_attribute("lang", "pt-br")
    expect(page.locator("html")).to_have_attribute("lang", "pt-br")


def test_a_team_that_was_left_is_gone_from_the_page(page: Page) -> None:
    page.context.clear_cookies(name="sessionid")
    other = page.context.new_page()
    sign_in_as(other, "vision-member")
    expect(page.get_by_text("beta")).to_have_count(0)


def test_back_from_a_job_the_page_is_live_again(page: Page, still: EmulatedCluster) -> None:
    waiting(page).get_by_role("link", name="beta").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("beta")
    page.go_back()
    expect(row_of(page, "beta")).to_be_visible()
    still.submit("gamma")
    expect(show(page, 1)).to_be_visible()
