"""Watches: the writes after a version, as one JSON text a line, for as long as the client stays."""

import asyncio
import random
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Final

import orjson

from emulator.errors import bad_request, expired
from emulator.paths import Target, is_true
from emulator.resources import Resource
from emulator.selectors import Predicate, selected
from emulator.showing import Shown, shown_as
from emulator.store import Compacted, Event, Json, Store

_BOOKMARK_SECONDS: Final = 60.0
_LONGEST_SECONDS: Final = (1800, 3600)
_INITIAL_END: Final = "k8s.io/initial-events-end"


@dataclass(frozen=True, slots=True)
class WatchQuery:
    """The query of a watch. `version` of None begins with what is there now."""

    labels: str
    fields: str
    version: int | None
    seconds: float
    bookmarks: bool


def read_watch_query(query: Json) -> WatchQuery:
    """Raises ApiError (400)."""
    version, seconds = query.get("resourceVersion", ""), query.get("timeoutSeconds", "")
    if version and not version.isdecimal():
        raise bad_request(f'resourceVersion: Invalid value: "{version}"')
    if seconds and not seconds.isdecimal():
        raise bad_request(f'strconv.ParseInt: parsing "{seconds}": invalid syntax')
    return WatchQuery(
        query.get("labelSelector", ""),
        query.get("fieldSelector", ""),
        int(version) if version.strip("0") else None,
        float(seconds) if seconds else random.uniform(*_LONGEST_SECONDS),  # noqa: S311
        is_true(query.get("allowWatchBookmarks", "")),
    )


class Watcher:
    """Wakes the open watches whenever something was written, and ends them when the server does."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._waiting: set[asyncio.Event] = set()
        self._closed = False
        store.subscribe(lambda _: self._wake())

    def close(self) -> None:
        self._closed = True
        self._wake()

    def _wake(self) -> None:
        for event in self._waiting:
            event.set()

    def lines(self, resource: Resource, target: Target, query: WatchQuery, accept: str) -> AsyncGenerator[bytes]:
        """The lines of one watch. Raises ApiError (400) for a selector."""
        return self._follow(_Stream(self.store, resource, target, query, shown_as(resource, accept)), query)

    async def _follow(self, stream: "_Stream", query: WatchQuery) -> AsyncGenerator[bytes]:
        loop = asyncio.get_running_loop()
        end = loop.time() + query.seconds
        woken = asyncio.Event()
        self._waiting.add(woken)
        try:
            while not self._closed:
                woken.clear()
                try:
                    lines = stream.next_lines()
                except Compacted as error:
                    yield stream.gone(error)
                    return
                if lines:
                    yield b"".join(lines)
                left = end - loop.time()
                if left <= 0:
                    break
                try:
                    async with asyncio.timeout(min(left, _BOOKMARK_SECONDS)):
                        await woken.wait()
                except TimeoutError:
                    if query.bookmarks:
                        yield stream.bookmark()
        finally:
            self._waiting.discard(woken)


class _Stream:
    """Where one watch stands, and how it sees the writes."""

    def __init__(self, store: Store, resource: Resource, target: Target, query: WatchQuery, shown: Shown) -> None:
        self._store, self._resource, self._target = store, resource, target
        self._query, self._shown = query, shown
        self._matches = _in_scope(target, selected(resource, query.labels, query.fields))
        self._initial = query.version is None
        self._version = store.version if query.version is None else query.version

    def next_lines(self) -> list[bytes]:
        """What was written since the last call. Raises Compacted."""
        lines = self._initial_lines() if self._initial else []
        self._initial = False
        for event in self._store.events_after(self._version):
            self._version = event.version
            if event.resource == self._resource.storage:
                lines += self._lines(event)
        return lines

    def _initial_lines(self) -> list[bytes]:
        found = self._store.at(self._resource.storage, self._version)
        lines = [self._line("ADDED", found[key]) for key in sorted(found) if self._matches(found[key])]
        if self._query.bookmarks:
            lines.append(self.bookmark(annotations={_INITIAL_END: "true"}))
        return lines

    def _lines(self, event: Event) -> list[bytes]:
        """A change of an object that enters or leaves the selection is an ADDED or a DELETED."""
        before = event.previous is not None and self._matches(event.previous)
        after = event.type != "DELETED" and self._matches(event.object)
        if after:
            return [self._line("MODIFIED" if before else "ADDED", event.object)]
        if not before or event.previous is None:
            return []
        meta = {**event.previous["metadata"], "resourceVersion": str(event.version)}
        return [self._line("DELETED", {**event.previous, "metadata": meta})]

    def bookmark(self, **meta: Any) -> bytes:
        empty = {"metadata": {"resourceVersion": str(self._version), **meta}}
        named = {"apiVersion": self._resource.api_version, "kind": self._resource.kind, **empty}
        return _encode("BOOKMARK", named)

    def gone(self, error: Compacted) -> bytes:
        return _encode("ERROR", expired(f"too old resource version: {self._version} ({error.oldest})").status())

    def _line(self, kind: str, obj: Json) -> bytes:
        return _encode(kind, self._shown(obj))


def _in_scope(target: Target, matches: Predicate) -> Predicate:
    if not target.namespace:
        return matches
    return lambda obj: obj["metadata"].get("namespace") == target.namespace and matches(obj)


def _encode(kind: str, obj: Json) -> bytes:
    return orjson.dumps({"type": kind, "object": obj}) + b"\n"
