"""Whatever the cluster's names and numbers are, nothing is wider than its page."""

from collections.abc import Iterator

import pytest

from tests.browser.addresses import one_of_each
from tests.browser.conftest import Addresses, Visit
from tests.browser.test_reflow import unfold, wide_tables, widest
from tests.services.portal import RunningPortal

pytestmark = pytest.mark.browser

PHONE = 320


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningPortal]:
    """A web server alone, on the widest ledger: nobody reads the clusters."""
    folder = tmp_path_factory.mktemp("widest")
    running = RunningPortal(folder, f"sqlite:///{folder}/portal.sqlite3", "filesystem://localhost")
    running.prepare()
    running.manage("shell", "-c", "from tests.browser.widest import fill; fill()")
    try:
        running.start("web")
        yield running
    finally:
        running.stop_all()


@pytest.fixture(scope="module")
def addresses(portal: RunningPortal) -> Addresses:
    return one_of_each(portal, "platform-admin")


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_tables_fit_a_desk(visit: Visit, addresses: Addresses, language: str) -> None:
    assert wide_tables(visit("platform-admin", language=language), addresses) == {}


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_pages_fit_a_phone(visit: Visit, addresses: Addresses, language: str) -> None:
    page = visit("platform-admin", width=PHONE, height=512, language=language)
    found = {}
    for name, address in addresses.items():
        page.goto(address)
        unfold(page)
        found[name] = widest(page)
    assert {name: far for name, far in found.items() if far > PHONE} == {}
