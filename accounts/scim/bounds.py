"""What is too much to be read: the parser of filters and paths takes a second for a few hundred kilobytes of them, and
each value of a person takes a third of a millisecond whenever they are read."""

from typing import Any, Final

from pydantic_core import from_json
from scim2_models import (
    InvalidFilterException,
    PatchOp,
    PayloadTooLargeException,
    Resource,
    ResourceType,
    SearchRequest,
    TooManyException,
)
from scim2_server.service import ScimService

_LONGEST_FILTER: Final = 2000
_LONGEST_PATHS: Final = 60_000
"""Characters of all paths of one PATCH: so many are a thousand members that are each removed by a filter."""
_MOST_PATHS: Final = {"User": 100, "Group": 1000}
LONGEST_PERSON: Final = 32_000
"""Bytes of what is sent of a person, and characters of what is kept of them."""


class BoundedService(ScimService):
    """Refuses it before it is parsed."""

    def read_search(self, resource_types: list[ResourceType], payload: Any) -> tuple[SearchRequest[Any], Any]:
        told = payload.items() if isinstance(payload, dict) else ()
        if any(name.lower() == "filter" and len(str(text)) > _LONGEST_FILTER for name, text in told):
            raise InvalidFilterException(detail=f"A filter has at most {_LONGEST_FILTER} characters")
        return super().read_search(resource_types, payload)

    def read_patch(self, resource_type: ResourceType, body: bytes, content_type: str | None) -> "PatchOp[Any]":
        paths = [path for operation in _operations(body) for path in _paths(operation)]
        most = _MOST_PATHS[str(resource_type.name)]
        if len(paths) > most or sum(map(len, paths)) > _LONGEST_PATHS:
            raise TooManyException(
                detail=f"The paths of a PATCH are at most {most}, of {_LONGEST_PATHS} characters in all"
            )
        _check_person(resource_type, body)
        return super().read_patch(resource_type, body, content_type)

    def read_creation(self, resource_type: ResourceType, body: bytes, content_type: str | None) -> Resource[Any]:
        _check_person(resource_type, body)
        return super().read_creation(resource_type, body, content_type)

    def read_replacement(self, resource_type: ResourceType, body: bytes, content_type: str | None) -> Resource[Any]:
        _check_person(resource_type, body)
        return super().read_replacement(resource_type, body, content_type)


def _check_person(resource_type: ResourceType, body: bytes) -> None:
    """Groups may be as long as a body is: each member costs little."""
    if resource_type.name == "User" and len(body) > LONGEST_PERSON:
        raise PayloadTooLargeException(detail=f"A User has at most {LONGEST_PERSON} bytes")


def _operations(body: bytes) -> list[Any]:
    """None where it is malformed: that is the service's to refuse."""
    try:
        told = from_json(body)
    except ValueError:
        return []
    lists = [value for name, value in told.items() if name.lower() == "operations"] if isinstance(told, dict) else []
    return [operation for each in lists if isinstance(each, list) for operation in each]


def _paths(operation: Any) -> list[str]:
    """Of one operation: its own, or, without one, the names of what it gives, which may be paths, too."""
    if not isinstance(operation, dict):
        return [""]
    named = {name.lower(): value for name, value in operation.items()}
    value = named.get("value")
    return [str(named["path"])] if named.get("path") else ["", *value] if isinstance(value, dict) else [""]
