import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from gateways.errors import BadReply, ConfigurationError, Denied, Unavailable
from gateways.identity import fetch_metadata

HERE = frozenset({"127.0.0.1"})


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status = {"/down": 503, "/gone": 404, "/moved": 302}.get(self.path, 200)
        body = {"/large": b"x" * 1_000_001, "/bytes": b"\xff\xfe"}.get(self.path, b"<metadata/>")
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/other")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Answers)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_it_is_read(address: str) -> None:
    assert fetch_metadata(f"{address}/metadata?x=1", allowed=HERE) == "<metadata/>"


@pytest.mark.parametrize(
    ("path", "error"),
    [("/down", Unavailable), ("/gone", BadReply), ("/moved", BadReply), ("/large", BadReply), ("/bytes", BadReply)],
)
def test_what_is_no_answer(address: str, path: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        fetch_metadata(address + path, allowed=HERE)


BAD = ["http://corp.example.org/", "file:///etc/passwd", "https://u:p@corp.example.org/", "x", "https://[/"]


@pytest.mark.parametrize("url", BAD)
def test_addresses_that_are_not_asked(url: str) -> None:
    with pytest.raises(ConfigurationError):
        fetch_metadata(url, allowed=HERE)


@pytest.mark.parametrize("host", ["127.0.0.1", "169.254.169.254", "10.0.0.1"])
def test_the_inside_of_the_network_is_not_asked(host: str) -> None:
    with pytest.raises(Denied):
        fetch_metadata(f"https://{host}/", allowed=frozenset())


def test_a_host_of_any_script_is_asked_by_its_name_in_ascii(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *args, **told: real("127.0.0.1", *args, **told))
    url = address.replace("127.0.0.1", "пример.example")
    allowed = {"пример.example", "xn--e1afmkfd.example"}
    assert fetch_metadata(url, allowed=allowed) == "<metadata/>"
    with pytest.raises(Unavailable, match="xn--e1afmkfd.example: 503"):
        fetch_metadata(f"{url}/down", allowed=allowed)


@pytest.mark.parametrize("host", ["пример..example", "п" * 70])
def test_a_host_that_cannot_be_is_not_asked(host: str) -> None:
    with pytest.raises(ConfigurationError):
        fetch_metadata(f"https://{host}/", allowed=HERE)
