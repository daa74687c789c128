"""Webhooks against a real server on loopback."""

import base64
import hashlib
import hmac
import json
import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from gateways import public_https
from gateways.errors import BadReply, ConfigurationError, Denied, GatewayError, Unavailable
from gateways.identity import fetch_metadata
from gateways.letters import Letter
from gateways.public_https import is_callable
from gateways.webhooks import post_signed
from tests.sinks import HttpSink, http_sink, trickling

LETTER = Letter("5a3f", "train was evicted", "why", "https://portal.example/x", False, [{"kind": "evicted"}])
NOW = datetime(2026, 10, 8, 12, tzinfo=UTC)
KEY = "a key of sixteen or more"
HERE = frozenset({"127.0.0.1"})


@pytest.fixture
def sink() -> Iterator[HttpSink]:
    with http_sink() as found:
        yield found


def test_what_arrives_is_signed_dated_and_has_its_id(sink: HttpSink) -> None:
    post_signed(f"{sink.url}?to=us", KEY, LETTER, now=NOW, allowed=HERE)
    (post,) = sink.got
    assert (post.path, post.headers["host"]) == ("/hook?to=us", f"127.0.0.1:{sink.port}")
    assert json.loads(post.body) == {
        "type": "notices", "id": "5a3f", "title": "train was evicted", "notices": [{"kind": "evicted"}],
    }  # fmt: skip
    assert (post.headers["webhook-id"], post.headers["webhook-timestamp"]) == ("5a3f", "1791460800")
    digest = hmac.digest(KEY.encode(), b"5a3f.1791460800." + post.body, hashlib.sha256)
    assert post.headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"


@pytest.mark.parametrize(
    ("status", "error"), [(302, BadReply), (404, BadReply), (410, BadReply), (429, Unavailable), (503, Unavailable)]
)
def test_refusals_say_whether_to_try_again_and_no_redirect_is_followed(
    sink: HttpSink, status: int, error: type[GatewayError]
) -> None:
    sink.answers = [status]
    with pytest.raises(error, match=f"127.0.0.1: {status}"):
        post_signed(sink.url, KEY, LETTER, now=NOW, allowed=HERE)
    assert [post.path for post in sink.got] == ["/hook"]


def test_a_host_of_any_script_is_called_by_its_name_in_ascii(sink: HttpSink, monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *args, **told: real("127.0.0.1", *args, **told))
    allowed = {"пример.example", "xn--e1afmkfd.example"}
    post_signed(f"http://пример.example:{sink.port}/hook", KEY, LETTER, now=NOW, allowed=allowed)
    assert sink.got[0].headers["host"] == f"xn--e1afmkfd.example:{sink.port}"


TRICKLES = [b"", b"HTTP/1.1 200 OK\r\nx-slow: ", b"HTTP/1.1 200 OK\r\n\r\n"]


@pytest.mark.parametrize("begin", TRICKLES[:2], ids=["from the beginning", "headers"])
def test_an_answer_that_trickles_holds_nobody_up(monkeypatch: pytest.MonkeyPatch, begin: bytes) -> None:
    monkeypatch.setattr(public_https, "WHOLE_SECONDS", 0.3)
    began = time.monotonic()
    with trickling(begin, pause=0.02) as url, pytest.raises(Unavailable, match=r"longer than 0\.3 s"):
        post_signed(url, KEY, LETTER, now=NOW, allowed=HERE)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("begin", TRICKLES, ids=["from the beginning", "headers", "body"])
def test_metadata_that_trickles_holds_nobody_up(monkeypatch: pytest.MonkeyPatch, begin: bytes) -> None:
    monkeypatch.setattr(public_https, "WHOLE_SECONDS", 0.3)
    with trickling(begin, pause=0.02) as url, pytest.raises(Unavailable, match=r"longer than 0\.3 s"):
        fetch_metadata(url, allowed=HERE)


def test_an_internal_address_gets_nothing(sink: HttpSink) -> None:
    with pytest.raises(Denied):
        post_signed(f"https://127.0.0.1:{sink.port}/hook", KEY, LETTER, now=NOW, allowed=())
    assert sink.got == []


def test_nobody_there() -> None:
    with http_sink() as gone:
        url = gone.url
    with pytest.raises(Unavailable):
        post_signed(url, KEY, LETTER, now=NOW, allowed=HERE)


@pytest.mark.parametrize(
    "url", ["", "hook", "http://hooks.example/", "ftp://hooks.example/", "https://me:pw@hooks.example/", "https://",
            "https://:pw@hooks.example/", "https://@hooks.example/",
            "https://[::1", "https://hooks.example:0x50/", "file:///etc/passwd"],
)  # fmt: skip
def test_what_is_no_address_of_a_webhook(url: str) -> None:
    assert not is_callable(url, ())
    with pytest.raises(ConfigurationError):
        post_signed(url, KEY, LETTER, now=NOW, allowed=())


def test_what_is() -> None:
    assert is_callable("https://hooks.example:8443/in?x=1", ())
    assert is_callable("http://hooks.internal/in", {"hooks.internal"})
