import importlib
from collections.abc import Iterator

import pytest
from django.conf import settings as django_settings
from django.test import Client
from django.urls import NoReverseMatch, clear_url_caches, reverse

import portal.urls
from accounts.models import IdentityProvider
from tests.people import People
from tests.stories import START

pytestmark = pytest.mark.django_db


def sign_in(client: Client, username: str, **data: str) -> object:
    return client.post(reverse("sign-in-as"), {"username": username, **data})


@pytest.fixture
def production(settings: object) -> Iterator[None]:
    """The routes as they are outside the demo."""
    settings.DEMO = False  # type: ignore[attr-defined]
    settings.SECURE_SSL_REDIRECT = False  # type: ignore[attr-defined]
    importlib.reload(portal.urls)
    clear_url_caches()
    yield
    django_settings.DEMO = True
    importlib.reload(portal.urls)
    clear_url_caches()


def test_the_page_lists_people_with_their_roles(people: People, client: Client) -> None:
    text = client.get(reverse("sign-in")).text
    assert "Name of member" in text
    assert "member of Research" in text
    assert "platform admin" in text
    assert "team admin of Vision" in text


def test_archived_people_are_not_offered_and_cannot_sign_in(people: People, client: Client) -> None:
    people.member.archived_at = START
    people.member.save()
    assert "Name of member" not in client.get(reverse("sign-in")).text
    assert sign_in(client, "member").status_code == 404


def test_picking_a_person_signs_in_and_leads_home(people: People, client: Client) -> None:
    response = sign_in(client, "member")
    assert (response.status_code, response.url) == (302, "/")
    assert client.get("/teams/research/").status_code == 200


@pytest.mark.parametrize("username", ["", "nobody-knows", "member ", "x" * 1000])
def test_somebody_unknown_is_not_found(people: People, client: Client, username: str) -> None:
    assert sign_in(client, username).status_code == 404
    assert client.get("/teams/research/").status_code == 302


def test_signing_in_leads_to_the_page_that_was_asked_for(people: People, client: Client) -> None:
    wanted = client.get("/teams/research/").url
    assert wanted == "/sign-in/?next=/teams/research/"
    assert 'name="next" value="/teams/research/"' in client.get(wanted).text
    assert sign_in(client, "member", next="/teams/research/").url == "/teams/research/"


@pytest.mark.parametrize(
    "target",
    [
        "https://elsewhere.example/",
        "//elsewhere.example/",
        "///elsewhere.example",
        "\\\\elsewhere.example",
        "javascript:alert(1)",
        "http:elsewhere.example",
        " https://elsewhere.example/",
    ],
)
def test_nobody_is_led_elsewhere(people: People, client: Client, target: str) -> None:
    assert sign_in(client, "member", next=target).url == "/"


def test_a_page_to_go_on_to_is_escaped(client: Client) -> None:
    text = client.get(reverse("sign-in"), {"next": '"><script>alert(1)</script>'}).text
    assert "<script>alert" not in text


def test_signing_out_ends_the_session(people: People, client: Client) -> None:
    sign_in(client, "member")
    response = client.post(reverse("sign-out"))
    assert response.url == reverse("sign-in")
    assert client.get("/teams/research/").status_code == 302


def test_signing_in_takes_a_new_session(people: People, client: Client) -> None:
    sign_in(client, "member")
    before = client.session.session_key
    sign_in(client, "viewer")
    assert client.session.session_key != before


def test_another_sites_form_cannot_sign_anybody_in_or_out(people: People) -> None:
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(reverse("sign-in-as"), {"username": "member"}).status_code == 403
    strict.force_login(people.member)
    assert strict.post(reverse("sign-out")).status_code == 403


def test_the_sign_in_page_is_not_cached(client: Client) -> None:
    assert "no-store" in client.get(reverse("sign-in")).headers["Cache-Control"]


def test_outside_the_demo_nobody_can_be_picked(people: People, client: Client, production: None) -> None:
    text = client.get(reverse("sign-in")).text
    assert "No identity provider is connected" in text
    assert "Name of member" not in text
    assert "Demo" not in text
    with pytest.raises(NoReverseMatch):
        reverse("sign-in-as")
    assert client.post("/sign-in/as/", {"username": "member"}).status_code == 404
    assert client.get("/teams/research/").status_code == 302


def provider(slug: str, **fields: object) -> IdentityProvider:
    told = {"name": slug.title(), "metadata": "<x/>", "groups_attribute": "groups", "signs_response": True}
    return IdentityProvider.objects.create(slug=slug, **{**told, "enabled": True, **fields})


def test_the_only_identity_provider_is_gone_to_at_once(client: Client, production: None) -> None:
    provider("corp")
    provider("later", metadata="")
    provider("off", enabled=False)
    response = client.get(reverse("sign-in"), {"next": "/me/"})
    assert (response.status_code, response.url) == (302, "/saml/corp/login/?next=%2Fme%2F")
    assert client.get(reverse("sign-in"), {"choose": "1"}).status_code == 200


def test_several_identity_providers_are_offered_in_the_demo_too(people: People, client: Client) -> None:
    provider("corp")
    provider("other")
    text = client.get(reverse("sign-in"), {"next": "/me/"}).text
    assert 'href="/saml/corp/login/?next=%2Fme%2F"' in text
    assert "Other" in text
    assert "Name of member" in text
