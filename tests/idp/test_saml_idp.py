"""The same portal with another implementation: npm's saml-idp."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.idp.journey import is_signed_in, status, told
from tests.idp.portal import SamlPortal
from tests.idp.saml_idp import SamlIdp
from tests.idp.simplesamlphp import PERSISTENT, TRANSIENT

pytestmark = pytest.mark.idp

TEAM = "/teams/research/"


@pytest.fixture(scope="module")
def second(portal: SamlPortal, second_server: SamlIdp) -> Iterator[SamlIdp]:
    try:
        second_server.start()
        portal.read_metadata()
        yield second_server
    finally:
        second_server.stop()


_FILL_IN = """(form, fields) => {
    for (const [name, value] of Object.entries(fields)) form.elements[name].value = value;
    form.submit();
}"""


def say(page: Page, portal: SamlPortal, **fields: str) -> None:
    """Fill in the form that the page shows: who one is, and in which groups."""
    said = {"userName": "bob-0002", "displayName": "Bob Reis", "nameIdFormat": PERSISTENT, **fields}
    page.locator(".form-profile").evaluate(_FILL_IN, said)
    page.wait_for_url(f"{portal.address}/**")


def sign_in(page: Page, portal: SamlPortal, **fields: str) -> None:
    page.goto("/saml/second/login/?next=/me/")
    say(page, portal, **fields)


def test_signing_in_with_groups_and_without_them(page: Page, portal: SamlPortal, second: SamlIdp) -> None:
    sign_in(page, portal, groups="g-of-nothing, g-research", email="bob@example.org")
    assert page.url == f"{portal.address}/me/"
    assert "Bob Reis" in page.content()
    assert status(page, TEAM) == 200
    sign_in(page, portal, groups="g-of-nothing")
    assert status(page, TEAM) == 404


def test_its_people_are_not_the_other_providers(page: Page, portal: SamlPortal, second: SamlIdp) -> None:
    sign_in(page, portal, userName="ana-0001", displayName="Somebody Else", groups="")
    assert is_signed_in(page)
    assert "Ana Lima" not in page.content()
    assert status(page, TEAM) == 404


def test_a_name_that_changes_is_refused(page: Page, portal: SamlPortal, second: SamlIdp) -> None:
    sign_in(page, portal, nameIdFormat=TRANSIENT)
    assert "a transient NameID" in told(page)
    assert not is_signed_in(page)


def test_a_sign_in_that_begins_there_is_refused(page: Page, portal: SamlPortal, second: SamlIdp) -> None:
    page.goto(f"http://127.0.0.1:{second.port}/")
    say(page, portal)
    assert "A sign-in begins here" in told(page)
