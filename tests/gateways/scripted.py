"""A real HTTP server on loopback that answers as told, and kubeconfigs that point to it."""

import json
import ssl
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import yaml

TOKEN = "s3cr3t-token-of-the-portal"

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass(frozen=True)
class Asked:
    """One request as it came in."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    connection: int


class ScriptedServer:
    """Give it answers per path with `on`; the last one of a path repeats. `asked` holds all requests."""

    def __init__(self, certificate: Path | None = None) -> None:
        self.asked: list[Asked] = []
        self.released = threading.Event()  # set at the end: whoever hangs goes on
        self._answers: dict[str, deque[Answer]] = defaultdict(deque)
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
            scheme = "https"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def on(self, path: str, *answers: Answer) -> None:
        self._answers[path] = deque(answers)

    def asked_of(self, path: str) -> list[Asked]:
        return [asked for asked in self.asked if asked.path == path]

    def answer(self, path: str) -> Answer:
        answers = self._answers[path]
        if not answers:
            return status(404, "the server could not find the requested resource")
        return answers.popleft() if len(answers) > 1 else answers[0]

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that leave are part of the play."""


def _handler(script: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            split = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            query = dict(parse_qsl(split.query))
            port = self.client_address[1]
            script.asked.append(Asked(self.command, split.path, query, dict(self.headers), body, port))
            try:
                script.answer(split.path)(self)
            except OSError:
                self.close_connection = True

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def reply(body: Any, status: int = 200, **headers: str) -> Answer:
    """An answer with a body: bytes as they are, anything else as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        sent = {"Content-Type": "application/json", "Content-Length": str(len(content))}
        for name, value in {**sent, **{n.replace("_", "-"): v for n, v in headers.items()}}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def status(code: int, message: str = "no", **headers: str) -> Answer:
    """A refusal as Kubernetes words it."""
    return reply({"kind": "Status", "apiVersion": "v1", "code": code, "message": message}, code, **headers)


def listing(items: Iterable[Any], version: int = 100, following: str = "") -> Answer:
    meta = {"resourceVersion": str(version), **({"continue": following} if following else {})}
    return reply({"kind": "List", "metadata": meta, "items": list(items)})


def chunks(*parts: bytes | Callable[[], object]) -> Answer:
    """A chunked answer; what can be called is called between the chunks."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for part in parts:
            if isinstance(part, bytes):
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                handler.wfile.flush()
            else:
                part()
        handler.wfile.write(b"0\r\n\r\n")

    return answer


def events(*told: dict[str, Any]) -> Answer:
    """A watch that tells these and ends."""
    return chunks(*(json.dumps(event).encode() + b"\n" for event in told))


def cut_off(content: bytes, promised: int) -> Answer:
    """A body that ends before its promised length."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(promised))
        handler.end_headers()
        handler.wfile.write(content)
        handler.close_connection = True

    return answer


def hang(server: ScriptedServer) -> Answer:
    """Nothing at all, until the server closes."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        server.released.wait(10)
        handler.close_connection = True

    return answer


def write_kubeconfig(
    file: Path, url: str, user: dict[str, Any] | None = None, cluster: dict[str, str] | None = None
) -> Path:
    """A kubeconfig for `url`; `user` replaces the token, `cluster` adds to the server's address."""
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "cluster", "cluster": {"server": url, **(cluster or {})}}],
        "users": [{"name": "portal", "user": {"token": TOKEN} if user is None else user}],
        "contexts": [{"name": "here", "context": {"cluster": "cluster", "user": "portal"}}],
    }
    file.write_text(yaml.safe_dump(content))
    return file
