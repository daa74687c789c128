"""With the API server gone, pages keep what is known, say how old it is, and go on by themselves once it is back."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import faults
from tests.browser.conftest import Visit
from tests.services.portal import RunningPortal, wait_until

pytestmark = pytest.mark.browser

OLD = {"en": "These facts are old", "pt-BR": "Estes dados são antigos"}
HEALING_MS = 60_000


@contextmanager
def absent(portal: RunningPortal) -> Iterator[None]:
    """Its API server is gone, for longer already than facts may be old."""
    portal.stop("emulator")
    try:
        with closing(sqlite3.connect(portal.folder / "portal.sqlite3", timeout=30)) as ledger:
            wait_until(lambda: is_noticed(ledger), "the failure to be noticed")
            with ledger:
                ledger.execute("UPDATE portal_sourcestate SET last_good_at = datetime(last_good_at, '-1 hour')")
        yield
    finally:
        portal.start("emulator")


def is_noticed(ledger: sqlite3.Connection) -> bool:
    query = "SELECT count(*) FROM portal_sourcestate WHERE source = 'workloads' AND failing_since IS NOT NULL"
    return bool(ledger.execute(query).fetchone()[0])


def bars(page: Page) -> int:
    return page.locator("main").get_by_role("img", name="H100").count()


def test_open_pages_say_so_and_heal(visit: Visit, portal: RunningPortal) -> None:
    member = visit("data-scientist", width=320)
    admin = visit("platform-admin", language="pt-BR", dark=True)
    opened = {member: OLD["en"], admin: OLD["pt-BR"]}
    known = {page: bars(page) for page in opened}
    with absent(portal):
        for page, words in opened.items():
            expect(page.get_by_text(words)).to_be_visible()
            assert bars(page) == known[page]
            assert faults(page) == []
        assert member.evaluate("document.documentElement.scrollWidth") == 320
        expect(member.locator(".strip--stale summary")).to_have_count(0)
        expect(admin.locator(".strip--stale summary")).to_have_count(1)
    for page, words in opened.items():
        expect(page.get_by_text(words)).to_be_hidden(timeout=HEALING_MS)
