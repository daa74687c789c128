"""How stored objects leave the server: in the served version, whole or as metadata alone."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from emulator.resources import Resource
from emulator.store import Json

Shown: TypeAlias = Callable[[Json], dict[str, Any]]

_METADATA: Final = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}


def shown_as(resource: Resource, accept: str) -> Shown:
    """The form that an Accept header asks for."""
    if wants_metadata(accept):
        return lambda obj: {**_METADATA, "metadata": obj["metadata"]}
    return lambda obj: {"apiVersion": resource.api_version, "kind": resource.kind, **resource.shown(obj)}


def wants_metadata(accept: str) -> bool:
    """Whether the first media type that is acceptable asks for metadata alone."""
    return "as=PartialObjectMetadata" in accept.split(",")[0]


def listed_as(resource: Resource, accept: str) -> Shown:
    """The form of an item of a list; the core kinds leave out what the list says already."""
    shown = shown_as(resource, accept)
    if wants_metadata(accept) or resource.group.endswith(".x-k8s.io"):
        return shown
    return lambda obj: {name: value for name, value in shown(obj).items() if name not in ("apiVersion", "kind")}


def list_head(resource: Resource, accept: str) -> dict[str, Any]:
    if wants_metadata(accept):
        return {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
    return {"kind": f"{resource.kind}List", "apiVersion": resource.api_version}
