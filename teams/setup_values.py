"""Reading YAML by hand: every problem is collected with its place, and none stops the reading."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import yaml

_SLUG: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?")
_WORD: Final = re.compile(r"[A-Za-z0-9+=,.@_-]+")
"""What names of permission sets, clusters and regions are made of."""
_LONGEST_MINUTES: Final = 30 * 24 * 60


class BadSetup(ValueError):
    """The file cannot be applied; `problems` are sentences that name the place."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def content_of(text: str) -> Any:
    """What the YAML says. Raises BadSetup."""
    try:
        return yaml.load(text, _UniqueNames)  # noqa: S506 (a SafeLoader)
    except yaml.YAMLError as error:
        raise BadSetup([f"This is not YAML: {error}"]) from error
    except (ValueError, RecursionError) as error:  # dates and numbers that are none, lists in lists in lists
        raise BadSetup([f"A value in this file cannot be read: {_beginning(error)}."]) from error


def _beginning(error: Exception) -> str:
    return str(error)[:100].encode("ascii", "replace").decode()


class _UniqueNames(yaml.SafeLoader):
    """Refuses a name that is given twice: the last one would silently stand alone."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in names:
                raise yaml.YAMLError(f"{key.value!r} is given twice, again in line {key.start_mark.line + 1}.")
            names.add(str(key.value))
        return super().construct_mapping(node, deep)


class Values:
    """Takes values out of mappings; what is wrong with them is in `problems`, as sentences that name the place."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def mapping(self, value: object, place: str, allowed: set[str] | None = None) -> Mapping[str, Any]:
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.problems.append(f"{place} must be a mapping of names to values.")
            return {}
        unknown = set(map(str, value)) - allowed if allowed else set()
        if unknown:
            self.problems.append(f"{place} has unknown entries: {', '.join(sorted(unknown))}.")
        others = [key for key in value if not isinstance(key, str | int) or isinstance(key, bool)]
        if others:
            self.problems.append(f"{place} has the name {others[0]!r}, which YAML takes for no text: put it in quotes.")
        return {str(key): entry for key, entry in value.items()}

    def entries(
        self, content: Mapping[str, Any], section: str, allowed: set[str]
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for name, value in self.mapping(content.get(section), section).items():
            yield name, self.mapping(value, f"{section}/{name}", allowed)

    def text(self, entry: Mapping[str, Any], name: str, place: str, *, longest: int, default: str = "") -> str:
        """What stands there; where there is a `default` it must not be empty."""
        value = entry.get(name, default)
        if not isinstance(value, str | int) or isinstance(value, bool):
            self.problems.append(f"{place}/{name} must be text.")
            return default
        text = str(value).strip()
        if default and not text:
            self.problems.append(f"{place}/{name} must not be empty.")
        return self.short(text, f"{place}/{name}", longest)

    def short(self, text: str, place: str, longest: int) -> str:
        if len(text) > longest:
            self.problems.append(f"{place} must be at most {longest} characters.")
        if not text.isprintable():
            self.problems.append(f"{place} holds a character that cannot be seen.")
        return text

    def truth(self, entry: Mapping[str, Any], name: str, place: str, *, default: bool = False) -> bool:
        value = entry.get(name, default)
        if not isinstance(value, bool):
            self.problems.append(f"{place}/{name} must be true or false.")
        return value is True

    def slug(self, name: str, place: str) -> str:
        if not _SLUG.fullmatch(name):
            self.problems.append(f"{place}: {name!r} must be lower-case letters, digits and dashes, at most 50.")
        return name

    def word(self, entry: Mapping[str, Any], name: str, place: str, *, longest: int, default: str = "") -> str:
        text = self.text(entry, name, place, longest=longest) or default
        if not _WORD.fullmatch(text):
            self.problems.append(f"{place}/{name} must be a name of AWS: letters, digits and + = , . @ _ -")
        return text

    def address(self, entry: Mapping[str, Any], name: str, place: str, *, longest: int, needed: bool = False) -> str:
        text = self.text(entry, name, place, longest=longest)
        if (text or needed) and (not text.startswith("https://") or " " in text):
            self.problems.append(f"{place}/{name} must be an address that begins with https://.")
        return text

    def time_zone(self, name: str, place: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            self.problems.append(f"{place}/time_zone: {name!r} is not a time zone such as America/Sao_Paulo.")
        return name

    def minutes(self, entry: Mapping[str, Any], name: str, place: str) -> int | None:
        value = entry.get(name)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= _LONGEST_MINUTES:
            self.problems.append(f"{place}/{name} must be a number of minutes, 1 to {_LONGEST_MINUTES}.")
            return None
        return value

    def names(self, value: object, place: str) -> list[str]:
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            self.problems.append(f"{place} must be a list of names.")
            return []
        return value
