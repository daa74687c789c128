"""What the API server answers when it refuses: `Status` objects with Kubernetes' own reasons and wording."""

from collections.abc import Mapping
from typing import Any

from emulator.resources import Resource


class ApiError(Exception):
    """A refusal, answered as a `Status` with this code."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.meta = meta or {}

    def status(self) -> dict[str, Any]:
        status: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": dict(self.meta),
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
        }
        if self.details is not None:
            status["details"] = dict(self.details)
        return {**status, "code": self.code}


class NoSuchPath(Exception):
    """Nothing is served here: 404 in plain text, as for a kind that is not installed."""


def _named(resource: Resource, name: str) -> dict[str, str]:
    group = {"group": resource.group} if resource.group else {}
    return {"name": name, **group, "kind": resource.plural}


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized")


def not_found(resource: Resource, name: str) -> ApiError:
    return ApiError(404, "NotFound", f'{resource.qualified} "{name}" not found', _named(resource, name))


def method_not_allowed() -> ApiError:
    return ApiError(
        405, "MethodNotAllowed", "the server does not allow this method on the requested resource", details={}
    )


def already_exists(resource: Resource, name: str) -> ApiError:
    return ApiError(409, "AlreadyExists", f'{resource.qualified} "{name}" already exists', _named(resource, name))


def conflict(resource: Resource, name: str, why: str) -> ApiError:
    message = f'Operation cannot be fulfilled on {resource.qualified} "{name}": {why}'
    return ApiError(409, "Conflict", message, _named(resource, name))


def modified(resource: Resource, name: str) -> ApiError:
    return conflict(
        resource,
        name,
        "the object has been modified; please apply your changes to the latest version and try again",
    )


def expired(message: str, *, continue_token: str = "") -> ApiError:
    return ApiError(410, "Expired", message, meta={"continue": continue_token} if continue_token else None)


def unsupported_patch() -> ApiError:
    return ApiError(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: application/merge-patch+json",
    )


def invalid(resource: Resource, name: str, field: str, why: str, *, cause: str = "FieldValueInvalid") -> ApiError:
    kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    details = {
        "name": name,
        "group": resource.group,
        "kind": resource.kind,
        "causes": [{"reason": cause, "message": why, "field": field}],
    }
    return ApiError(422, "Invalid", f'{kind} "{name}" is invalid: {field}: {why}', details)


def too_new(version: int, current: int) -> ApiError:
    """The resourceVersion asked for was never given out; a real server waits a little before it says so."""
    return ApiError(
        504,
        "Timeout",
        f"Timeout: Too large resource version: {version}, current: {current}",
        {
            "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
            "retryAfterSeconds": 1,
        },
    )
