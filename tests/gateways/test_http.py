import gzip
import logging
import time
import traceback
from pathlib import Path

import pytest
from kubernetes.client import Configuration

from gateways.errors import BadReply, Conflict, Denied, GatewayError, Gone, NotFound, Unavailable
from gateways.http import Api
from tests.gateways.conftest import IMPATIENT
from tests.gateways.scripted import (
    TOKEN,
    ScriptedServer,
    chunks,
    cut_off,
    hang,
    reply,
    status,
    write_kubeconfig,
)

PATH = "/api/v1/namespaces"


def refused(api: Api, error: type[GatewayError]) -> str:
    with pytest.raises(error) as caught:
        api.get(PATH)
    return str(caught.value)


def test_get_gives_the_object_and_sends_the_token(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, reply({"kind": "NamespaceList"}))
    assert api.get(PATH, {"limit": 5, "continue": "a+b/c="}) == {"kind": "NamespaceList"}
    (asked,) = server.asked
    assert asked.headers["Authorization"] == f"Bearer {TOKEN}"
    assert asked.query == {"limit": "5", "continue": "a+b/c="}


def test_get_does_not_look_like_a_browser(server: ScriptedServer, api: Api) -> None:
    """The API server answers those with indented JSON."""
    server.on(PATH, reply({}))
    api.get(PATH)
    agent = server.asked[0].headers["User-Agent"].lower()
    assert not any(name in agent for name in ("curl", "wget", "mozilla"))


def test_a_compressed_answer_is_read(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, reply(gzip.compress(b'{"kind": "small"}'), Content_Encoding="gzip"))
    assert api.get(PATH) == {"kind": "small"}
    assert server.asked[0].headers["Accept-Encoding"] == "gzip"


def test_a_compressed_answer_that_is_broken_is_unavailable(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, reply(gzip.compress(b'{"kind": "small"}')[:-12] + b"x" * 12, Content_Encoding="gzip"))
    refused(api, Unavailable)


def test_a_stream_is_not_compressed(server: ScriptedServer, api: Api) -> None:
    """A compressor may hold an event back until more follow."""
    server.on(PATH, chunks())
    with api.stream(PATH, {}, 1):
        assert server.asked[0].headers["Accept-Encoding"] == "identity"


def test_calls_share_one_connection(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, reply({}))
    for _ in range(3):
        api.get(PATH)
    assert len({asked.connection for asked in server.asked}) == 1


@pytest.mark.parametrize(
    ("code", "error"),
    [(401, Denied), (403, Denied), (404, NotFound), (409, Conflict), (410, Gone), (400, BadReply), (422, BadReply)],
)
def test_refusals_become_the_family_without_a_second_try(
    server: ScriptedServer, api: Api, pauses: list[float], code: int, error: type[GatewayError]
) -> None:
    server.on(PATH, status(code, "because of this"))
    text = refused(api, error)
    assert text == f"GET {PATH}: {code}: because of this"
    assert pauses == []


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_an_unavailable_server_is_asked_three_times(
    server: ScriptedServer, api: Api, pauses: list[float], code: int
) -> None:
    server.on(PATH, status(code))
    refused(api, Unavailable)
    assert len(server.asked) == 3
    assert len(pauses) == 2


def test_a_server_that_recovers_is_believed(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, status(503), status(500), reply({"kind": "fine"}))
    assert api.get(PATH) == {"kind": "fine"}


def test_retry_after_is_honoured(server: ScriptedServer, api: Api, pauses: list[float]) -> None:
    server.on(PATH, status(429, Retry_After="3"), reply({}))
    api.get(PATH)
    assert pauses == [3.0]


def test_a_retry_after_beyond_the_budget_is_told_instead_of_waited_for(
    server: ScriptedServer, api: Api, pauses: list[float]
) -> None:
    server.on(PATH, status(429, Retry_After="60"))
    with pytest.raises(Unavailable) as caught:
        api.get(PATH)
    assert caught.value.retry_after == 60
    assert pauses == []
    assert len(server.asked) == 1


@pytest.mark.parametrize("text", ["Wed, 21 Oct 2026 07:28:00 GMT", "-1", "1e9", "٣", ""])
def test_a_retry_after_that_is_no_number_counts_as_none(server: ScriptedServer, api: Api, text: str) -> None:
    server.on(PATH, status(503, Retry_After=text.encode().decode("latin-1")))
    with pytest.raises(Unavailable) as caught:
        api.get(PATH)
    assert caught.value.retry_after is None


def test_post_is_never_sent_twice(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, status(503))
    with pytest.raises(Unavailable):
        api.post(PATH, {"kind": "Namespace"})
    (asked,) = server.asked
    assert (asked.method, asked.body) == ("POST", b'{"kind":"Namespace"}')
    assert asked.headers["Content-Type"] == "application/json"


