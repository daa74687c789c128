"""One watch of the Kubernetes API: the events from a resourceVersion on."""

from collections.abc import Callable, Generator, Iterator
from typing import Any, Final, TypeVar

import orjson

from gateways.errors import BadReply, Unavailable
from gateways.http import Api
from gateways.json_text import read_json
from gateways.records import Change
from gateways.refusals import blanked, status_error
from scheduling.objects import Json
from scheduling.parsing import UNREADABLE, MalformedObject

Record = TypeVar("Record")

WATCH_SECONDS: Final = 20  # a quiet watch proves by its end only that nothing happened: facts are never older than that

_GRACE_SECONDS: Final = 10.0  # what a server may be late in ending a watch; after it the connection counts as dead
_LONGEST_LINE: Final = 1 << 25
_STATES: Final = ("ADDED", "MODIFIED", "DELETED")


def watch(
    api: Api,
    path: str,
    parse: Callable[[Json], Record],
    resource_version: int,
    seconds: int = WATCH_SECONDS,
    selector: str = "",
) -> Generator[Change[Record], None, None]:
    """The changes after `resource_version`; ends when the server ends the watch, after about `seconds`. Of those whose
    labels the `selector` wants; one that loses them counts as deleted.

    Raises GatewayError: Gone when the version is too old, Unavailable when the connection breaks or falls silent.
    """
    query: dict[str, str | int] = {
        "watch": "true",
        "resourceVersion": resource_version,
        "allowWatchBookmarks": "true",
        "timeoutSeconds": seconds,
    }
    if selector:
        query["labelSelector"] = selector
    with api.stream(path, query, seconds + _GRACE_SECONDS) as chunks:
        for line in lines(chunks):
            yield _change(path, line, parse)


def lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The non-empty lines of a byte stream. Raises Unavailable when the last one is cut off, BadReply when one is
    endless."""
    begun: list[bytes] = []
    length = 0
    for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        for end in ended:
            line = b"".join((*begun, end))
            begun, length = [], 0
            if line.strip():
                yield line
        begun.append(rest)
        length += len(rest)
        if length > _LONGEST_LINE:
            raise BadReply("a watch event of more than 32 MiB")
    if b"".join(begun).strip():
        raise Unavailable("the watch broke off within an event")


def _change(path: str, line: bytes, parse: Callable[[Json], Record]) -> Change[Record]:
    try:
        event = read_json(line)
        kind, obj = event["type"], event["object"]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise BadReply(f"{path}: a watch event that cannot be read") from error
    if kind == "ERROR":
        raise status_error(_code(obj), f"{path}: the watch ended with {_code(obj)}: {_said(obj)}")
    version = _version(obj)
    if kind == "BOOKMARK":
        return Change(None, False, version)
    if kind not in _STATES:
        return Change(None, False, version, f"an event of the unknown type {blanked(str(kind))}")
    try:
        return Change(parse(obj), kind == "DELETED", version)
    except MalformedObject as error:
        return Change(None, kind == "DELETED", version, str(error))


def _code(status: Any) -> int:
    code = status.get("code") if isinstance(status, dict) else None
    return code if isinstance(code, int) else 0


def _said(status: Any) -> str:
    return blanked(str(status.get("message") or "")) if isinstance(status, dict) else ""


def _version(obj: Any) -> int:
    """The object's resourceVersion; 0 when it has none that can be read."""
    try:
        return int(obj["metadata"]["resourceVersion"])
    except UNREADABLE:
        return 0
