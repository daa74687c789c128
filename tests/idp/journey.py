"""The way of a person through the portal, their identity provider, and back."""

from urllib.parse import urlencode

from playwright.sync_api import Page

from tests.idp.portal import SamlPortal
from tests.idp.simplesamlphp import PASSWORD, SimpleSamlPhp


def give_password(page: Page, portal: SamlPortal, who: str = "ana") -> None:
    """At the identity provider, until the portal's answer is there."""
    page.fill("[name=username]", who)
    page.fill("[name=password]", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{portal.address}/**")


def sign_in(page: Page, portal: SamlPortal, slug: str = "corp", target: str = "/me/") -> None:
    page.goto(f"/saml/{slug}/login/?{urlencode({'next': target})}")
    give_password(page, portal)


def come_back(page: Page, portal: SamlPortal) -> None:
    """Choose the identity provider, whose own session is enough: it asks for no password."""
    with page.expect_response(lambda answer: answer.url.endswith("/finish/")):
        page.get_by_role("link", name="Example Corp").click()
    page.wait_for_url(f"{portal.address}/**")


def sign_out_there(page: Page, portal: SamlPortal, idp: SimpleSamlPhp) -> None:
    """The identity provider asks the portal first, by way of the browser."""
    page.goto(f"{idp.address}saml2/idp/SingleLogoutService.php?ReturnTo={portal.address}/sign-in/?choose=1")


def status(page: Page, path: str, *, part: bool = False) -> int:
    """Of the portal's answer in this browser; `part`: as the page's script asks for what changed."""
    headers = {"HX-Request": "true", "HX-Current-URL": path} if part else {}
    return page.request.get(path, headers=headers, max_redirects=0).status


def is_signed_in(page: Page) -> bool:
    return status(page, "/me/") == 200


def told(page: Page) -> str:
    return page.locator("main").inner_text()
