import pytest
import structlog
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from portal.middleware import loopback_only_in_demo, request_context

REQUESTS = RequestFactory()


def answer(request: HttpRequest) -> HttpResponse:
    return HttpResponse("hello")


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "::1", ""])
def test_the_demo_answers_loopback(address: str) -> None:
    request = REQUESTS.get("/", REMOTE_ADDR=address)
    assert loopback_only_in_demo(answer)(request).content == b"hello"


@pytest.mark.parametrize("address", ["10.0.0.8", "192.168.1.2", "2001:db8::1", "0.0.0.0", "not an address"])  # noqa: S104
def test_the_demo_answers_nobody_else(address: str) -> None:
    response = loopback_only_in_demo(answer)(REQUESTS.get("/", REMOTE_ADDR=address))
    assert response.status_code == 403
    assert response.content == b"The demo answers on loopback only."


def test_a_forwarded_address_is_no_way_in() -> None:
    request = REQUESTS.get("/", REMOTE_ADDR="10.0.0.8", headers={"x-forwarded-for": "127.0.0.1"})
    assert loopback_only_in_demo(answer)(request).status_code == 403


def test_production_answers_everybody(settings: object) -> None:
    settings.DEMO = False  # type: ignore[attr-defined]
    assert loopback_only_in_demo(answer)(REQUESTS.get("/", REMOTE_ADDR="10.0.0.8")).status_code == 200


@pytest.mark.django_db
def test_the_demo_refuses_before_anything_else() -> None:
    assert Client(REMOTE_ADDR="10.0.0.8").get("/sign-in/").status_code == 403


def test_a_request_has_an_id_in_its_logs_and_its_answer() -> None:
    seen: list[str] = []

    def view(request: HttpRequest) -> HttpResponse:
        seen.append(structlog.contextvars.get_contextvars()["request_id"])
        return HttpResponse()

    responses = [request_context(view)(REQUESTS.get("/")) for _ in range(2)]
    assert [response["X-Request-Id"] for response in responses] == seen
    assert seen[0] != seen[1]
    assert "request_id" not in structlog.contextvars.get_contextvars()


def test_an_id_does_not_outlive_a_request_that_failed() -> None:
    def view(request: HttpRequest) -> HttpResponse:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        request_context(view)(REQUESTS.get("/"))
    assert "request_id" not in structlog.contextvars.get_contextvars()
