"""What a request is about: its URL and method taken apart the way Kubernetes does it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_TRUE: Final = ("1", "t", "T", "true", "TRUE", "True")
_ON_COLLECTION: Final = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "deletecollection"}
_ON_OBJECT: Final = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


@dataclass(frozen=True, slots=True)
class Target:
    """The API object or collection that a path names. Empty parts are absent."""

    group: str
    version: str
    namespace: str
    plural: str
    name: str
    subresource: str


def is_true(text: str) -> bool:
    return text in _TRUE


def target_of(path: str) -> Target | None:
    """The target of a path under /api/v1 or /apis/GROUP/VERSION; None for discovery and everything else."""
    parts = [part for part in path.split("/") if part]
    if len(parts) > 2 and parts[:2] == ["api", "v1"]:
        return _within("", "v1", parts[2:])
    if len(parts) > 3 and parts[0] == "apis":
        return _within(parts[1], parts[2], parts[3:])
    return None


def _within(group: str, version: str, parts: list[str]) -> Target | None:
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 2 and parts[2] != "status":
        namespace, parts = parts[1], parts[2:]
    if len(parts) > 3:
        return None
    plural, name, subresource = (*parts, "", "")[:3]
    return Target(group, version, namespace, plural, name, subresource)


def verb_of(method: str, target: Target, query: Mapping[str, str]) -> str:
    """The right that a request needs: get, list, watch, create, update, patch, delete or deletecollection."""
    if target.name:
        return _ON_OBJECT.get(method, method.lower())
    if method == "GET":
        return "watch" if is_true(query.get("watch", "")) else "list"
    return _ON_COLLECTION.get(method, method.lower())
