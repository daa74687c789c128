"""Debian's Chromium without a screen, ended with the block that asked."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        yield browser
        browser.close()


def sign_in_as(page: Page, username: str) -> None:
    """As one of the demo's people. The page that follows has loaded: what is intercepted, cut off or forgotten while
    Chromium still goes from one page to the next may not reach the next one.
    """
    page.goto("/sign-in/")
    page.locator(f"button[value={username}]").click()
    page.wait_for_url(lambda address: "/sign-in/" not in address)
