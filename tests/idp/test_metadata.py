"""An identity provider that changes its key, or is down when it is asked who it is."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.idp.conftest import NewBrowser
from tests.idp.journey import is_signed_in, sign_in, told
from tests.idp.portal import SamlPortal
from tests.idp.simplesamlphp import SimpleSamlPhp, pair

pytestmark = pytest.mark.idp


@pytest.fixture
def first_key_afterwards(portal: SamlPortal, idp: SimpleSamlPhp) -> Iterator[None]:
    yield
    idp.set(idp=pair(0))
    portal.read_metadata()


def test_the_key_rolls_over(
    portal: SamlPortal, idp: SimpleSamlPhp, new_browser: NewBrowser, first_key_afterwards: None
) -> None:
    def enters() -> bool:
        page = new_browser().new_page()
        sign_in(page, portal)
        return is_signed_in(page)

    idp.set(idp=pair(1, "new_"))
    portal.read_metadata()
    assert enters(), "with the first key while both are named"
    idp.set(idp=pair(1))
    assert enters(), "with the second one while both are named"
    portal.read_metadata()
    assert enters(), "with the second one alone"
    idp.set(idp=pair(0))
    assert not enters(), "with the first one no more"


def test_the_last_good_copy_is_enough(page: Page, portal: SamlPortal, idp: SimpleSamlPhp) -> None:
    idp.stop()
    try:
        portal.read_metadata()
    finally:
        idp.start()
    sign_in(page, portal)
    assert is_signed_in(page)


def test_a_provider_that_was_never_read_is_no_choice(page: Page, portal: SamlPortal) -> None:
    page.goto("/sign-in/")
    assert "Late" not in told(page)
    page.goto("/saml/late/login/")
    assert "does not know yet how to reach this identity provider" in told(page)
