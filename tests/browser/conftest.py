"""Debian's Chromium on a running portal with the emulated cluster."""

from collections.abc import Iterator
from typing import Any, Protocol

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from tests.browser.addresses import one_of_each
from tests.browser.cluster import EmulatedCluster
from tests.chromium import chromium, sign_in_as
from tests.services.portal import RunningPortal, wait_until

TEAMS = ("research", "language", "vision", "serving")
REFUSALS = ("Failed to load resource", "htmx:")  # what Chromium and htmx say of answers from 400 on, and of none

expect.set_options(timeout=10_000)  # browsers, portal and cluster share two processors


@pytest.fixture(scope="session")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningPortal]:
    """Emulator, web server and watcher, as `make run` starts them."""
    folder = tmp_path_factory.mktemp("portal")
    running = RunningPortal(folder, f"sqlite:///{folder}/portal.sqlite3", "filesystem://localhost")
    try:
        running.prepare()
        for name in ("emulator", "watcher", "worker", "web"):
            running.start(name)
        wait_until(lambda: knows_all(running), "the first facts", 90)
        yield running
    finally:
        running.stop_all()


def knows_all(running: RunningPortal) -> bool:
    """Whether every source was read, so that the overview has every team's bar and the nodes."""
    overview = running.get("platform/", running.signed_in("platform-admin")).text
    return "Nothing is known" not in overview and all(f"/teams/{slug}/" in overview for slug in TEAMS)


def wait_until_told(running: RunningPortal, *jobs: str) -> None:
    """Until the list of research's jobs that wait, which shows more than the team's page, has these."""
    session, page = running.signed_in("data-scientist"), "teams/research/workloads/?group=waiting&per=100"
    wait_until(lambda: all(f">{job}<" in running.get(page, session).text for job in jobs), str(jobs))


@pytest.fixture
def still(portal: RunningPortal) -> Iterator[EmulatedCluster]:
    """The cluster with its clock held: nothing happens in it but by the test's hand."""
    cluster = EmulatedCluster(portal.kubeconfig)
    with cluster.held():
        yield cluster


Addresses = dict[str, str]


@pytest.fixture(scope="session")
def addresses(portal: RunningPortal) -> Addresses:
    """One of each kind of page that a platform admin reaches."""
    return one_of_each(portal, "platform-admin")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


class Visit(Protocol):
    """Opens a page as one of the demo's people, in a window of its own. `options` are those of Playwright's contexts;
    `may_be_refused`: answers from 400 on, and none at all, are part of the test.
    """

    def __call__(
        self,
        username: str,
        path: str = "",
        *,
        language: str = "en",
        width: int = 1280,
        height: int = 800,
        dark: bool = False,
        may_be_refused: bool = False,
        **options: Any,
    ) -> Page: ...


@pytest.fixture
def visit(browser: Browser, portal: RunningPortal) -> Iterator[Visit]:
    """At the end no page may have complained: of the policy, or at all."""
    complaints: list[str] = []
    contexts: list[BrowserContext] = []

    def open_page(
        username: str,
        path: str = "",
        *,
        language: str = "en",
        width: int = 1280,
        height: int = 800,
        dark: bool = False,
        may_be_refused: bool = False,
        **options: Any,
    ) -> Page:
        def listen(message: ConsoleMessage) -> None:
            if message.type == "error" and not (may_be_refused and message.text.startswith(REFUSALS)):
                complaints.append(message.text)

        context = browser.new_context(
            base_url=f"http://127.0.0.1:{portal.web_port}",
            viewport={"width": width, "height": height},
            locale=language,
            color_scheme="dark" if dark else "light",
            **options,
        )
        contexts.append(context)
        context.on("console", listen)
        context.on("weberror", lambda error: complaints.append(str(error.error)))
        page = context.new_page()
        sign_in_as(page, username)
        if path:
            page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
