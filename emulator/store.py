"""The objects of the cluster and what happened to them lately, under one growing resourceVersion.

Objects are JSON dictionaries that nobody changes once they are stored: every write replaces one. The bounded log of
writes is what watches, lists of an earlier version and 410 come from.
"""

import bisect
import random
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

from emulator.clock import api_time

Json: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[str, str]
EventType: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED"]

_LOG_LIMIT: Final = 5000
_OUTSIDE_SPEC: Final = {"metadata", "status", "apiVersion", "kind"}


class AlreadyExists(Exception):
    """An object of this name is stored already."""


class Stale(Exception):
    """The object written carries another resourceVersion than the stored one."""


class Compacted(Exception):
    """The version asked for is older than the log; `oldest` is the first one that can be answered."""

    def __init__(self, oldest: int) -> None:
        super().__init__(f"oldest version is {oldest}")
        self.oldest = oldest


@dataclass(frozen=True, slots=True)
class Event:
    """One write. `object` carries the version of the write, also when it is the last state of a deleted object."""

    version: int
    resource: str
    type: EventType
    object: Json
    previous: Json | None


class Store:
    """All resources, each a dictionary by (namespace, name); the namespace is empty for cluster-wide ones. The same
    `identity` gives the same uids, in the order of creation. `oldest` is the first version that can still be read."""

    def __init__(self, identity: str, *, log_limit: int = _LOG_LIMIT) -> None:
        self.version = 1
        self._identity = identity
        self._log_limit = log_limit
        self._log: list[Event] = []
        self.oldest = 1
        self._objects: dict[str, dict[Key, Json]] = {}
        self._listeners: list[Callable[[Event], None]] = []
        self._uids = random.Random(identity)  # noqa: S311

    def get(self, resource: str, namespace: str, name: str) -> Json | None:
        return self._objects.get(resource, {}).get((namespace, name))

    def all(self, resource: str) -> Iterable[Json]:
        return self._objects.get(resource, {}).values()

    def create(self, resource: str, obj: Json, now: datetime, uid: str = "") -> Json:
        """Store a new object under a uid of its own, unless others name it by one already. Raises AlreadyExists."""
        meta = obj["metadata"]
        key = (meta.get("namespace", ""), meta["name"])
        if key in self._objects.get(resource, {}):
            raise AlreadyExists(key[1])
        stored = {
            **obj,
            "metadata": {
                **meta,
                "uid": uid or str(uuid.UUID(int=self._uids.getrandbits(128), version=4)),
                "creationTimestamp": api_time(now),
                "generation": 1,
            },
        }
        return self._write(resource, key, "ADDED", stored)

    def update(self, resource: str, obj: Json) -> Json:
        """Replace a stored object; identical ones are left alone. Raises KeyError when gone, Stale."""
        meta = obj["metadata"]
        key = (meta.get("namespace", ""), meta["name"])
        old = self._objects[resource][key]
        if meta.get("resourceVersion", old["metadata"]["resourceVersion"]) != old["metadata"]["resourceVersion"]:
            raise Stale(key[1])
        fixed = {name: old["metadata"][name] for name in ("uid", "creationTimestamp", "generation", "resourceVersion")}
        new = {**obj, "metadata": {**meta, **fixed}}
        if new == old:
            return old
        if _spec(new) != _spec(old):
            new["metadata"]["generation"] += 1
        return self._write(resource, key, "MODIFIED", new)

    def set_status(self, resource: str, obj: Json, status: Json) -> Json:
        """Replace the status of the stored object, whatever else changed meanwhile. Raises KeyError when it is gone."""
        meta = obj["metadata"]
        current = self._objects[resource][meta.get("namespace", ""), meta["name"]]
        return self.update(resource, {**current, "status": status})

    def delete(self, resource: str, namespace: str, name: str) -> Json:
        """Remove an object and return its last state. Raises KeyError."""
        return self._write(resource, (namespace, name), "DELETED", self._objects[resource][namespace, name])

    def at(self, resource: str, version: int) -> dict[Key, Json]:
        """The resource's objects as they were at a version. Raises Compacted."""
        objects = dict(self._objects.get(resource, {}))
        for event in reversed(self.events_after(version)):
            if event.resource != resource:
                continue
            meta = event.object["metadata"]
            key = (meta.get("namespace", ""), meta["name"])
            if event.previous is None:
                del objects[key]
            else:
                objects[key] = event.previous
        return objects

    def events_after(self, version: int) -> list[Event]:
        """The writes that came after a version, oldest first. Raises Compacted."""
        if version < self.oldest:
            raise Compacted(self.oldest)
        return self._log[bisect.bisect_right(self._log, version, key=lambda event: event.version) :]

    def compact(self) -> None:
        """Forget the log: only what happens from now on can be watched."""
        self._log.clear()
        self.oldest = self.version

    def subscribe(self, listener: Callable[[Event], None]) -> None:
        """Call `listener` after every write."""
        self._listeners.append(listener)

    def dump(self) -> dict[str, Any]:
        return {
            "version": self.version,
            "objects": {resource: list(objects.values()) for resource, objects in self._objects.items()},
        }

    def load(self, dumped: Json) -> None:
        """Take over what `dump` gave; the log starts empty."""
        self.version = dumped["version"]
        self._uids.seed(f"{self._identity}:{self.version}")
        self._objects = {
            resource: {(o["metadata"].get("namespace", ""), o["metadata"]["name"]): o for o in objects}
            for resource, objects in dumped["objects"].items()
        }
        self.compact()

    def _write(self, resource: str, key: Key, kind: EventType, obj: Json) -> Json:
        self.version += 1
        stored = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.version)}}
        objects = self._objects.setdefault(resource, {})
        event = Event(self.version, resource, kind, stored, objects.get(key))
        if kind == "DELETED":
            del objects[key]
        else:
            objects[key] = stored
        self._log.append(event)
        if len(self._log) > 2 * self._log_limit:
            del self._log[: -self._log_limit]
            self.oldest = self._log[0].version - 1
        for listener in self._listeners:
            listener(event)
        return stored


def _spec(obj: Json) -> dict[str, Any]:
    return {name: value for name, value in obj.items() if name not in _OUTSIDE_SPEC}
