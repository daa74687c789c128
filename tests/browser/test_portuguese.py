"""Each role finds what it came for in Portuguese, too, and scripts go on in the page's language."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit

pytestmark = pytest.mark.browser

SENTENCE = re.compile(r"Cota própria: \d+ de \d+; tomado de outros: \d+; cedido: (\d+|de \d+ a \d+)\.")
AGE = re.compile(r"^(agora mesmo|há \d+ (segundo|minuto|hora|dia)s?)$")
DURATION = re.compile(r"^(\d+ d \d+ h|\d+ h \d+ min|\d+ min|\d+ s)$")


def in_portuguese(visit: Visit, username: str, path: str = "") -> Page:
    page = visit(username, path, language="pt-BR")
    expect(page.locator("html")).to_have_attribute("lang", "pt-br")
    return page


def test_data_scientist_reads_quota_and_queue_and_opens_a_job(visit: Visit) -> None:
    page = in_portuguese(visit, "data-scientist")
    expect(page.get_by_text(SENTENCE).first).to_be_visible()
    expect(page.get_by_role("heading", name="Na fila agora")).to_be_visible()
    running = page.locator("section", has=page.get_by_role("heading", name="Em execução agora"))
    expect(running.locator("time[data-since]").first).to_have_text(DURATION)
    running.locator("a.job").first.click()
    expect(page.get_by_role("heading", name="Cota que ocupou")).to_be_visible()
    expect(page.locator("time[data-as-of]")).to_have_text(AGE)


def test_team_admin_chooses_a_team(visit: Visit) -> None:
    page = in_portuguese(visit, "team-admin", "/")
    page.get_by_role("navigation", name="Principal").get_by_role("link", name="Language").click()
    expect(page.get_by_role("definition").last).to_have_text("administração")


@pytest.mark.parametrize("username", ["platform-admin", "finops", "auditor"])
def test_platform_roles_read_who_borrows(visit: Visit, username: str) -> None:
    page = in_portuguese(visit, username, "/platform/")
    expect(page.get_by_role("img", name=re.compile(r"^H100\. Cota própria: \d+ de 48")).first).to_be_visible()
    expect(page.get_by_role("heading", name="Cohort hyperpod")).to_be_visible()


def test_newcomer_is_told_whom_to_ask(visit: Visit) -> None:
    page = in_portuguese(visit, "newcomer")
    expect(page.get_by_text("Peça à administração do seu time, ou à da plataforma")).to_be_visible()


def test_the_switch_leads_back_to_the_same_address(visit: Visit) -> None:
    page = visit("data-scientist", "/teams/research/workloads/?group=running")
    page.get_by_role("button", name="Português Brasileiro").click()
    expect(page.get_by_role("heading", name="Jobs de Research")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/teams/research/workloads/\?group=running$"))
