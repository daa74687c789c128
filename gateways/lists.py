"""Lists of the Kubernetes API, read in pages. While one page is worked on the next is on its way, no more."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from typing import Any, Final, TypeVar

from gateways.errors import BadReply, Gone
from gateways.http import JSON, Api
from gateways.records import ObjectVersion, Page
from scheduling.objects import Json
from scheduling.parsing import UNREADABLE, MalformedObject

Record = TypeVar("Record")
Answer = TypeVar("Answer")

PAGE_SIZE: Final = 500

_METADATA_ONLY: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_MOST_RESTARTS: Final = 3


def list_pages(
    api: Api,
    path: str,
    parse: Callable[[Json], Record],
    *,
    query: dict[str, str | int] | None = None,
    accept: str = JSON,
    page_size: int = PAGE_SIZE,
) -> Iterator[Page[Record]]:
    """The pages of the list at `path`, each object through `parse`, which may raise MalformedObject.

    A continue token that the server no longer knows (410) restarts the list, at most three times. Raises GatewayError.
    """
    version = 0
    for meta, items, restarted in _answers(api, path, {**(query or {}), "limit": page_size}, accept):
        if restarted or not version:
            version = _list_version(path, meta)
        yield _page(items, parse, version, restarted, is_last=not meta.get("continue"))


def list_versions(api: Api, path: str, page_size: int = PAGE_SIZE) -> Iterator[Page[ObjectVersion]]:
    """The pages of a metadata-only list. Raises GatewayError."""
    return list_pages(api, path, object_version, accept=_METADATA_ONLY, page_size=page_size)


def object_version(obj: Json) -> ObjectVersion:
    """Which object this is, in which version. Raises MalformedObject."""
    try:
        meta = obj["metadata"]
        return ObjectVersion(meta["uid"], meta.get("namespace") or "", meta["name"], int(meta["resourceVersion"]))
    except UNREADABLE as error:
        raise MalformedObject(f"an object without readable metadata ({type(error).__name__})") from error


def _answers(
    api: Api, path: str, query: dict[str, str | int], accept: str
) -> Iterator[tuple[dict[str, Any], list[Json], bool]]:
    """The list's metadata and items page by page, and whether the list started again with this one."""
    token, restarts, restarted = "", 0, False
    answer: Callable[[], dict[str, Any]] = partial(api.get, path, query, accept)
    while True:
        try:
            meta, items = _parts(path, answer())
        except Gone:
            if not token or restarts == _MOST_RESTARTS:
                raise
            token, restarts, restarted = "", restarts + 1, True
            answer = partial(api.get, path, query, accept)
            continue
        previous, token = token, meta.get("continue") or ""
        if token and token == previous:
            raise BadReply(f"{path}: the list never ends, its continue token stays the same")
        if token:
            answer = _begun(partial(api.get, path, {**query, "continue": token}, accept))
        yield meta, items, restarted
        restarted = False
        if not token:
            return


def _begun(call: Callable[[], Answer]) -> Callable[[], Answer]:
    """Begins the call in a thread of its own and gives what waits for its outcome."""
    outcome: Future[Answer] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, name="next page", daemon=True).start()
    return outcome.result


def _parts(path: str, answer: dict[str, Any]) -> tuple[dict[str, Any], list[Json]]:
    meta, items = answer.get("metadata"), answer.get("items")
    if items is None:
        items = []  # Go prints an empty list as null
    if not isinstance(meta, dict) or not isinstance(items, list):
        raise BadReply(f"{path}: JSON, but no Kubernetes list")
    return meta, items


def _list_version(path: str, meta: dict[str, Any]) -> int:
    try:
        return int(meta["resourceVersion"])
    except UNREADABLE as error:
        raise BadReply(f"{path}: the list has no numeric resourceVersion") from error


def _page(
    items: list[Json], parse: Callable[[Json], Record], version: int, restarted: bool, is_last: bool
) -> Page[Record]:
    records: list[Record] = []
    malformed: list[str] = []
    unread: list[ObjectVersion] = []
    for obj in items:
        try:
            records.append(parse(obj))
        except MalformedObject as error:
            malformed.append(str(error))
            unread.extend(_version_if_readable(obj))
    return Page(tuple(records), tuple(malformed), version, restarted, is_last, tuple(unread))


def _version_if_readable(obj: Json) -> Iterator[ObjectVersion]:
    try:
        yield object_version(obj)
    except MalformedObject:
        return
