"""Lists: selectors, pages that stay consistent, and what a resourceVersion in the query means."""

import base64
import binascii
import bisect
from dataclasses import dataclass
from typing import Any, Final

import orjson

from emulator.errors import bad_request, expired, too_new
from emulator.paths import Target
from emulator.resources import Resource
from emulator.selectors import selected
from emulator.showing import list_head, listed_as
from emulator.store import Compacted, Json, Key, Store

_META: Final = "meta.k8s.io/v1"
_LATEST: Final = -1
_TOO_OLD: Final = "The resourceVersion for the provided list is too old."
_PAGE_TOO_OLD: Final = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results."
)


@dataclass(frozen=True, slots=True)
class ListQuery:
    """The query of a list. `version` of None is the latest; `after` is where the page before ended."""

    labels: str = ""
    fields: str = ""
    limit: int = 0
    version: int | None = None
    after: str = ""

    @property
    def has_selectors(self) -> bool:
        return bool(self.labels or self.fields)


def read_query(query: Json, store: Store) -> ListQuery:
    """Raises ApiError: 400 for what cannot be read, 504 for a version from the future."""
    labels, fields = query.get("labelSelector", ""), query.get("fieldSelector", "")
    limit = max(0, _integer(query.get("limit", "") or "0"))
    token, version = query.get("continue", ""), query.get("resourceVersion", "")
    if token:
        if version not in ("", "0"):
            raise bad_request("specifying resource version is not allowed when using continue")
        start, after = _read_token(token)
        return ListQuery(labels, fields, limit, None if start == _LATEST else start, after)
    if not version or version == "0":
        return ListQuery(labels, fields, limit)
    asked = _version(version)
    if asked > store.version:
        raise too_new(asked, store.version)
    match = query.get("resourceVersionMatch", "")
    exact = match == "Exact" or (not match and limit > 0)
    return ListQuery(labels, fields, limit, asked if exact else None)


class Lister:
    """Answers lists of one store. The order of the last one is kept, since its next page is likely to be asked for."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ordered: tuple[tuple[str, int], list[tuple[str, Json]]] = (("", 0), [])

    def page(self, resource: Resource, target: Target, query: ListQuery, accept: str) -> dict[str, Any]:
        """One page. Raises ApiError: 410 when the version of an earlier page is forgotten, 400 for a selector."""
        matches = selected(resource, query.labels, query.fields)
        version = self._store.version if query.version is None else query.version
        ordered = self._in_order(resource, query, version)
        begin, end = _bounds(ordered, target.namespace, query.after)
        found = [(path, obj) for path, obj in ordered[begin:end] if matches(obj)]
        page = found[: query.limit] if query.limit else found
        meta: dict[str, Any] = {"resourceVersion": str(version)}
        if len(page) < len(found):
            meta["continue"] = _token(version, page[-1][0])
            if not query.has_selectors:
                meta["remainingItemCount"] = len(found) - len(page)
        shown = listed_as(resource, accept)
        return {**list_head(resource, accept), "metadata": meta, "items": [shown(obj) for _, obj in page]}

    def _in_order(self, resource: Resource, query: ListQuery, version: int) -> list[tuple[str, Json]]:
        """In the order of the keys that a real server keeps: NAMESPACE/NAME as one text."""
        if self._ordered[0] != (resource.storage, version) or version < self._store.oldest:
            objects = self._objects(resource, query, version)
            paths = ((f"{namespace}/{name}", obj) for (namespace, name), obj in objects.items())
            self._ordered = ((resource.storage, version), sorted(paths, key=_path))
        return self._ordered[1]

    def _objects(self, resource: Resource, query: ListQuery, version: int) -> dict[Key, Json]:
        try:
            return self._store.at(resource.storage, version)
        except Compacted as error:
            if not query.after:
                raise expired(_TOO_OLD) from error
            raise expired(_PAGE_TOO_OLD, continue_token=_token(_LATEST, query.after)) from error


def _path(entry: tuple[str, Json]) -> str:
    return entry[0]


def _bounds(ordered: list[tuple[str, Json]], namespace: str, after: str) -> tuple[int, int]:
    """Where the objects of a namespace (all if empty) that follow a path lie."""
    begin = bisect.bisect_right(ordered, after, key=_path) if after else 0
    if not namespace:
        return begin, len(ordered)
    first = bisect.bisect_left(ordered, f"{namespace}/", key=_path)
    return max(begin, first), bisect.bisect_left(ordered, f"{namespace}0", key=_path)  # "0" follows "/"


def _token(version: int, after: str) -> str:
    text = orjson.dumps({"v": _META, "rv": version, "start": f"{after}\0"})
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def _read_token(token: str) -> tuple[int, str]:
    try:
        read = orjson.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        return int(read["rv"]), str(read["start"]).removesuffix("\0")
    except (binascii.Error, ValueError, TypeError, KeyError) as error:
        raise bad_request("invalid continue token: continue key is not valid") from error


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from error


def _version(text: str) -> int:
    if not text.isdecimal():
        raise bad_request(
            f'invalid resource version: resourceVersion: Invalid value: "{text}": '
            f'strconv.ParseUint: parsing "{text}": invalid syntax'
        )
    return int(text)