def test_a_hanging_server_costs_one_timeout_per_attempt(server: ScriptedServer, impatient_api: Api) -> None:
    server.on(PATH, hang(server))
    began = time.monotonic()
    assert "silent" in refused(impatient_api, Unavailable)
    assert 3 * IMPATIENT.read <= time.monotonic() - began < 3 * IMPATIENT.read + 1


def test_null_characters_are_read_as_what_can_be_kept(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, reply({"text": "a\0b"}))
    assert api.get(PATH) == {"text": "a\ufffdb"}


def test_an_answer_that_trickles_is_given_up(server: ScriptedServer, impatient_api: Api) -> None:
    server.on(PATH, chunks(*(part for _ in range(100) for part in (b" ", lambda: time.sleep(0.03)))))
    began = time.monotonic()
    with pytest.raises(Unavailable, match=r"longer than 0\.3 s"):
        impatient_api.post(PATH, {})
    assert time.monotonic() - began < 1.5


def test_nobody_listening_is_unavailable(server: ScriptedServer, api: Api) -> None:
    server.close()
    text = refused(api, Unavailable)
    assert "refuses connections" in text
    assert server.url.removeprefix("http://") in text


def test_a_connection_that_breaks_is_tried_again(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, cut_off(b'{"items": [', 1000), reply({"kind": "whole"}))
    assert api.get(PATH) == {"kind": "whole"}


def test_truncated_json_is_a_bad_reply(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, reply(b'{"items": [{"a": 1}, '))
    assert "not JSON" in refused(api, BadReply)


@pytest.mark.parametrize("body", [b"[]", b"null", b"3", b'"text"'])
def test_json_that_is_no_object_is_a_bad_reply(server: ScriptedServer, api: Api, body: bytes) -> None:
    server.on(PATH, reply(body))
    assert "no object" in refused(api, BadReply)


def test_a_page_of_a_proxy_is_a_bad_reply_and_is_not_repeated(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, reply(b"<html>please sign in</html>", Content_Type="text/html"))
    text = refused(api, BadReply)
    assert "text/html" in text
    assert "sign in" not in text


def test_a_refusal_by_a_proxy_is_not_repeated(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, reply(b"<html>internal address 10.0.0.7</html>", 403))
    text = refused(api, Denied)
    assert "not Kubernetes' own answer" in text
    assert "10.0.0.7" not in text


def test_redirects_are_not_followed(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, reply(b"", 302, Location=f"{server.url}/elsewhere"))
    refused(api, BadReply)
    assert server.asked_of("/elsewhere") == []


def test_a_long_message_is_cut(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, status(422, "x" * 5000))
    assert len(refused(api, BadReply)) < 400


def test_no_error_or_log_holds_the_token(server: ScriptedServer, api: Api, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.on(PATH, status(403, f"token {TOKEN} of Bearer {TOKEN} is not\nenough"))
    with pytest.raises(Denied) as caught:
        api.get(PATH)
    logging.getLogger("portal").error("sync failed", exc_info=caught.value)
    shown = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert "is not enough" in shown
    assert TOKEN not in shown


def test_a_new_token_is_read_after_a_401(server: ScriptedServer, kubeconfig: Path, api: Api) -> None:
    server.on(PATH, reply({}), status(401), reply({"kind": "in again"}))
    api.get(PATH)
    write_kubeconfig(kubeconfig, server.url, {"token": "renewed"})
    assert api.get(PATH) == {"kind": "in again"}
    sent = [asked.headers["Authorization"] for asked in server.asked]
    assert sent == [f"Bearer {TOKEN}", f"Bearer {TOKEN}", "Bearer renewed"]


def test_a_second_401_is_denied(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, status(401, "Unauthorized"))
    refused(api, Denied)
    assert len(server.asked) == 2


def test_nothing_is_opened_before_the_first_call() -> None:
    def fail() -> None:
        raise AssertionError

    Api(fail)  # type: ignore[arg-type]


def test_a_stream_gives_bytes_as_they_come(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, chunks(b"one\n", b"two\n"))
    with api.stream(PATH, {}, 1) as parts:
        assert b"".join(parts) == b"one\ntwo\n"


def test_a_silent_stream_is_unavailable(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, chunks(b"one\n", lambda: server.released.wait(5)))
    with api.stream(PATH, {}, 0.2) as parts, pytest.raises(Unavailable):
        list(parts)


def test_the_address_and_the_certificate_that_its_configuration_holds() -> None:
    made = Configuration(host="https://one.example.com")
    assert Api(lambda: made).server() == ("https://one.example.com", "")
    made.ca_cert_data = "PEM"
    assert Api(lambda: made).server() == ("https://one.example.com", "UEVN")
