"""Calls to a Kubernetes API server, raw, over the official client's authenticated connections."""

import base64
import gc
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

import orjson
import urllib3
from kubernetes.client import ApiClient, Configuration
from urllib3.exceptions import HTTPError

from gateways.connections import Connection, configuration
from gateways.errors import BadReply, ConfigurationError, GatewayError, Unavailable
from gateways.json_text import read_json
from gateways.refusals import refusal, unreachable

JSON: Final = "application/json"
Query = Mapping[str, str | int]

_AGENT: Final = "hyperpod-portal"  # curl's or a browser's name would get pretty-printed JSON, twice the bytes
_PAUSES: Final = (0.2, 0.8)
_CHUNK_BYTES: Final = 1 << 18
_MOST_REFUSAL_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: to connect, between two reads, for one whole answer, and within which a failed read is tried again."""

    connect: float = 5.0
    read: float = 30.0
    whole: float = 120.0
    again: float = 10.0


IMPATIENT: Final = Timeouts(connect=2, read=3, whole=4, again=0)
"""For what a person waits for."""


@dataclass(frozen=True, slots=True)
class _Call:
    method: str
    path: str
    query: Query
    accept: str = JSON
    body: bytes | None = None
    read_timeout: float | None = None
    encoding: str = "gzip"  # costs nothing even on loopback, where a page is twenty times smaller by it

    @property
    def target(self) -> str:
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path


class Api:
    """One cluster's API server, safe to share between threads. Every method raises GatewayError.

    The configuration is loaded at the first call, and again when the server answers 401: that heals rotated token
    files and rewritten kubeconfigs.
    """

    def __init__(
        self,
        load: Callable[[], Configuration],
        *,
        timeouts: Timeouts | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._load, self._sleep = load, sleep
        self._timeouts = timeouts or Timeouts()
        self._client: ApiClient | None = None
        self._lock = threading.Lock()

    def get(self, path: str, query: Query | None = None, accept: str = JSON) -> dict[str, Any]:
        """The JSON object at `path`. Asks again, at most twice, while the server is unavailable."""
        call = _Call("GET", path, query or {}, accept)
        began = time.monotonic()
        for pause in _PAUSES:
            try:
                return self._answer(call)
            except Unavailable as error:
                wait = error.retry_after or pause * random.uniform(0.5, 1.5)  # noqa: S311
                if time.monotonic() - began + wait > self._timeouts.again:
                    raise
            self._sleep(wait)
        return self._answer(call)

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Creates what `body` says and gives the server's answer. Never sent twice."""
        return self._answer(_Call("POST", path, {}, body=orjson.dumps(body)))

    def server(self) -> tuple[str, str]:
        """The address, and the certificate in base64 if the configuration holds it (as EKS gives it), else empty."""
        made = self._connected().configuration
        authority = str(made.ca_cert_data or "")
        return made.host, base64.b64encode(authority.encode()).decode()

    @contextmanager
    def stream(self, path: str, query: Query, read_timeout: float) -> Iterator[Iterator[bytes]]:
        """The bytes of an endless answer as they arrive; `read_timeout` seconds of silence raise Unavailable."""
        response = self._accepted(_Call("GET", path, query, read_timeout=read_timeout, encoding="identity"))
        try:
            yield self._chunks(response)
        finally:
            response.close()

    def _answer(self, call: _Call) -> dict[str, Any]:
        response = self._accepted(call)
        body = self._body(call, response)
        try:
            answer = _parsed(body)
        except orjson.JSONDecodeError as error:
            kind = response.headers.get("Content-Type", "no content type")[:100]
            raise BadReply(f"{call.path}: {len(body)} bytes that are not JSON ({kind})") from error
        if not isinstance(answer, dict):
            raise BadReply(f"{call.path}: JSON, but no object")
        return answer

    def _accepted(self, call: _Call) -> urllib3.BaseHTTPResponse:
        client = self._connected()
        response, token = self._send(client, call)
        if response.status == 401:
            response.close()
            response, token = self._send(self._connected(instead_of=client), call)
        if response.status < 300:
            return response
        try:
            body = response.read(_MOST_REFUSAL_BYTES)
        except (HTTPError, OSError):
            body = b""
        finally:
            response.close()
        raise refusal(call.method, call.path, response, body, token)

    def _connected(self, instead_of: ApiClient | None = None) -> ApiClient:
        with self._lock:
            if self._client is None or self._client is instead_of:
                made = self._load()
                if instead_of is not None and made.host != instead_of.configuration.host:
                    raise ConfigurationError("the settings now name another server than the one that refuses the token")
                self._client = _client(made)
            return self._client

    def _send(self, client: ApiClient, call: _Call) -> tuple[urllib3.BaseHTTPResponse, str]:
        """The response and the Authorization header it was asked with."""
        token = _authorization(client.configuration)
        headers = {"Accept": call.accept, "Accept-Encoding": call.encoding, "User-Agent": _AGENT}
        if token:
            headers["Authorization"] = token
        if call.body is not None:
            headers["Content-Type"] = JSON
        try:
            response = client.rest_client.pool_manager.request(
                call.method,
                client.configuration.host + call.target,
                body=call.body,
                headers=headers,
                timeout=urllib3.Timeout(connect=self._timeouts.connect, read=call.read_timeout or self._timeouts.read),
                retries=False,
                redirect=False,
                preload_content=False,
            )
        except (HTTPError, OSError) as error:
            raise unreachable(client.configuration.host, error) from error
        return response, token

    def _chunks(self, response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
        try:
            while chunk := response.read1(_CHUNK_BYTES):
                yield chunk
        except (HTTPError, OSError) as error:
            raise unreachable(self._connected().configuration.host, error) from error

    def _body(self, call: _Call, response: urllib3.BaseHTTPResponse) -> bytes:
        end = time.monotonic() + self._timeouts.whole
        parts = []
        try:
            for chunk in self._chunks(response):
                parts.append(chunk)
                if time.monotonic() > end:
                    raise Unavailable(f"{call.path}: the answer took longer than {self._timeouts.whole:g} s")
        except BaseException:
            response.close()
            raise
        response.release_conn()
        return b"".join(parts)


def connect(connection: Connection, timeouts: Timeouts | None = None) -> Api:
    """The API server that `connection` names. Opens nothing yet and never fails."""
    return Api(partial(configuration, connection), timeouts=timeouts)


def _client(made: Configuration) -> ApiClient:
    try:
        return ApiClient(made)
    except (HTTPError, ImportError) as error:
        raise ConfigurationError(f"the proxy of the connection cannot be used ({type(error).__name__})") from error


def _parsed(body: bytes) -> Any:
    """orjson makes some 50,000 dicts of one page; collecting garbage while they are made takes twice the parsing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return read_json(body)
    finally:
        if was_enabled:
            gc.enable()


def _authorization(made: Configuration) -> str:
    try:
        token = (made.get_api_key_with_prefix("BearerToken", alias="authorization") or "").strip()
    except GatewayError:
        raise
    except Exception:
        # What a token file, a plugin or an identity provider throws here may quote the old token.
        raise ConfigurationError("the token of the connection cannot be renewed") from None
    if token.isascii() and (token.isprintable() or not token):
        return token
    # Said here, since http.client would quote the token.
    raise ConfigurationError("the token of the connection has characters that no HTTP header may carry")
