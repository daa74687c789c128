"""Signing in as in production: its mode and cookies, behind a proxy that ends TLS, through a real browser."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Browser, Page

from tests.idp.conftest import PEOPLE
from tests.idp.journey import is_signed_in, sign_in, sign_out_there
from tests.idp.portal import SamlPortal
from tests.idp.simplesamlphp import SimpleSamlPhp
from tests.servers import free_port, listens
from tests.services.portal import wait_until

pytestmark = pytest.mark.idp


class ProductionPortal(SamlPortal):
    """Its address is that of a proxy which ends TLS."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.proxy_port = free_port()
        self.address = f"https://localhost:{self.proxy_port}"
        self.environment |= {
            "PORTAL_MODE": "production",
            "PORTAL_SECRET_KEY": "k" * 60,
            "PORTAL_HOSTS": "localhost",
            "PORTAL_BEHIND_PROXY": "true",
            "PORTAL_ADDRESS": self.address,
        }

    def start_proxy(self, pair: tuple[str, str]) -> None:
        for name, text in zip(("proxy.key", "proxy.crt"), pair, strict=True):
            (self.folder / name).write_text(text)
        upstream = f"http://127.0.0.1:{self.web_port}"
        command = [sys.executable, "-m", "tests.idp.tls_proxy", str(self.proxy_port), upstream, str(self.folder)]
        self.processes["proxy"] = subprocess.Popen(command)
        wait_until(lambda: listens(self.proxy_port), "the proxy")

    def _web_answers(self) -> bool:
        try:
            return self.get("healthz").ok
        except requests.RequestException:
            return False


@pytest.fixture(scope="module")
def production(portal: SamlPortal, pairs: list[tuple[str, str]]) -> Iterator[ProductionPortal]:
    """On the database of the other one, which knows the provider already."""
    running = ProductionPortal(portal.folder)
    try:
        running.start("web")
        running.start_proxy(pairs[1])
        yield running
    finally:
        running.stop_all()


@pytest.fixture
def page(browser: Browser, production: ProductionPortal, idp_server: SimpleSamlPhp) -> Iterator[Page]:
    idp_server.reset(PEOPLE, [production.saml_address("corp")])
    context = browser.new_context(base_url=production.address, ignore_https_errors=True, locale="en")
    context.set_default_timeout(60_000)
    yield context.new_page()
    context.close()


def test_the_whole_way(page: Page, production: ProductionPortal, idp_server: SimpleSamlPhp) -> None:
    sign_in(page, production, target="/teams/research/")
    assert page.url == f"{production.address}/teams/research/"
    cookies = page.context.cookies(production.address)
    assert {"__Host-sessionid", "__Host-csrftoken"} <= {cookie["name"] for cookie in cookies}
    assert all(cookie["secure"] and cookie["sameSite"] == "Lax" for cookie in cookies)
    sign_out_there(page, production, idp_server)
    assert not is_signed_in(page)


def test_what_is_told_to_providers_is_https(page: Page, production: ProductionPortal) -> None:
    text = page.request.get("/saml/corp/metadata/").text()
    assert f'entityID="{production.address}/saml/corp/metadata/"' in text
    assert 'Location="http://' not in text
