"""Debian's Chromium on a running portal with the emulated cluster."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.services.portal import RunningPortal, wait_until

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningPortal]:
    """Emulator, web server and watcher, as `make run` starts them."""
    folder = tmp_path_factory.mktemp("portal")
    running = RunningPortal(folder, f"sqlite:///{folder}/portal.sqlite3", "filesystem://localhost")
    try:
        running.prepare()
        for name in ("emulator", "watcher", "worker", "web"):
            running.start(name)
        wait_until(lambda: "own, " in team_page(running), "the first facts", 90)
        yield running
    finally:
        running.stop_all()


def team_page(running: RunningPortal) -> str:
    return running.get("teams/research/", running.signed_in("data-scientist")).text


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        yield chromium
        chromium.close()


Visit = Callable[..., Page]


@pytest.fixture
def visit(browser: Browser, portal: RunningPortal, tmp_path: Path) -> Iterator[Visit]:
    """Opens a page as one of the demo's people. At the end no page may have complained: of the policy, or at all."""
    complaints: list[str] = []
    contexts = []

    def open_page(
        username: str, path: str = "", *, language: str = "en", width: int = 1280, height: int = 800, dark: bool = False
    ) -> Page:
        context = browser.new_context(
            base_url=f"http://127.0.0.1:{portal.web_port}",
            viewport={"width": width, "height": height},
            locale=language,
            color_scheme="dark" if dark else "light",
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto("/sign-in/")
        page.locator(f"button[value={username}]").click()
        if path:
            page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
