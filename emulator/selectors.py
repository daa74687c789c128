"""Label and field selectors: the text of a query as a predicate over objects; 400 for what cannot be read."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from emulator.errors import ApiError, bad_request
from emulator.resources import Resource
from emulator.spelling import stored_field
from emulator.store import Json

Predicate: TypeAlias = Callable[[Json], bool]

_KEY: Final = r"(?P<key>[A-Za-z0-9][\w./-]*)"
_VALUE: Final = r"(?P<value>[\w.-]*)"
_SET: Final = re.compile(rf"\s*{_KEY}\s+(?P<operator>in|notin)\s*\((?P<values>[\w.,\s-]*)\)\s*")
_EQUAL: Final = re.compile(rf"\s*{_KEY}\s*(?P<operator>==|=|!=)\s*{_VALUE}\s*")
_PRESENT: Final = re.compile(rf"\s*(?P<absent>!)?\s*{_KEY}\s*")
_FIELD: Final = re.compile(r"(?P<key>[^=!]+)(?P<operator>==|=|!=)(?P<value>.*)")


def selected(resource: Resource, labels: str, fields: str) -> Predicate:
    """Whether a stored object is in a list or watch with these selectors; empty ones select everything."""
    requirements = [*_label_requirements(labels), *_field_requirements(resource, fields)]
    return lambda obj: all(requirement(obj) for requirement in requirements)


def _label_requirements(text: str) -> list[Predicate]:
    requirements: list[Predicate] = []
    position = 0
    while text[position:].strip():
        if requirements:
            if text[position] != ",":
                raise _unreadable(text[position:])
            position += 1
        requirement, position = _one_label(text, position)
        requirements.append(requirement)
    return requirements


def _one_label(text: str, position: int) -> tuple[Predicate, int]:
    for pattern, read in ((_SET, _in_set), (_EQUAL, _equal), (_PRESENT, _present)):
        match = pattern.match(text, position)
        if match and (match.end() == len(text) or text[match.end()] == ","):
            return read(match), match.end()
    raise _unreadable(text[position:])


def _unreadable(text: str) -> ApiError:
    return bad_request(f"unable to parse requirement: found '{text}', expected: identifier")


def _labels(obj: Json) -> Mapping[str, str]:
    labels: Mapping[str, str] = obj["metadata"].get("labels") or {}
    return labels


def _in_set(match: re.Match[str]) -> Predicate:
    key = match["key"]
    values = {value.strip() for value in match["values"].split(",")}
    if match["operator"] == "in":
        return lambda obj: _labels(obj).get(key) in values
    return lambda obj: _labels(obj).get(key) not in values


def _equal(match: re.Match[str]) -> Predicate:
    key, value = match["key"], match["value"]
    if match["operator"] == "!=":
        return lambda obj: _labels(obj).get(key) != value
    return lambda obj: _labels(obj).get(key) == value


def _present(match: re.Match[str]) -> Predicate:
    key, absent = match["key"], bool(match["absent"])
    return lambda obj: (key in _labels(obj)) != absent


def _field_requirements(resource: Resource, text: str) -> list[Predicate]:
    return [_one_field(resource, part) for part in text.split(",") if part]


def _one_field(resource: Resource, text: str) -> Predicate:
    match = _FIELD.fullmatch(text)
    if match is None:
        raise bad_request(f"invalid selector: '{text}'; can't understand '{text}'")
    key, value, negated = match["key"], match["value"], match["operator"] == "!="
    if key not in resource.selectable:
        raise bad_request(f"field label not supported: {key}")
    path = stored_field(key).split(".")
    return lambda obj: (_field(obj, path) == value) != negated


def _field(obj: Json, path: list[str]) -> str:
    found: Any = obj
    for part in path:
        found = found.get(part) if isinstance(found, Mapping) else None
    return "" if found is None else str(found)
