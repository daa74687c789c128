"""Error pages: in the reader's language, inside the frame where that is safe, alone where nothing is certain."""

from typing import Any

import pytest
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path

from tests.pages.reading import steady
from tests.people import People

NEEDING_ROWS = ("Session", "Login", "Authentication", "Csrf", "Locale", "zones", "tokens")


def broken(request: HttpRequest) -> HttpResponse:
    raise ZeroDivisionError("with a secret")


def without_database(request: HttpRequest) -> HttpResponse:
    raise OperationalError("connection to server at 10.0.0.7 failed")


urlpatterns = [path("broken/", broken), path("without/", without_database), path("", include("portal.urls"))]
handler500 = "portal.views.errors.server_error"


def visit_broken(client: Client) -> HttpResponse:
    client.raise_request_exception = False
    return client.get("/broken/")  # type: ignore[return-value]


@pytest.mark.urls("tests.portal.test_errors")
def test_a_broken_view_is_told_without_the_database(settings: Any) -> None:
    """No database mark: a query would fail the test."""
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if not any(word in name for word in NEEDING_ROWS)]
    response = visit_broken(Client())
    assert response.status_code == 500
    assert "Something broke" in response.text
    assert "Algo deu errado" in response.text
    assert response.text.count(f"<code>{response['X-Request-Id']}</code>") == len(settings.LANGUAGES)
    assert "secret" not in response.text
    assert "ZeroDivision" not in response.text


@pytest.mark.django_db
@pytest.mark.urls("tests.portal.test_errors")
def test_a_signed_in_person_sees_the_same(people: People) -> None:
    client = Client()
    client.force_login(people.member)
    response = visit_broken(client)
    assert (response.status_code, "Something broke" in response.text) == (500, True)
    assert "Content-Security-Policy" in response
    assert "<style" not in response.text
    assert "<script" not in response.text


@pytest.mark.urls("tests.portal.test_errors")
def test_without_a_database_pages_say_so_and_when_to_ask_again(settings: Any) -> None:
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if not any(word in name for word in NEEDING_ROWS)]
    client = Client(raise_request_exception=False)
    response = client.get("/without/")
    assert (response.status_code, response["Retry-After"]) == (503, "30")
    assert "<h1>The portal cannot reach its database</h1>" in response.text
    assert "<h2>O portal não alcança o banco de dados dele</h2>" in response.text
    assert f"<code>{response['X-Request-Id']}</code>" in response.text
    assert "10.0.0.7" not in response.text


@pytest.mark.django_db
def test_not_understood(people: People) -> None:
    response = Client().get("/sign-in/", headers={"host": "elsewhere.example.com"})
    assert response.status_code == 400
    assert "<h1>Not understood</h1>" in response.text
    assert "elsewhere" not in response.text


@pytest.mark.django_db
def test_no_permission(people: People) -> None:
    client = Client()
    client.force_login(people.member)
    response = client.get("/platform/")
    assert response.status_code == 403
    assert "<h1>No permission</h1>" in response.text


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/nothing/", "/teams/vision/"])
def test_not_found_is_not_found_whatever_the_reason(people: People, address: str) -> None:
    client = Client()
    client.force_login(people.member)
    response = client.get(address)
    assert response.status_code == 404
    assert "<h1>Not found</h1>" in response.text
    assert "vision" not in steady(response).lower()


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/nothing/", "/platform/"])
def test_refusals_keep_menu_search_and_language_for_those_who_are_signed_in(people: People, address: str) -> None:
    client = Client()
    client.force_login(people.member)
    text = client.get(address).text
    for part in ('href="/teams/research/"', 'role="search"', 'name="language"', 'action="/sign-out/"'):
        assert part in text


@pytest.mark.django_db
def test_not_found_offers_nothing_to_a_person_nobody_knows() -> None:
    response = Client().get("/nothing/")
    assert (response.status_code, "<h1>Not found</h1>" in response.text) == (404, True)
    for part in ("<nav", "<form", "/sign-out/"):
        assert part not in response.text


@pytest.mark.django_db
def test_a_form_without_its_token(people: People) -> None:
    response = Client(enforce_csrf_checks=True).post("/sign-in/as/", {"username": "member"})
    assert response.status_code == 403
    assert "<h1>Please try again</h1>" in response.text
    assert "csrftoken" not in response.text.lower()
