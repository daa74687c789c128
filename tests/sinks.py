"""Real channels on loopback: an HTTP server and a mail server that keep what they get."""

import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True)
class Post:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class HttpSink:
    """Answers with the next of `answers`, then with 200. `before_answer` runs when a whole request has arrived."""

    port: int = 0
    got: list[Post] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    before_answer: Callable[[], None] = lambda: None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"


@contextmanager
def http_sink() -> Iterator[HttpSink]:
    sink = HttpSink()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            sink.got.append(Post(self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            sink.before_answer()
            status = sink.answers.pop(0) if sink.answers else 200
            self.send_response(status)
            if status == 302:
                self.send_header("Location", f"http://127.0.0.1:{sink.port}/elsewhere")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *args: object) -> None:
            """Nothing."""

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as sink.port:
        yield sink


@contextmanager
def trickling(begin: bytes, pause: float) -> Iterator[str]:
    """A URL at which the answer begins so, and goes on a byte at a time until whoever asked is gone."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                self.request.sendall(begin)
                while True:
                    time.sleep(pause)
                    self.request.sendall(b"x")

    with serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)) as port:
        yield f"http://127.0.0.1:{port}/hook"


@dataclass
class MailSink:
    """Takes whatever comes; refuses every recipient with `refusal` if that is set."""

    port: int = 0
    got: list[str] = field(default_factory=list)
    refusal: str = ""

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"


@contextmanager
def mail_sink() -> Iterator[MailSink]:
    sink = MailSink()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.say("220 sink")
            while line := self.rfile.readline().decode().strip():
                verb = line.split()[0].upper()
                if verb == "QUIT":
                    return self.say("221 bye")
                if verb == "DATA":
                    self.say("354 go on")
                    sink.got.append(self.message())
                self.say(sink.refusal if verb == "RCPT" and sink.refusal else "250 ok")

        def say(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

        def message(self) -> str:
            lines: list[str] = []
            while (line := self.rfile.readline().decode().rstrip("\r\n")) != ".":
                lines.append(line)
            return "\n".join(lines)

    with serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)) as sink.port:
        yield sink


@contextmanager
def serving(server: socketserver.TCPServer) -> Iterator[int]:
    """The server in a thread; gives its port."""
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
