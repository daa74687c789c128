"""What reading any object of the API has in common: times, amounts, conditions, and one error for what is malformed."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from scheduling.objects import Condition, Json
from scheduling.quantities import INT64_MAX, BadQuantity, parse_quantity

Record = TypeVar("Record")

EMPTY: Final[Mapping[str, Any]] = {}
_TRUTH = {"True": True, "False": False}
_LONGEST_REASON = 200
_LONGEST_VERSION = 20

UNREADABLE: Final = (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError)
"""What reading an object raises whose fields are missing, or have another form or size than they should."""


class MalformedObject(ValueError):
    """An object of the cluster that cannot be read; the text names it and says why."""


def parse_time(text: str | None) -> datetime | None:
    """An API time as an aware UTC datetime; None stays None. Raises ValueError."""
    if not text:
        return None
    time = datetime.fromisoformat(text)
    try:
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except OverflowError as error:
        raise ValueError(f"{text} lies beyond all years") from error


def parse_resources(listed: Json | None) -> dict[str, int]:
    """A resource list in smallest units. Raises BadQuantity."""
    return {name: parse_quantity(text, name) for name, text in listed.items()} if listed else {}


def read_object(obj: Json, read: Callable[[Json, Json], Record]) -> Record:
    try:
        return read(obj["metadata"], obj)
    except UNREADABLE as error:
        raise MalformedObject(f"{_title(obj)}: {_why(error)}") from error


def _title(obj: object) -> str:
    meta = obj.get("metadata") if isinstance(obj, dict) else None
    if not isinstance(meta, dict):
        return "an object without metadata"
    place = "/".join(str(part) for part in (meta.get("namespace"), meta.get("name")) if part)
    return f"{obj.get('kind') or 'object'} {place or '(no name)'}"  # type: ignore[attr-defined]


def _why(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"field {error.args[0]} is missing"
    if isinstance(error, BadQuantity):
        return str(error)
    return f"a field has an unexpected form ({type(error).__name__}: {str(error)[:_LONGEST_REASON]})"


def text(holder: Json, field: str) -> str:
    text = holder[field]
    if not isinstance(text, str):
        raise TypeError(f"{field} is {type(text).__name__}")
    return text


def words(holder: Json, field: str) -> str:
    """A text that may be missing: it is empty then. Raises TypeError for what is none."""
    found: Any = holder.get(field) or ""
    if not isinstance(found, str):
        raise TypeError(f"{field} is {type(found).__name__}")
    return found


def mapping(holder: Json, field: str) -> Mapping[str, Any]:
    mapping = holder.get(field) or EMPTY
    if not isinstance(mapping, dict):
        raise TypeError(f"{field} is {type(mapping).__name__}")
    return mapping


def version(meta: Json) -> int:
    """Raises OverflowError for one that no API server gives: they count in 64 bits."""
    found = int(meta.get("resourceVersion") or 0)
    if found > INT64_MAX:
        raise OverflowError(f"resourceVersion {str(found)[:_LONGEST_VERSION]}… is beyond 64 bits")
    return found


def conditions(status: Json) -> dict[str, Condition]:
    return {
        c["type"]: Condition(
            c["type"],
            _TRUTH.get(c["status"]),
            words(c, "reason"),
            words(c, "message"),
            parse_time(c.get("lastTransitionTime")),
        )
        for c in status.get("conditions") or ()
    }
