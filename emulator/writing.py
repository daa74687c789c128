"""Creating, replacing, patching and deleting over HTTP, with the refusals of a real API server."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import orjson

from emulator.defaults import with_defaults
from emulator.errors import (
    already_exists,
    bad_request,
    conflict,
    invalid,
    modified,
    not_found,
    unsupported_patch,
)
from emulator.paths import Target
from emulator.resources import NAMESPACES, NODES, Resource
from emulator.store import AlreadyExists, Json, Stale, Store

_MERGE_PATCH: Final = "application/merge-patch+json"
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LONGEST_NAME: Final = 253
_NO_NAME: Final = "Required value: name or generateName is required"
_NO_VERSION: Final = "Invalid value: 0: must be specified for an update"
_BAD_NAME: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character"
)
_SERVER_OWNED: Final = (
    "uid",
    "creationTimestamp",
    "generation",
    "resourceVersion",
    "deletionTimestamp",
    "managedFields",
)


def read_object(body: bytes, kind: str) -> dict[str, Any]:
    """Raises ApiError (400) for what is no JSON object."""
    try:
        read = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise bad_request(_unrecognised(kind, "json parse error")) from error
    if not isinstance(read, dict):
        raise bad_request(_unrecognised(kind, "json parse error: not an object"))
    return read


def create(store: Store, resource: Resource, target: Target, body: bytes, now: datetime) -> Json:
    """Raises ApiError: 400, 404 without the namespace, 409 when the name is taken, 422."""
    obj = read_object(body, resource.kind)
    given = obj.get("metadata") or {}
    name = given.get("name") or ""
    _check_kind(resource, obj, name)
    if not name:
        raise invalid(resource, "", "metadata.name", _NO_NAME, cause="FieldValueRequired")
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        raise invalid(resource, name, "metadata.name", f'Invalid value: "{name}": {_BAD_NAME}')
    if given.get("resourceVersion"):
        raise bad_request("resourceVersion should not be set on objects to be created")
    meta = {key: value for key, value in given.items() if key not in _SERVER_OWNED}
    if resource.namespaced:
        if given.get("namespace", target.namespace) != target.namespace:
            raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
        if store.get(NAMESPACES.storage, "", target.namespace) is None:
            raise not_found(NAMESPACES, target.namespace)
        meta["namespace"] = target.namespace
    drops_status = resource.has_status and resource is not NODES  # a kubelet registers its node with one
    kept = {key: value for key, value in obj.items() if not (drops_status and key == "status")}
    try:
        return store.create(resource.storage, with_defaults({**kept, **_identity(resource), "metadata": meta}), now)
    except AlreadyExists as error:
        raise already_exists(resource, name) from error


def replace(store: Store, resource: Resource, target: Target, body: bytes) -> Json:
    """Raises ApiError: 400, 404, 409 for a stale resourceVersion, 422 without one."""
    old = current(store, resource, target)
    obj = read_object(body, resource.kind)
    meta = obj.get("metadata") or {}
    if meta.get("name") != target.name:
        raise bad_request(
            f"the name of the object ({meta.get('name')}) does not match the name on the URL ({target.name})"
        )
    _check_kind(resource, obj, target.name)
    if resource.group and not meta.get("resourceVersion"):
        raise invalid(resource, target.name, "metadata.resourceVersion", _NO_VERSION)
    return _write(store, resource, target, old, obj)


def patch(store: Store, resource: Resource, target: Target, body: bytes, content_type: str) -> Json:
    """A merge patch. Raises ApiError: 400, 404, 409 for a stale resourceVersion, 415 for other patches."""
    if content_type != _MERGE_PATCH:
        raise unsupported_patch()
    old = current(store, resource, target)
    return _write(store, resource, target, old, merged(old, read_object(body, resource.kind)))


def delete(store: Store, resource: Resource, target: Target) -> dict[str, Any]:
    """At once, whatever the finalizers. Raises ApiError (404)."""
    old = current(store, resource, target)
    store.delete(resource.storage, target.namespace, target.name)
    details = {"name": target.name, "group": resource.group, "kind": resource.plural, "uid": old["metadata"]["uid"]}
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {name: value for name, value in details.items() if value},
    }


def current(store: Store, resource: Resource, target: Target) -> Json:
    """The stored object of a target. Raises ApiError (404)."""
    found = store.get(resource.storage, target.namespace, target.name)
    if found is None:
        raise not_found(resource, target.name)
    return found


def merged(old: Json, change: Json) -> dict[str, Any]:
    """RFC 7386: null removes, objects merge, everything else replaces."""
    result = dict(old)
    for name, value in change.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, Mapping):
            inner = result.get(name)
            result[name] = merged(inner if isinstance(inner, Mapping) else {}, value)
        else:
            result[name] = value
    return result


def _write(store: Store, resource: Resource, target: Target, old: Json, new: Json) -> Json:
    """Status and the rest are written apart, so that neither overwrites the other."""
    meta = new.get("metadata") or {}
    if meta.get("uid", old["metadata"]["uid"]) != old["metadata"]["uid"]:
        raise conflict(resource, target.name, f"Precondition failed: UID in precondition: {meta['uid']}")
    if target.subresource == "status":
        kept = {**old, "status": new.get("status", {})}
    else:
        kept = {name: value for name, value in new.items() if not (resource.has_status and name == "status")}
        if resource.has_status and "status" in old:
            kept["status"] = old["status"]
    kept["metadata"] = {
        **(old["metadata"] if target.subresource else meta),
        **({"namespace": target.namespace} if resource.namespaced else {}),
        "resourceVersion": meta.get("resourceVersion") or old["metadata"]["resourceVersion"],
    }
    try:
        return store.update(resource.storage, {**kept, **_identity(resource)})
    except Stale as error:
        raise modified(resource, target.name) from error


def _identity(resource: Resource) -> dict[str, str]:
    return {"kind": resource.kind, "apiVersion": resource.api_version}


def _check_kind(resource: Resource, obj: Json, name: str) -> None:
    for field, wanted in (("kind", resource.kind), ("apiVersion", resource.api_version)):
        if obj.get(field) is None and resource.group:
            raise bad_request(_unrecognised(resource.kind, f"Object '{field}' is missing"))
        if obj.get(field, wanted) != wanted:
            raise invalid(resource, name, field, f'Invalid value: "{obj[field]}": must be {wanted}')


def _unrecognised(kind: str, why: str) -> str:
    return f"the object provided is unrecognized (must be of type {kind}): {why}"
