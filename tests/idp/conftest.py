"""Debian's SimpleSAMLphp and the portal's web server, with Chromium between them."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TypeAlias

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.accounts.saml.idp import key_pair
from tests.chromium import chromium
from tests.idp.portal import SamlPortal
from tests.idp.saml_idp import SamlIdp
from tests.idp.simplesamlphp import SimpleSamlPhp

expect.set_options(timeout=20_000)  # browsers, portal and provider share two processors

SLUGS = ("corp", "labs", "fresh")
"""Of corp and fresh every message is signed, of labs at least the assertion; fresh is not switched on."""
PEOPLE = {
    "ana": {
        "uid": ["ana-0001"],
        "email": ["ana@example.org"],
        "displayName": ["Ana Lima"],
        "groups": ["g-research", "g-of-nothing"],
    }
}


@pytest.fixture(scope="session")
def pairs() -> list[tuple[str, str]]:
    return [key_pair(datetime.now(UTC)) for _ in range(2)]


@pytest.fixture(scope="session")
def idp_server(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]) -> Iterator[SimpleSamlPhp]:
    server = SimpleSamlPhp(tmp_path_factory.mktemp("idp") / "idp", pairs)
    server.reset(PEOPLE, [])
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> SamlPortal:
    """The portal before it runs: its address is known."""
    return SamlPortal(tmp_path_factory.mktemp("portal"))


@pytest.fixture(scope="session")
def second_server(laid_out: SamlPortal, pairs: list[tuple[str, str]]) -> SamlIdp:
    return SamlIdp(laid_out.folder / "second", pairs[0], laid_out.saml_address("second"))


@pytest.fixture(scope="session")
def portal(laid_out: SamlPortal, idp_server: SimpleSamlPhp, second_server: SamlIdp) -> Iterator[SamlPortal]:
    running = laid_out
    try:
        running.migrate()
        entry = {"metadata_url": idp_server.metadata_url}
        running.connect(
            corp={**entry, "name": "Example Corp"},
            labs={**entry, "name": "Example Labs", "signs_response": False},
            fresh={**entry, "name": "Fresh", "enabled": False},
            second={"metadata_url": second_server.metadata_url, "name": "Second"},
            late={"metadata_url": "http://127.0.0.1:1/", "name": "Late"},
        )
        running.read_metadata()
        running.start("web")
        yield running
    finally:
        running.stop_all()


@pytest.fixture
def idp(idp_server: SimpleSamlPhp, portal: SamlPortal) -> SimpleSamlPhp:
    """As it is at first: it knows the portal and Ana."""
    idp_server.reset(PEOPLE, [portal.saml_address(slug) for slug in SLUGS])
    return idp_server


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


NewBrowser: TypeAlias = Callable[[], BrowserContext]


@pytest.fixture
def new_browser(browser: Browser, portal: SamlPortal) -> Iterator[NewBrowser]:
    """One that nobody signed in with."""
    contexts: list[BrowserContext] = []

    def open_browser() -> BrowserContext:
        contexts.append(browser.new_context(base_url=portal.address, locale="en"))
        contexts[-1].set_default_timeout(60_000)
        return contexts[-1]

    yield open_browser
    for context in contexts:
        context.close()


@pytest.fixture
def page(new_browser: NewBrowser, idp: SimpleSamlPhp) -> Page:
    return new_browser().new_page()
