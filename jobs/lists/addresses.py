"""What the addresses of lists have in common: how their parts are read, and how links to other parts are written.

An address is anybody's text. What it says is understood, corrected, or left out with a sentence; it is never an error.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import Any, TypeAlias
from urllib.parse import urlencode

from django.db.models import TextChoices
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

NONE = "-"
"""No priority class, no team: what no object and no team can be called."""

PER_PAGE = (25, 50, 100)

Readers: TypeAlias = Mapping[str, Callable[[str], Any]]
"""By part of the address; each raises ValueError for what the part cannot be."""

_LONGEST_NAME = 253
_LONGEST_PAGE = 12  # digits
_MOST_NOTES = 5


class Age(TextChoices):
    """Within which time something happened."""

    HOUR = "1h", _("in the last hour")
    DAY = "24h", _("in the last 24 hours")
    WEEK = "7d", _("in the last 7 days")
    MONTH = "30d", _("in the last 30 days")


LENGTH_OF: Mapping[str, timedelta] = {
    Age.HOUR: timedelta(hours=1),
    Age.DAY: timedelta(days=1),
    Age.WEEK: timedelta(days=7),
    Age.MONTH: timedelta(days=30),
}


class ListAddress:
    """Of a frozen dataclass whose fields are called as in the address, with defaults that narrow nothing. Only `of_all`
    is no part of the address: whether the list is over all teams."""

    __slots__ = ()

    def told(self) -> dict[str, Any]:
        """What differs from a plain list."""
        values = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}  # type: ignore[arg-type]
        return {name: value for name, (value, default) in values.items() if value != default and name != "of_all"}

    @property
    def query(self) -> str:
        """The part of the address after its path."""
        return "?" + urlencode({name: "1" if value is True else str(value) for name, value in self.told().items()})

    def link(self, **changes: Any) -> str:
        """The address of the same list with some fields changed, from its first page."""
        return replace(self, **{"page": 1, **changes}).query  # type: ignore[type-var]


def read_address(told: Mapping[str, str], readers: Readers) -> tuple[dict[str, Any], list[str]]:
    """The fields an address gives, and a sentence for each part of it that could not be followed."""
    read: dict[str, Any] = {}
    notes = []
    for name, text in told.items():
        if name not in readers:
            notes.append(gettext("This list has no filter “%(name)s”; it was left out.") % {"name": _short(name)})
        elif text:
            try:
                read[name] = readers[name](text)
            except ValueError:
                words = {"name": name, "text": _short(text)}
                notes.append(gettext("“%(text)s” is nothing that “%(name)s” can be; it was left out.") % words)
    return read, notes


def shown_notes(notes: list[str]) -> list[str]:
    """The first of them: an address may be of any length."""
    return notes[:_MOST_NOTES]


def _short(text: str) -> str:
    shown = _printable(text)
    return shown if len(shown) <= 40 else f"{shown[:40]}…"


def _printable(text: str) -> str:
    return "".join(character for character in text if character.isprintable())


def searched_text(text: str) -> str:
    """Nothing longer than a name can be found, and nothing that cannot be seen."""
    return _printable(text).strip()[:_LONGEST_NAME]


def name_text(text: str) -> str:
    if len(text) > _LONGEST_NAME or not text.isprintable():
        raise ValueError(text)
    return text


def flag(text: str) -> bool:
    if text != "1":
        raise ValueError(text)
    return True


def per_page(text: str) -> int:
    if text not in map(str, PER_PAGE):
        raise ValueError(text)
    return int(text)


def page_number(text: str) -> int:
    """The last page that there is, if it is more; nobody has a page of more digits."""
    if not (text.isascii() and text.isdecimal()):
        raise ValueError(text)
    return max(1, int(text[:_LONGEST_PAGE]))


def page_links(wanted: Any, number: int, pages: int) -> dict[str, str]:
    """Addresses of the pages beside the one shown; none of a page that is not there."""
    numbers = {"first": 1, "previous": number - 1, "next": number + 1, "last": pages}
    return {name: wanted.link(page=other) for name, other in numbers.items() if other != number and 1 <= other <= pages}


@dataclass(frozen=True, slots=True)
class PageAddress(ListAddress):
    """Of a list of which nothing but the page is chosen."""

    page: int = 1


def read_page(told: Mapping[str, str]) -> PageAddress:
    """The first one if the address names none that could be."""
    read, _ = read_address(told, {"page": page_number})
    return PageAddress(**read)
