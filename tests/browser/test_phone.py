"""Each role finds what it came for on a phone: by touch, from sign-in to answer, in both languages."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.utils.translation import gettext, override
from playwright.sync_api import Locator, Page, expect

from tests.browser.cluster import EmulatedCluster
from tests.browser.conftest import Visit, wait_until_told
from tests.services.portal import RunningPortal

pytestmark = pytest.mark.browser

WIDTH, HEIGHT = 390, 844
SENTENCE = {
    "en": re.compile(r"\d+ of \d+ own, \d+ borrowed, \S+( to \d+)? lent\."),
    "pt-BR": re.compile(r"Cota própria: \d+ de \d+; tomado de outros: \d+; cedido: (\d+|de \d+ a \d+)\."),
}


@dataclass(frozen=True, slots=True)
class Phone:
    page: Page
    language: str

    def word(self, text: str) -> str:
        with override(self.language):
            return gettext(text)

    def link(self, text: str) -> Locator:
        return self.page.get_by_role("link", name=self.word(text), exact=True)

    def choose(self, text: str) -> None:
        """From the menu, which a phone keeps folded."""
        self.page.get_by_role("button", name=self.word("Menu"), exact=True).tap()
        self.page.locator("#nav").get_by_role("link", name=self.word(text), exact=True).tap()

    def section(self, text: str) -> Locator:
        heading = self.page.get_by_role("heading", name=self.word(text), exact=True)
        return self.page.locator("section", has=heading)

    def reads(self, found: Locator) -> None:
        """It stands on the screen, not beside it."""
        found.scroll_into_view_if_needed()
        expect(found).to_be_in_viewport()
        box = found.bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= WIDTH, box
        assert self.page.evaluate("document.documentElement.scrollWidth") <= WIDTH


Take = Callable[..., Phone]


@pytest.fixture(params=["en", "pt-BR"])
def take(visit: Visit, request: pytest.FixtureRequest) -> Take:
    """A phone, signed in as one of the demo's people."""

    def taken(username: str, path: str = "") -> Phone:
        options = {"width": WIDTH, "height": HEIGHT, "has_touch": True, "is_mobile": True}
        return Phone(visit(username, path, language=request.param, **options), request.param)

    return taken


def test_data_scientist_reads_the_quota_and_why_the_first_job_waits(
    take: Take, still: EmulatedCluster, portal: RunningPortal
) -> None:
    still.submit("gamma")
    still.let_kueue_refuse("gamma")
    wait_until_told(portal, "gamma")
    phone = take("data-scientist")
    phone.reads(phone.page.get_by_text(SENTENCE[phone.language]).first)
    first = phone.section("Waiting now").locator("tbody tr").first
    phone.reads(first.locator("td.full"))
    phone.reads(first.locator("time[data-since]"))


def test_data_scientist_finds_a_running_job_and_what_it_held(take: Take) -> None:
    phone = take("data-scientist")
    job = phone.section("Running now").locator("a.job").first
    name = job.inner_text()
    phone.reads(job)
    job.tap()
    phone.reads(phone.page.get_by_role("heading", level=1, name=name))
    phone.reads(phone.page.get_by_role("heading", name=phone.word("Quota it held"), exact=True))


def test_data_scientist_finds_a_job_by_its_name(take: Take) -> None:
    phone = take("data-scientist")
    name = phone.section("Running now").locator("a.job").first.inner_text()
    phone.page.get_by_role("searchbox").fill(name)
    phone.page.get_by_role("searchbox").press("Enter")
    phone.reads(phone.page.get_by_role("main").get_by_role("link", name=name).first)


def test_data_scientist_reads_what_was_lost(take: Take) -> None:
    phone = take("data-scientist")
    lost = phone.section("Lost or stopped in the last 7 days")
    lost.scroll_into_view_if_needed()
    expect(lost.locator(".muted", has_text=phone.word("Read what was lost"))).to_have_count(0)
    phone.reads(lost)
    phone.link("All evictions").tap()
    expect(phone.page).to_have_url(re.compile(r"/teams/research/evictions/$"))
    phone.reads(phone.page.get_by_role("heading", level=1))


def test_team_admin_chooses_a_team_and_reads_its_use(take: Take) -> None:
    phone = take("team-admin", "/")
    phone.choose("Language")
    expect(phone.page).to_have_url(re.compile(r"/teams/language/$"))
    phone.choose("Usage over time")
    phone.reads(phone.page.get_by_role("heading", level=1))


def test_platform_admin_reads_who_borrows_and_which_nodes_are_ill(take: Take) -> None:
    phone = take("platform-admin")
    expect(phone.page).to_have_url(re.compile(r"/platform/$"))
    phone.reads(phone.page.get_by_role("img", name=re.compile(r"^H100\.")).first)
    phone.reads(phone.page.get_by_role("row", name="ml.p5.48xlarge"))


def test_finops_reads_who_lent(take: Take) -> None:
    phone = take("finops", "/platform/")
    phone.choose("Lenders and borrowers")
    phone.reads(phone.page.get_by_role("heading", level=1))
    phone.reads(phone.page.get_by_role("main").locator("table, .empty").first)


def test_auditor_filters_the_jobs_of_all_teams(take: Take) -> None:
    phone = take("auditor", "/platform/")
    phone.choose("Jobs of all teams")
    phone.page.get_by_role("main").get_by_role("link").filter(has_text=phone.word("Running")).first.tap()
    expect(phone.page).to_have_url(re.compile("group=running"))
    phone.reads(phone.page.locator("tbody a.job").first)


def test_newcomer_is_told_whom_to_ask(take: Take) -> None:
    phone = take("newcomer")
    phone.reads(phone.page.get_by_text(phone.word("You belong to no team yet")))


def test_everybody_can_sign_out(take: Take) -> None:
    phone = take("vision-member")
    button = phone.page.get_by_role("button", name=phone.word("sign out"), exact=True)
    phone.reads(button)
    button.tap()
    expect(phone.page).to_have_url(re.compile("/sign-in/"))
