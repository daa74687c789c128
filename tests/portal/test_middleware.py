import pytest
import structlog
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, StreamingHttpResponse
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from portal.middleware import (
    loopback_only_in_demo,
    no_body_for_head,
    request_context,
    request_line,
    sign_in_for_parts,
)
from tests.people import People

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


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, object]]:
    return [record.msg for record in caplog.records if record.name == "portal.middleware"]  # type: ignore[misc]


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level("INFO")
    return caplog


@pytest.mark.django_db
def test_a_request_leaves_one_line_without_names(people: People, log: pytest.LogCaptureFixture) -> None:
    client = Client()
    client.force_login(people.member)
    response = client.get("/teams/research/?search=zebra")
    (line,) = lines(log)
    assert (line["event"], line["method"], line["view"], line["status"]) == ("request", "GET", "team", 200)
    assert line["user"] == people.member.pk
    assert line["request_id"] == response["X-Request-Id"]
    assert isinstance(line["ms"], int)
    assert "research" not in log.text
    assert "zebra" not in log.text


@pytest.mark.django_db
def test_nobody_signed_in_is_nobody_in_the_line(log: pytest.LogCaptureFixture) -> None:
    Client().get("/sign-in/")
    Client().get("/platform/")
    assert [(line["view"], line["status"], "user" in line) for line in lines(log)] == [
        ("sign-in", 200, False),
        ("overview", 302, False),
    ]


@pytest.mark.django_db
def test_who_it_is_is_not_looked_up_for_the_line(people: People, log: pytest.LogCaptureFixture) -> None:
    client = Client()
    client.force_login(people.member)
    with CaptureQueriesContext(connection) as queries:
        assert client.get("/healthz").status_code == 200
    assert not queries.captured_queries
    assert lines(log) == []


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/teams/zebra/", "/nothing/zebra/"])
def test_what_is_not_found_has_its_line_and_nothing_else(
    people: People, log: pytest.LogCaptureFixture, path: str
) -> None:
    client = Client()
    client.force_login(people.member)
    client.get(path)
    assert [line["status"] for line in lines(log)] == [404]
    assert "zebra" not in log.text
    assert "Traceback" not in log.text


def test_a_broken_view_has_a_line_too(log: pytest.LogCaptureFixture) -> None:
    request = REQUESTS.get("/")
    request.resolver_match = None
    request_line(lambda _: HttpResponse(status=500))(request)
    assert [(line["view"], line["status"]) for line in lines(log)] == [("none", 500)]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "address",
    ["/%00", "/teams/%00/", "/teams/research%00/", "/clusters/gpu-one/workloads/a%00b/", "/nothing/%00",
     "/teams/research/?sort=%00", "/?a=1&b=x%00y", "/sign-in/?next=/%00"],
)  # fmt: skip
def test_a_null_character_in_an_address_is_refused(people: People, address: str) -> None:
    for client in (Client(), signed_in(people)):
        response = client.get(address)
        assert response.status_code == 400
        assert "Not understood" in response.text


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["sessionid", "zone", "csrftoken", "anything"])
def test_a_null_character_in_a_cookie_is_refused(name: str) -> None:
    """Quoted cookies may hold it as an octal escape, and the session's goes into a query."""
    response = Client().get("/", HTTP_COOKIE=f'{name}="\\000aaaaaaaaaaaa"')
    assert response.status_code == 400


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/teams/research/?a=%2500", "/teams/research/?a=100%", "/teams/research/?a=%FF"])
def test_other_odd_addresses_are_answered(people: People, address: str) -> None:
    assert signed_in(people).get(address).status_code == 200


@pytest.mark.django_db
def test_a_null_character_in_the_name_to_sign_in_with_is_nobody(people: People) -> None:
    assert Client().post("/sign-in/as/", {"username": "nobody\0"}).status_code == 404


def signed_in(people: People) -> Client:
    client = Client()
    client.force_login(people.member)
    return client


def test_a_part_that_would_be_redirected_sends_its_page_there() -> None:
    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponseRedirect("/sign-in/?next=/teams/research/")

    part = sign_in_for_parts(view)(REQUESTS.get("/teams/research/", headers={"HX-Request": "true"}))
    assert (part.status_code, part["HX-Redirect"]) == (204, "/sign-in/?next=/teams/research/")
    assert "Location" not in part
    page = sign_in_for_parts(view)(REQUESTS.get("/teams/research/"))
    assert (page.status_code, page["Location"]) == (302, "/sign-in/?next=/teams/research/")


@pytest.mark.parametrize("status", [200, 304, 403, 404, 500])
def test_every_other_answer_reaches_the_part_as_it_is(status: int) -> None:
    request = REQUESTS.get("/", headers={"HX-Request": "true"})
    response = HttpResponse("hello", status=status)
    assert sign_in_for_parts(lambda _: response)(request) is response


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/", "/platform/", "/teams/research/", "/clusters/gpu-one/workloads/any/"])
def test_nobody_signed_in_gets_no_part(address: str) -> None:
    response = Client().get(address, headers={"HX-Request": "true"})
    assert (response.status_code, response.content) == (204, b"")
    assert response["HX-Redirect"] == f"/sign-in/?next={address}"


@pytest.mark.django_db
@pytest.mark.parametrize("charset", ["utf-16", "utf-7", "utf-16; x=y"])
def test_a_form_in_another_encoding_is_refused_before_anything_reads_it(charset: str) -> None:
    token = "k" * 32
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.cookies["csrftoken"] = token
    sent = {"content_type": f"application/x-www-form-urlencoded; charset={charset}", "headers": {"X-CSRFToken": token}}
    assert client.post("/sign-in/", b"user=member", **sent).status_code == 415


@pytest.mark.django_db
@pytest.mark.parametrize("charset", ["utf-8", "UTF-8"])
def test_forms_in_utf_8_are_read(charset: str) -> None:
    sent = f"application/x-www-form-urlencoded; charset={charset}"
    assert Client().post("/language/", b"language=pt-br", content_type=sent).status_code == 302


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/sign-in/", "/me/", "/gallery/", "/teams/research/", "/teams/research/usage/"])
def test_no_cache_keeps_what_one_person_was_shown(people: People, address: str) -> None:
    client = Client()
    client.force_login(people.member)
    assert "private" in client.get(address)["Cache-Control"]


def test_sign_in_leads_back_to_the_page_of_the_part() -> None:
    page = "http://testserver/teams/research/?tab=1"
    request = REQUESTS.get("/teams/research/lost/", headers={"HX-Request": "true", "HX-Current-URL": page})
    asked = sign_in_for_parts(lambda _: HttpResponseRedirect("/sign-in/?next=/teams/research/lost/"))(request)
    assert asked["HX-Redirect"] == "/sign-in/?next=/teams/research/%3Ftab%3D1"


@pytest.mark.parametrize("made", [HttpResponse(b"text"), StreamingHttpResponse(iter([b"te", b"xt"]))])
def test_the_head_alone_has_no_body(made: HttpResponseBase) -> None:
    """The test client would take it away itself, so that the middleware is asked."""
    answer = no_body_for_head(lambda _: made)(RequestFactory().head("/"))  # type: ignore[arg-type,return-value]
    assert b"".join(answer) == b""
    if not made.streaming:
        assert answer.headers["Content-Length"] == "4"


def test_all_else_keeps_its_body() -> None:
    answer = no_body_for_head(lambda _: HttpResponse(b"text"))(RequestFactory().get("/"))
    assert answer.content == b"text"
