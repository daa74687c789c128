"""As in production, behind a proxy that terminates TLS: addresses stay https, and cookies stay with this host."""

import os
import runpy
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

import portal.urls  # noqa: F401 (with the demo's addresses, before a test leaves the demo)
from tests.accounts.saml.idp import Idp, request_id, sent

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).parents[3]
PORTAL = "https://portal.example.com"
VARIABLES = {
    "PORTAL_SECRET_KEY": "k" * 60,
    "PORTAL_HOSTS": "portal.example.com",
    "PORTAL_BROKER_URL": "redis://redis:6379/0",
    "PORTAL_BEHIND_PROXY": "true",
}
ABOUT_ADDRESSES = ("DEMO", "ALLOWED_HOSTS", "PORTAL_ADDRESS", "SECURE_PROXY_SSL_HEADER", "SECURE_SSL_REDIRECT")


@pytest.fixture
def _production(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the settings are under variables of production, as far as addresses and cookies go."""
    for name in [name for name in os.environ if name.startswith("PORTAL_") and name != "PORTAL_VAR"]:
        monkeypatch.delenv(name)
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("portal.logs.configured", lambda level: {})
    read = runpy.run_path(str(ROOT / "portal/settings.py"))
    for name in [*ABOUT_ADDRESSES, *(name for name in read if "_COOKIE_" in name)]:
        setattr(settings, name, read[name])


@pytest.fixture
def browser(corp: Idp, _production: None) -> Client:
    corp.portal = PORTAL
    return Client(headers={"x-forwarded-proto": "https", "host": "portal.example.com"})


def came_back(browser: Client, corp: Idp, begun: Any) -> tuple[Any, Any]:
    """The answers to the provider's POST and to the page after it."""
    response = sent(corp.signed(corp.response(request_id(begun.url))))
    posted = browser.post("/saml/corp/acs/", {"SAMLResponse": response, "RelayState": ""})
    return posted, browser.get(posted.url)


def test_metadata_and_acs_stay_https(browser: Client, corp: Idp) -> None:
    text = browser.get("/saml/corp/metadata/").text
    assert f'entityID="{PORTAL}/saml/corp/metadata/"' in text
    assert f'Location="{PORTAL}/saml/corp/acs/"' in text
    assert "http://portal" not in text
    _, finished = came_back(browser, corp, browser.get("/saml/corp/login/?next=/me/"))
    assert (finished.status_code, finished.url) == (302, "/me/")
    assert browser.get("/me/").status_code == 200


def test_what_comes_without_tls_is_sent_to_it(browser: Client) -> None:
    answer = Client(headers={"host": "portal.example.com"}).get("/saml/corp/metadata/")
    assert (answer.status_code, answer["Location"]) == (301, f"{PORTAL}/saml/corp/metadata/")


def test_every_cookie_is_kept_to_this_host_and_from_scripts(browser: Client, corp: Idp) -> None:
    begun = browser.get("/saml/corp/login/?next=/me/")
    answers = [begun, *came_back(browser, corp, begun), browser.get("/me/")]
    answers.append(browser.post("/language/", {"language": "pt-br"}))
    cookies = {name: cookie for answer in answers for name, cookie in answer.cookies.items()}
    assert cookies.keys() == {f"__Host-{name}" for name in ("sessionid", "csrftoken", "language", "saml-arrival")}
    for name, cookie in cookies.items():
        assert (cookie["secure"], cookie["httponly"], cookie["samesite"]) == (True, True, "Lax"), name
        assert (cookie["path"], cookie["domain"]) == ("/", ""), name
