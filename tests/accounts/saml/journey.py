"""The way of a browser through a sign-in."""

from datetime import timedelta
from typing import Any

from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from accounts.saml.adapter import SESSION_KEY
from tests.accounts.saml.conftest import NOW
from tests.accounts.saml.idp import Idp, request_id, sent


def begin(client: Client, idp: Idp, next_url: str = "") -> str:
    """The ID of the request with which the portal sends the browser away."""
    response = client.get(reverse("saml-login", args=[idp.row.slug]), {"next": next_url})
    assert response.status_code == 302, response.text
    assert response.url.startswith(f"https://{idp.row.slug}.example.org/sso?")
    return request_id(response.url)


def arrive(client: Client, idp: Idp, document: Any) -> Any:
    """The answer to the identity provider's POST, or to the page it leads to."""
    text = document if isinstance(document, str) else sent(document)
    address = reverse("saml-acs", args=[idp.row.slug])
    posted = Client().post(address, {"SAMLResponse": text, "RelayState": ""})
    if posted.status_code != 302:
        return posted
    client.cookies["saml-arrival"] = posted.cookies["saml-arrival"].value
    return client.get(posted.url)


def sign_in(client: Client, idp: Idp, next_url: str = "", **said: Any) -> Any:
    return arrive(client, idp, idp.signed(idp.response(begin(client, idp, next_url), **said)))


def signed_in(client: Client, minutes_ago: int) -> None:
    """The person of this session by corp, which asked them for credentials so long ago."""
    session = client.session
    told = (NOW - timedelta(minutes=minutes_ago)).isoformat()
    session[SESSION_KEY] = {"provider": "corp", "authenticated_at": told}
    session.save()


def people_in_sessions() -> list[str]:
    return [key for row in Session.objects.all() if (key := row.get_decoded().get("_auth_user_id"))]
