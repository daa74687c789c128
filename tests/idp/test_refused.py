"""What a real identity provider sends and the portal does not take, and what the person is told."""

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.idp.journey import come_back, give_password, is_signed_in, sign_in, told
from tests.idp.portal import SamlPortal
from tests.idp.simplesamlphp import EMAIL, TRANSIENT, SimpleSamlPhp

pytestmark = pytest.mark.idp


def test_a_sign_in_that_begins_there_is_refused_and_may_begin_here(
    page: Page, portal: SamlPortal, idp: SimpleSamlPhp
) -> None:
    page.goto(f"{idp.address}saml2/idp/SSOService.php?spentityid={portal.saml_address('corp')}metadata/")
    give_password(page, portal)
    assert "A sign-in begins here" in told(page)
    assert not is_signed_in(page)
    assert "reason=unsolicited" in portal.last_refusal()
    page.get_by_role("link", name="Start again").click()
    come_back(page, portal)
    assert is_signed_in(page)


@pytest.mark.parametrize(
    ("format_", "attribute", "words"),
    [(TRANSIENT, "", "a transient NameID"), (EMAIL, "email", "its NameID is not persistent")],
)
def test_names_that_change(
    page: Page, portal: SamlPortal, idp: SimpleSamlPhp, format_: str, attribute: str, words: str
) -> None:
    idp.name_people_by(format_, attribute)
    sign_in(page, portal)
    assert words in told(page)
    assert "has to choose a persistent one there" in told(page)
    assert not is_signed_in(page)


def signed(*, response: bool, assertion: bool) -> dict[str, Any]:
    return {"saml20.sign.response": response, "saml20.sign.assertion": assertion}


@pytest.mark.parametrize(
    ("slug", "how", "enters"),
    [
        ("corp", signed(response=True, assertion=True), True),
        ("corp", signed(response=True, assertion=False), True),
        ("corp", signed(response=False, assertion=True), False),
        ("labs", signed(response=False, assertion=True), True),
        ("labs", signed(response=False, assertion=False), False),
        ("corp", {"signature.algorithm": "http://www.w3.org/2000/09/xmldsig#rsa-sha1"}, False),
    ],
    ids=str,
)
def test_what_is_signed(
    page: Page, portal: SamlPortal, idp: SimpleSamlPhp, slug: str, how: dict[str, Any], enters: bool
) -> None:
    idp.set(sp=how)
    sign_in(page, portal, slug)
    assert is_signed_in(page) is enters
    if not enters:
        assert "Not signed in" in told(page)


def test_what_is_encrypted(page: Page, portal: SamlPortal, idp: SimpleSamlPhp, pairs: list[tuple[str, str]]) -> None:
    certificate = "".join(pairs[1][1].split("\n")[1:-2])
    idp.set(sp={"assertion.encryption": True, "certData": certificate})
    sign_in(page, portal)
    assert "turn the encryption of assertions off there" in told(page)
    assert "reason=encrypted detail=EncryptedAssertion" in portal.last_refusal()
    assert not is_signed_in(page)
